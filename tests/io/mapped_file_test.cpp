#include <plait/io/mapped_file.hpp>

#include "io/temporary_folder.hpp"
#include "support/catch.hpp"

#include <sys/stat.h>

#include <filesystem>
#include <string>
#include <type_traits>
#include <utility>

namespace io = plait::io;

static_assert(!std::is_copy_constructible_v<io::mapped_file>);
static_assert(std::is_nothrow_move_constructible_v<io::mapped_file>);

namespace {

std::string text(const io::mapped_file& f) {
    return {reinterpret_cast<const char*>(f.bytes().data()), f.bytes().size()};
}

plait::location fault_of(const std::filesystem::path& path, const std::string& part) {
    try {
        const io::mapped_file f(path);
    } catch (const plait::io_error& e) {
        CHECK_THAT(e.what(), Catch::Matchers::Contains(part));
        return e.where();
    }
    FAIL("the file was mapped");
    return {};
}

} // namespace

TEST_CASE("a mapped file shows the bytes of the file") {
    const temporary_folder folder;
    const io::mapped_file f(folder.write("a", std::string("one\0two", 7)));
    CHECK(text(f) == std::string("one\0two", 7));
    CHECK(f.path() == folder.path() / "a");
}

TEST_CASE("an empty file maps to no bytes") {
    const temporary_folder folder;
    CHECK(io::mapped_file(folder.write("a", "")).bytes().empty());
}

TEST_CASE("moving a mapped file keeps the addresses and empties the source") {
    const temporary_folder folder;
    io::mapped_file a(folder.write("a", "first"));
    const auto* address = a.bytes().data();
    io::mapped_file b(std::move(a));
    CHECK(b.bytes().data() == address);
    CHECK(a.bytes().empty());
    io::mapped_file c(folder.write("c", "second"));
    c = std::move(b);
    CHECK(c.bytes().data() == address);
    CHECK(text(c) == "first");
}

TEST_CASE("a mapped file keeps its bytes when the name is given to another file") {
    const temporary_folder folder;
    const io::mapped_file f(folder.write("a", "old"));
    std::filesystem::rename(folder.write("b", "new"), folder.path() / "a");
    CHECK(text(f) == "old");
}

TEST_CASE("what cannot be mapped is refused with the name of the file and the reason") {
    const temporary_folder folder;
    const auto missing = folder.path() / "missing";
    CHECK(fault_of(missing, "No such file").file == missing.string());
    fault_of(folder.path(), "directory");
    const auto pipe = folder.path() / "pipe";
    REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
    fault_of(pipe, "pipe");
    fault_of("", "No such file");
    fault_of(folder.write("a", "x") += std::string("\0b", 2), "NUL");
}
