#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>

namespace plait::detail {

/// The hash XXH64 of some bytes: as fast as memory, and good against accidents, not against forgery.
/// Source: Collet, xxHash, specification of XXH64.
inline std::uint64_t xxh64(std::span<const std::byte> bytes, std::uint64_t seed = 0) {
    constexpr std::uint64_t p1 = 0x9E3779B185EBCA87, p2 = 0xC2B2AE3D27D4EB4F, p3 = 0x165667B19E3779F9;
    constexpr std::uint64_t p4 = 0x85EBCA77C2B2AE63, p5 = 0x27D4EB2F165667C5;
    const auto load = [&]<class T>(std::size_t at, T) {
        T x;
        std::memcpy(&x, bytes.data() + at, sizeof(T));
        return std::uint64_t{x};
    };
    const auto round = [](std::uint64_t sum, std::uint64_t x) { return std::rotl(sum + x * p2, 31) * p1; };
    std::size_t at = 0;
    std::uint64_t hash = seed + p5;
    if (bytes.size() >= 32) {
        std::array<std::uint64_t, 4> lane{seed + p1 + p2, seed + p2, seed, seed - p1};
        for (; at + 32 <= bytes.size(); at += 32)
            for (std::size_t k = 0; k < 4; ++k) lane[k] = round(lane[k], load(at + 8 * k, std::uint64_t{}));
        hash = std::rotl(lane[0], 1) + std::rotl(lane[1], 7) + std::rotl(lane[2], 12) + std::rotl(lane[3], 18);
        for (const std::uint64_t x : lane) hash = (hash ^ round(0, x)) * p1 + p4;
    }
    hash += bytes.size();
    for (; at + 8 <= bytes.size(); at += 8) hash = std::rotl(hash ^ round(0, load(at, std::uint64_t{})), 27) * p1 + p4;
    for (; at + 4 <= bytes.size(); at += 4) hash = std::rotl(hash ^ load(at, std::uint32_t{}) * p1, 23) * p2 + p3;
    for (; at < bytes.size(); ++at) hash = std::rotl(hash ^ load(at, std::uint8_t{}) * p5, 11) * p1;
    hash = (hash ^ hash >> 33) * p2;
    hash = (hash ^ hash >> 29) * p3;
    return hash ^ hash >> 32;
}

inline std::uint64_t xxh64(const std::string& text, std::uint64_t seed = 0) {
    return xxh64(std::as_bytes(std::span(text)), seed);
}

/// 16 hexadecimal digits.
inline std::string hexadecimal(std::uint64_t x) {
    std::string digits(16, '0');
    for (std::size_t i = 16; i-- > 0; x >>= 4) digits[i] = "0123456789abcdef"[x & 15];
    return digits;
}

} // namespace plait::detail
