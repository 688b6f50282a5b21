// Solves assorted problems and writes each for a peer to solve: "rows cols cost scale\n", then the costs as doubles.
#include <plait/core/random.hpp>
#include <plait/match/hungarian.hpp>

#include <cmath>
#include <cstddef>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

int main(int count, char** arguments) {
    if (count != 3) {
        std::cerr << "usage: scipy_instances COUNT OUTPUT\n";
        return 2;
    }
    std::ofstream out(arguments[2], std::ios::binary);
    out.precision(17);
    plait::counter_random random(1);
    for (int k = 0; k < std::stoi(arguments[1]); ++k) {
        const std::size_t largest = k % 11 == 0 ? 400 : 60;
        const std::size_t rows = 1 + random.below(largest);
        const std::size_t cols = k % 3 == 0 ? rows : 1 + random.below(largest);
        const double spread = k % 4 == 0 ? 10 : k % 4 == 1 ? 1e-30 : k % 4 == 2 ? 1 : 1e9;
        std::vector<double> costs(rows * cols);
        for (double& c : costs) {
            c = spread * (2 * random.uniform() - 1);
            if (k % 4 == 0) c = std::floor(c);                        // ties
            if (k % 7 == 0) c = static_cast<double>(random.below(2)); // more of them
        }
        const plait::assignment a = plait::hungarian{}(plait::matrix_view<const double>(costs.data(), rows, cols));
        double scale = 0;
        for (std::size_t i = 0; i < rows; ++i)
            if (a.columns[i] != plait::assignment::unmatched) scale += std::abs(costs[i * cols + a.columns[i]]);
        out << rows << ' ' << cols << ' ' << a.cost << ' ' << scale << '\n';
        out.write(reinterpret_cast<const char*>(costs.data()), static_cast<std::streamsize>(8 * costs.size()));
    }
    return out.flush() ? 0 : 1;
}
