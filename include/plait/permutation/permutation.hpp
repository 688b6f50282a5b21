#pragma once

#include <plait/core/error.hpp>

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

namespace plait {

/// A reordering p of n positions: output position i takes input position p[i], as NumPy's w[p].
class permutation {
public:
    permutation() = default;

    /// Throws value_error unless the images are 0 .. n-1, each once.
    explicit permutation(std::vector<std::size_t> images) : images_(std::move(images)) {
        std::vector<bool> seen(images_.size());
        for (std::size_t i = 0; i < images_.size(); ++i) {
            const std::size_t image = images_[i];
            if (image >= images_.size() || seen[image])
                throw value_error("position " + std::to_string(i) + " of a permutation of "
                                  + std::to_string(images_.size()) + " takes " + std::to_string(image) + ", which is "
                                  + (image >= images_.size() ? "out of range" : "taken twice"));
            seen[image] = true;
        }
    }

    static permutation identity(std::size_t n) {
        permutation p;
        p.images_.resize(n);
        std::iota(p.images_.begin(), p.images_.end(), std::size_t{0});
        return p;
    }

    std::size_t size() const { return images_.size(); }
    std::size_t operator[](std::size_t i) const { return images_[i]; }
    const std::size_t* data() const { return images_.data(); }
    auto begin() const { return images_.begin(); }
    auto end() const { return images_.end(); }

    /// inverse()[p[i]] == i
    permutation inverse() const {
        permutation q;
        q.images_.resize(size());
        for (std::size_t i = 0; i < size(); ++i) q.images_[images_[i]] = i;
        return q;
    }

    /// How many positions take another position than their own.
    std::size_t moved() const {
        std::size_t n = 0;
        for (std::size_t i = 0; i < size(); ++i) n += images_[i] != i;
        return n;
    }

    bool operator==(const permutation&) const = default;

private:
    friend permutation compose(const permutation&, const permutation&);
    std::vector<std::size_t> images_;
};

/// p, then q: w[compose(p, q)] == w[p][q], so compose(p, q)[i] == p[q[i]]. Throws shape_error when the sizes differ.
inline permutation compose(const permutation& p, const permutation& q) {
    if (p.size() != q.size())
        throw shape_error("composing permutations of " + std::to_string(p.size()) + " and " + std::to_string(q.size())
                          + " positions, expected equal sizes");
    permutation result;
    result.images_.reserve(q.size());
    for (std::size_t image : q) result.images_.push_back(p[image]);
    return result;
}

} // namespace plait
