#include "trainer/detail/gzip.hpp"

#include <zlib.h>

#include <array>
#include <cstddef>
#include <memory>
#include <stdexcept>

namespace trainer::detail {

namespace {

struct close_file {
    void operator()(gzFile file) const { gzclose(file); }
};

} // namespace

std::string read_file(const std::filesystem::path& path) {
    const std::unique_ptr<gzFile_s, close_file> file{gzopen(path.c_str(), "rb")};
    if (!file) throw std::runtime_error("cannot open " + path.string());

    std::string content;
    std::array<char, std::size_t{1} << 16U> piece{};
    int count = 0;
    while ((count = gzread(file.get(), piece.data(), static_cast<unsigned>(piece.size()))) > 0)
        content.append(piece.data(), static_cast<std::size_t>(count));

    // A file that ends too early reads like a complete one; only the error code tells.
    int error = Z_OK;
    gzerror(file.get(), &error);
    if (count < 0 || error != Z_OK)
        throw std::runtime_error("cannot read " + path.string()
                                 + ": it is damaged or not a regular file");
    return content;
}

} // namespace trainer::detail
