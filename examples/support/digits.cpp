#include "trainer/digits.hpp"

#include "trainer/detail/gzip.hpp"
#include "trainer/random.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace trainer {

namespace {

constexpr std::size_t pixels = 64;
constexpr std::size_t classes = 10;
constexpr int darkest = 16;

using sample = std::array<int, pixels + 1>; // the pixels, then the label

bool parse(std::string_view line, sample& values) {
    const char* at = line.data();
    const char* const end = at + line.size();
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (i > 0 && (at == end || *at++ != ',')) return false;
        const auto [next, error] = std::from_chars(at, end, values[i]);
        const int largest = i < pixels ? darkest : static_cast<int>(classes) - 1;
        if (error != std::errc{} || values[i] < 0 || values[i] > largest) return false;
        at = next;
    }
    return at == end;
}

std::vector<sample> parse_lines(std::string_view text, const std::filesystem::path& path) {
    std::vector<sample> samples;
    for (std::size_t number = 1; !text.empty(); ++number) {
        const std::size_t length = text.find('\n');
        std::string_view line = text.substr(0, length);
        text.remove_prefix(length == std::string_view::npos ? text.size() : length + 1);
        if (line.ends_with('\r')) line.remove_suffix(1);
        if (!parse(line, samples.emplace_back()))
            throw std::runtime_error(path.string() + ", line " + std::to_string(number)
                                     + ": expected 64 pixels from 0 to 16 and a label from 0 to 9");
    }
    return samples;
}

dataset to_dataset(const std::vector<sample>& samples) {
    dataset result{matrix::from_shape({samples.size(), pixels}), {}};
    for (std::size_t row = 0; row < samples.size(); ++row) {
        for (std::size_t i = 0; i < pixels; ++i)
            result.inputs(row, i) =
                static_cast<float>(samples[row][i]) / static_cast<float>(darkest);
        result.labels.push_back(samples[row][pixels]);
    }
    return result;
}

} // namespace

digits load_digits(const std::filesystem::path& csv_gz, double test_share, std::uint64_t seed) {
    if (!(test_share >= 0.0 && test_share <= 1.0))
        throw std::invalid_argument("load_digits: the test share must lie between 0 and 1");
    const dataset all = to_dataset(parse_lines(detail::read_file(csv_gz), csv_gz));

    std::array<std::vector<std::size_t>, classes> rows_of_label;
    for (std::size_t row = 0; row < all.size(); ++row)
        rows_of_label.at(static_cast<std::size_t>(all.labels[row])).push_back(row);

    random_source random(seed);
    std::vector<std::size_t> train;
    std::vector<std::size_t> test;
    for (std::vector<std::size_t>& rows : rows_of_label) {
        random.shuffle(std::span(rows));
        const auto split =
            rows.begin() + std::lround(test_share * static_cast<double>(rows.size()));
        test.insert(test.end(), rows.begin(), split);
        train.insert(train.end(), split, rows.end());
    }
    random.shuffle(std::span(train));
    random.shuffle(std::span(test));
    return {select(all, train), select(all, test)};
}

} // namespace trainer
