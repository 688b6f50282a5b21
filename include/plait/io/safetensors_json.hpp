#pragma once

#include <plait/core/dtype.hpp>
#include <plait/core/error.hpp>
#include <plait/core/shape.hpp>

#include <nlohmann/json.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace plait::io {

/// One tensor of a safetensors file; its bytes are [begin, end) of the data that follows the header.
struct safetensors_entry {
    std::string name;
    dtype type;
    plait::shape shape;
    std::size_t begin;
    std::size_t end;
};

namespace detail {

inline constexpr std::string_view metadata_key = "__metadata__";

inline std::string excerpt(std::string_view s, std::size_t limit = 80) {
    return std::string(s.substr(0, limit)) + (s.size() > limit ? "..." : "");
}

/// Receives the JSON of a header value by value and builds the list of tensors. nlohmann calls it without recursion.
///
/// Stricter than the reference reader in one thing: a key that stands twice in any object is refused.
class safetensors_json {
public:
    explicit safetensors_json(std::string file) : file_(std::move(file)) {}

    std::vector<safetensors_entry> tensors;
    std::map<std::string, std::string> metadata;

    bool null() { return (top() == place::root && name_ == metadata_key) || other("null"); }
    bool boolean(bool b) { return other(b ? "true" : "false"); }
    // Only called for numbers with a minus sign, -0 among them.
    bool number_integer(std::int64_t i) { return other(i == 0 ? "-0" : std::to_string(i)); }
    bool number_unsigned(std::uint64_t i) {
        if (top() == place::shape)
            entry_.shape->push_back(i);
        else if (top() == place::offsets && entry_.offsets->size() < 2)
            entry_.offsets->push_back(i);
        else
            return other(std::to_string(i));
        return true;
    }
    // Fractions, exponents, and integers of 2^64 or more.
    bool number_float(double, const std::string& token) { return other(excerpt(token)); }
    bool string(std::string& s) {
        if (top() == place::metadata) {
            metadata.emplace(key_, std::move(s));
        } else if (top() == place::entry && key_ == "dtype") {
            entry_.type = dtype_from_name(s);
            if (!entry_.type) fail("the dtype is " + in_quotes(s) + ", expected a name such as \"F32\" or \"BF16\"");
        } else {
            return other("the string " + in_quotes(s));
        }
        return true;
    }
    bool binary(nlohmann::json::binary_t&) { return other("binary data"); }

    bool start_object(std::size_t) {
        const place inner = inside(place::document) ? place::root
                            : !inside(place::root)  ? nested("an object")
                            : name_ == metadata_key ? place::metadata
                                                    : place::entry;
        if (inner == place::entry) entry_ = {};
        enter(inner);
        keys_.emplace_back();
        return true;
    }
    bool key(std::string& k) {
        if (!keys_.back().insert(k).second) {
            if (inside(place::root)) name_ = k;
            fail("the key " + in_quotes(k) + " stands twice in one object, expected once");
        }
        if (inside(place::root))
            name_ = k;
        else if (!inside(place::ignored))
            key_ = k;
        return true;
    }
    bool end_object() {
        if (inside(place::entry)) finish_entry();
        keys_.pop_back();
        places_.pop_back();
        return true;
    }

    bool start_array(std::size_t) {
        if (inside(place::entry) && key_ == "shape") {
            entry_.shape.emplace();
            enter(place::shape);
        } else if (inside(place::entry) && key_ == "data_offsets") {
            entry_.offsets.emplace();
            enter(place::offsets);
        } else {
            enter(nested("an array"));
        }
        return true;
    }
    bool end_array() {
        if (inside(place::offsets) && entry_.offsets->size() != 2)
            fail("data_offsets has " + std::to_string(entry_.offsets->size()) + " numbers, expected 2");
        places_.pop_back();
        return true;
    }

    bool parse_error(std::size_t position, const std::string& last_token, const nlohmann::json::exception& e) {
        std::string reason = e.what(); // "[id] parse error at line 1, column 2: REASON; last read: 'TOKEN'; REASON"
        for (const char* end : {"] ", ": "})
            if (const auto at = reason.find(end); at != reason.npos) reason.erase(0, at + 2);
        const std::string token = "; last read: '" + last_token + "'";
        if (const auto at = reason.find(token); at != reason.npos) reason.erase(at, token.size());
        throw io_error("the header is not valid JSON: " + excerpt(reason, 200),
                       {.file = file_, .offset = 8 + (position ? position - 1 : 0)});
    }

private:
    enum class place { document, root, metadata, entry, shape, offsets, ignored };
    struct draft {
        std::optional<dtype> type;
        std::optional<std::vector<std::size_t>> shape;
        std::optional<std::vector<std::size_t>> offsets;
    };

    static std::string in_quotes(std::string_view s) { return plait::detail::in_quotes(excerpt(s)); }

    place top() const { return places_.back(); }
    bool inside(place p) const { return top() == p; }

    bool is_ignored() const {
        const bool known = key_ == "dtype" || key_ == "shape" || key_ == "data_offsets";
        return inside(place::ignored) || (inside(place::entry) && !known);
    }

    // A value that stands where only an ignored one may.
    bool other(const std::string& found) const {
        if (!is_ignored()) fail(subject() + " is " + found + ", expected " + expected());
        return true;
    }
    place nested(const char* found) const {
        other(found);
        return place::ignored;
    }

    void enter(place p) {
        constexpr std::size_t limit = 127; // that of the reference reader
        if (places_.size() > limit) fail("the header nests deeper than " + std::to_string(limit) + " levels");
        places_.push_back(p);
    }

    void finish_entry() {
        const char* missing = !entry_.type      ? "dtype"
                              : !entry_.shape   ? "shape"
                              : !entry_.offsets ? "data_offsets"
                                                : nullptr;
        if (missing) fail("the entry has no " + std::string(missing) + ", expected dtype, shape and data_offsets");
        const auto& offsets = *entry_.offsets;
        tensors.push_back({name_, *entry_.type, plait::shape(std::move(*entry_.shape)), offsets[0], offsets[1]});
    }

    std::string subject() const {
        switch (top()) {
        case place::document:
            return "the header";
        case place::root:
            return name_ == metadata_key ? name_ : "the entry";
        case place::metadata:
            return "the metadata value of " + in_quotes(key_);
        case place::shape:
            return "an extent";
        case place::offsets:
            return entry_.offsets->size() < 2 ? "an offset" : "the third of data_offsets";
        default:
            return key_;
        }
    }
    std::string expected() const {
        switch (top()) {
        case place::document:
            return "an object";
        case place::root:
            return name_ == metadata_key ? "an object of strings" : "an object with dtype, shape and data_offsets";
        case place::metadata:
            return "a string";
        case place::offsets:
            return entry_.offsets->size() < 2 ? "an integer from 0 to 2^64 - 1" : "only two";
        case place::shape:
            return "an integer from 0 to 2^64 - 1";
        default:
            return key_ == "dtype" ? "a string" : "an array of integers";
        }
    }

    [[noreturn]] void fail(const std::string& fault) const {
        throw io_error(fault, {.file = file_, .tensor = name_ == metadata_key ? "" : name_});
    }

    std::string file_;
    std::vector<place> places_{place::document};
    std::vector<std::set<std::string>> keys_; // of the open objects; ordered, for hashes can be made to collide
    std::string name_;                        // the last key of the root
    std::string key_;                         // the last key of an entry or of the metadata
    draft entry_;
};

} // namespace detail
} // namespace plait::io
