#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace plait {

/// Where a fault lies; whatever is unknown stays empty.
struct location {
    std::string file = {};                 ///< or another name of a checkpoint: "the base"
    std::optional<std::size_t> line = {};  ///< of a text file, from 1
    std::optional<std::size_t> model = {}; ///< position in the list of models
    std::string tensor = {};
    std::optional<std::size_t> axis = {};
    std::optional<std::uint64_t> offset = {}; ///< byte offset in the file
};

namespace detail {

/// Control characters, which would cut or garble a message, as \xNN; a very long text with its middle left out.
inline std::string printable(std::string_view s) {
    constexpr std::size_t longest = 400;
    if (s.size() > longest)
        return printable(s.substr(0, longest / 2)) + "..." + printable(s.substr(s.size() - longest / 2));
    std::string result;
    for (char c : s) {
        const auto code = static_cast<unsigned char>(c);
        if (code >= 0x20 && code != 0x7F) {
            result += c;
        } else {
            constexpr std::string_view digits = "0123456789abcdef";
            result += "\\x";
            result += digits[code >> 4];
            result += digits[code & 15];
        }
    }
    return result;
}

inline std::string in_quotes(std::string_view s) { return '"' + printable(s) + '"'; }

/// "a.safetensors, tensor \"fc1.bias\", axis 0"
inline std::string place(const location& at) {
    std::string place = printable(at.file);
    const auto append = [&](const std::string& s) { place += (place.empty() ? "" : ", ") + s; };
    if (at.line) append("line " + std::to_string(*at.line));
    if (at.model) append("model " + std::to_string(*at.model));
    if (!at.tensor.empty()) append("tensor " + in_quotes(at.tensor));
    if (at.axis) append("axis " + std::to_string(*at.axis));
    if (at.offset) append("offset " + std::to_string(*at.offset));
    return place;
}

inline std::string sentence(const location& at, std::string_view fault) {
    const std::string before = place(at);
    return before.empty() ? std::string(fault) : before + ": " + std::string(fault);
}

} // namespace detail

/// The base of everything that plait throws. what() says where, what was found and what was expected.
class error : public std::runtime_error {
public:
    explicit error(std::string_view fault, location at = {})
        : std::runtime_error(detail::sentence(at, fault)),
          fault_(std::make_shared<const std::string>(fault)),
          at_(std::make_shared<const location>(std::move(at))) {}

    /// The place of the fault, for programs.
    const location& where() const noexcept { return *at_; }

    /// what() without the place.
    const std::string& fault() const noexcept { return *fault_; }

private:
    std::shared_ptr<const std::string> fault_; // shared: copying an exception must not throw
    std::shared_ptr<const location> at_;
};

/// A permutation spec that is malformed, or that does not fit a checkpoint.
struct spec_error : error {
    using error::error;
};
/// Extents, strides, counts that do not fit each other.
struct shape_error : error {
    using error::error;
};
/// An element type that is not the expected one, or that an operation has no meaning for.
struct dtype_error : error {
    using error::error;
};
/// A file that cannot be read, is malformed or cannot be written.
struct io_error : error {
    using error::error;
};
/// An option outside its range, or options that exclude each other.
struct option_error : error {
    using error::error;
};
/// A value that an algorithm cannot work with: NaN or infinity in a cost.
struct value_error : error {
    using error::error;
};

} // namespace plait
