#pragma once

// Catch2 version 3 or 2, spelled as version 3: Catch::Approx, Catch::Matchers::WithinRel.
#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
#else
#include <catch2/catch.hpp>
namespace Catch {
using Detail::Approx;
}
#endif
