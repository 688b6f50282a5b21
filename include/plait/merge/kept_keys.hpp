#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace plait::detail {

/// Keys of magnitudes, in the order of the blocks that they come from.
template <class Key>
class kept_keys {
public:
    /// Those of the block that begins with element `first`, or more of them.
    void append(std::size_t first, std::span<const Key> keys) {
        if (keys.empty()) return;
        if (pieces_.empty()) pieces_.emplace_back();
        piece& last = pieces_.back();
        if (last.blocks.empty() || last.blocks.back().first != first) last.blocks.push_back({first, 0});
        last.blocks.back().count += keys.size();
        last.keys.insert(last.keys.end(), keys.begin(), keys.end());
    }

    /// Adds the keys of later blocks.
    kept_keys& operator+=(kept_keys&& later) {
        for (piece& p : later.pieces_) {
            p.keys.shrink_to_fit();
            pieces_.push_back(std::move(p));
        }
        return *this;
    }

    std::vector<Key> all() const {
        std::vector<Key> keys;
        std::size_t count = 0;
        for (const piece& p : pieces_) count += p.keys.size();
        keys.reserve(count);
        for (const piece& p : pieces_) keys.insert(keys.end(), p.keys.begin(), p.keys.end());
        return keys;
    }

    /// How often a key occurs in the blocks that have it: first element of the block -> how often.
    std::map<std::size_t, std::size_t> count(Key wanted) const {
        std::map<std::size_t, std::size_t> counts;
        for (const piece& p : pieces_) {
            auto at = p.keys.begin();
            for (const auto& [first, n] : p.blocks)
                for (const auto end = at + static_cast<std::ptrdiff_t>(n); at != end; ++at)
                    if (*at == wanted) ++counts[first];
        }
        return counts;
    }

private:
    struct block_keys {
        std::size_t first;
        std::size_t count;
    };
    struct piece {
        std::vector<Key> keys;
        std::vector<block_keys> blocks;
    };

    std::vector<piece> pieces_;
};

} // namespace plait::detail
