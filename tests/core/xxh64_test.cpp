#include <plait/core/xxh64.hpp>

#include "support/catch.hpp"

#include <string>

TEST_CASE("XXH64 gives the values of its specification") {
    using plait::detail::hexadecimal;
    using plait::detail::xxh64;
    CHECK(hexadecimal(xxh64(std::string())) == "ef46db3751d8e999");
    CHECK(hexadecimal(xxh64(std::string("a"))) == "d24ec4f1a98c6e5b");
    CHECK(hexadecimal(xxh64(std::string("abc"))) == "44bc2cf5ad770999");
    CHECK(hexadecimal(xxh64(std::string("Nobody inspects the spammish repetition"))) == "fbcea83c8a378bf1");
}
