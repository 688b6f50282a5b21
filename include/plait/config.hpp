#pragma once

#include <bit>
#include <climits>
#include <limits>

// What plait takes for granted of a machine; checkpoint files store little-endian IEEE 754 numbers.
static_assert(std::endian::native == std::endian::little, "plait: needs a little-endian machine");
static_assert(CHAR_BIT == 8, "plait: needs bytes of 8 bits");
static_assert(std::numeric_limits<float>::is_iec559 && std::numeric_limits<double>::is_iec559,
              "plait: needs IEEE 754 floating point; compile without -ffast-math");
#if defined(__FAST_MATH__)
#error "plait: compile without -ffast-math; it removes the checks for NaN and infinity"
#endif
