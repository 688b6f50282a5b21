#include <plait/io/mapped_file.hpp>
#include <plait/io/output_file.hpp>

#include "io/temporary_folder.hpp"
#include "support/catch.hpp"

#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <type_traits>
#include <vector>

namespace io = plait::io;
namespace fs = std::filesystem;

static_assert(!std::is_copy_constructible_v<io::output_file> && !std::is_move_constructible_v<io::output_file>);

namespace {

std::span<const std::byte> bytes(std::string_view s) { return std::as_bytes(std::span(s.data(), s.size())); }

/// Lets no file of this process grow beyond `bytes`: a disk that is full.
class file_size_limit {
public:
    explicit file_size_limit(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
        ::getrlimit(RLIMIT_FSIZE, &before_);
        const rlimit limit{bytes, before_.rlim_max};
        ::setrlimit(RLIMIT_FSIZE, &limit);
    }
    file_size_limit(const file_size_limit&) = delete;
    file_size_limit& operator=(const file_size_limit&) = delete;
    ~file_size_limit() {
        ::setrlimit(RLIMIT_FSIZE, &before_);
        std::signal(SIGXFSZ, handler_);
    }

private:
    void (*handler_)(int);
    rlimit before_{};
};

void replace(const fs::path& path, std::string_view text) {
    io::output_file out(path, text.size());
    out.write(0, bytes(text));
    out.commit();
}

} // namespace

TEST_CASE("an output file appears on commit, complete and alone") {
    const temporary_folder folder;
    const auto path = folder.path() / "a";
    {
        io::output_file out(path, 6);
        out.write(3, bytes("def"));
        out.write(0, bytes("abc"));
        CHECK_FALSE(fs::exists(path));
        out.commit();
        CHECK_THROWS_AS(out.commit(), plait::io_error);
        CHECK_THROWS_AS(out.write(0, bytes("x")), plait::io_error);
    }
    CHECK(contents(path) == "abcdef");
    CHECK(folder.file_count() == 1);
}

TEST_CASE("without commit nothing is left, and an existing file stays as it was") {
    const temporary_folder folder;
    const auto old = folder.write("old", "old");
    {
        const io::output_file a(folder.path() / "new", 3);
        const io::output_file b(old, 3);
        a.write(0, bytes("abc"));
        b.write(0, bytes("abc"));
    }
    CHECK(contents(old) == "old");
    CHECK(folder.file_count() == 1);
}

TEST_CASE("a rewritten file keeps its permissions, a new one gets the usual ones") {
    const temporary_folder folder;
    const auto old = folder.write("old", "old");
    fs::permissions(old, fs::perms(0640));
    replace(old, "new");
    CHECK(fs::status(old).permissions() == fs::perms(0640));
    replace(folder.path() / "new", "new");
    CHECK(fs::status(folder.path() / "new").permissions() == fs::status(folder.write("usual", "")).permissions());
}

TEST_CASE("two writers of one target do not meet; the last commit stays") {
    const temporary_folder folder;
    const auto path = folder.path() / "a";
    io::output_file a(path, 1);
    io::output_file b(path, 1);
    a.write(0, bytes("a"));
    b.write(0, bytes("b"));
    b.commit();
    a.commit();
    CHECK(contents(path) == "a");
    CHECK(folder.file_count() == 1);
}

TEST_CASE("a file of the longest possible name can be written") {
    const temporary_folder folder;
    const auto path = folder.path() / std::string(255, 'n');
    replace(path, "x");
    CHECK(contents(path) == "x");
}

TEST_CASE("a relative target is meant from where the writer was made") {
    const temporary_folder folder;
    const temporary_folder elsewhere;
    const auto before = fs::current_path();
    fs::current_path(folder.path());
    io::output_file out("a", 0);
    fs::current_path(elsewhere.path());
    out.commit();
    fs::current_path(before);
    CHECK(fs::exists(folder.path() / "a"));
}

TEST_CASE("a target that is mapped as an input can be replaced") {
    const temporary_folder folder;
    const auto path = folder.write("a", "old");
    const io::mapped_file input(path);
    replace(path, "other");
    CHECK(input.bytes().size() == 3);
    CHECK(input.bytes()[0] == std::byte{'o'});
    CHECK(contents(path) == "other");
}

