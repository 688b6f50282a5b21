#pragma once

#include "trainer/dataset.hpp"

#include <cstdint>
#include <filesystem>

namespace trainer {

struct digits {
    dataset train;
    dataset test;
};

/// Handwritten digits, 8x8 pixels scaled to [0, 1], split at random so that every label has the
/// same test share.
///
/// The file has one sample per line: 64 pixels from 0 to 16 and the label; it may be gzipped.
/// Throws std::runtime_error if the file cannot be read, std::invalid_argument unless 0 <=
/// test_share <= 1.
digits load_digits(const std::filesystem::path& csv_gz = PLAIT_EXAMPLE_DATA "/digits.csv.gz",
                   double test_share = 0.25, std::uint64_t seed = 0);

} // namespace trainer