TEST_CASE("a link is replaced, and what it points at stays") {
    const temporary_folder folder;
    const auto real = folder.write("real", "old");
    fs::create_symlink(real, folder.path() / "link");
    replace(folder.path() / "link", "new");
    CHECK(contents(real) == "old");
    CHECK(contents(folder.path() / "link") == "new");
}

TEST_CASE("targets that no file can take are refused before anything is written") {
    const temporary_folder folder;
    fs::create_directory(folder.path() / "sub");
    const auto pipe = folder.path() / "pipe";
    REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
    const auto refused = [](const fs::path& path, const std::string& part) {
        CHECK_THROWS_WITH(io::output_file(path, 1),
                          Catch::Matchers::Contains(path.string()) && Catch::Matchers::Contains(part));
    };
    refused(folder.path() / "sub", "directory");
    refused(folder.path() / "sub/", "directory");
    refused(folder.path() / "missing/", "folder");
    refused(folder.path() / "missing" / "a", "No such file");
    refused(pipe, "pipe");
    refused("", "folder");
    CHECK_THROWS_WITH(io::output_file(folder.path() / std::string("a\0b", 3), 1), Catch::Matchers::Contains("NUL"));
    CHECK(folder.file_count() == 2);
    CHECK(fs::is_empty(folder.path() / "sub"));
}

TEST_CASE("a file that no disk can hold leaves nothing behind") {
    const temporary_folder folder;
    try {
        const io::output_file out(folder.path() / "a", std::uint64_t{1} << 62);
    } catch (const plait::io_error& e) { // file systems that cannot reserve say so later
        CHECK_THAT(e.what(), Catch::Matchers::Contains("4611686018427387904 bytes"));
    }
    CHECK(folder.file_count() == 0);
}

TEST_CASE("a write that fails half-way says where, and the old file stays") {
    const temporary_folder folder;
    const auto path = folder.write("a", "old");
    const std::string text(8192, 'x');
    {
        const io::output_file out(path, 0); // nothing is reserved, so the end of the disk comes as a surprise
        const file_size_limit full(4096);
        try {
            out.write(0, bytes(text));
            FAIL("the disk was not full");
        } catch (const plait::io_error& e) {
            CHECK(e.where().file == path.string());
            CHECK(e.where().offset == 4096);
            CHECK_THAT(e.what(), Catch::Matchers::Contains("File too large"));
        }
    }
    CHECK(contents(path) == "old");
    CHECK(folder.file_count() == 1);
}

TEST_CASE("a disk that lacks the room is noticed before the first byte") {
    const temporary_folder folder;
    const file_size_limit full(4096);
    CHECK_NOTHROW(io::output_file(folder.path() / "a", 4096));
    try {
        const io::output_file out(folder.path() / "a", 8192);
        WARN("this file system cannot reserve");
    } catch (const plait::io_error& e) {
        CHECK_THAT(e.what(), Catch::Matchers::Contains("cannot reserve 8192 bytes"));
    }
    CHECK(folder.file_count() == 0);
}

TEST_CASE("a commit that cannot take the place of the target leaves nothing behind") {
    const temporary_folder folder;
    const auto path = folder.path() / "a";
    {
        io::output_file out(path, 0);
        fs::create_directory(path);
        CHECK_THROWS_AS(out.commit(), plait::io_error);
    }
    CHECK(fs::is_directory(path));
    CHECK(folder.file_count() == 1);
}

TEST_CASE("threads may write different ranges of one file") {
    const temporary_folder folder;
    const auto path = folder.path() / "a";
    constexpr std::size_t block = 1000;
    io::output_file out(path, 8 * block);
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < 8; ++i)
        threads.emplace_back([&out, i] {
            const std::string own(block, static_cast<char>('a' + i));
            for (std::size_t j = 0; j < block; j += 10) out.write(i * block + j, bytes(own.substr(0, 10)));
        });
    for (auto& t : threads) t.join();
    out.commit();
    std::string expected;
    for (char c = 'a'; c < 'i'; ++c) expected += std::string(block, c);
    CHECK(contents(path) == expected);
}
