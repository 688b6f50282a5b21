#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace plait::detail {

/// What a thread's scratch leaves to the next: block after block needs the same memory, and allocators that give it
/// back to the system in between have it cleared each time.
class scratch_pool {
public:
    struct piece {
        std::size_t size = 0;
        std::unique_ptr<std::byte[]> memory = nullptr;
    };

    static scratch_pool& of_this_thread() {
        static thread_local scratch_pool pool;
        return pool;
    }

    piece take(std::size_t size) {
        for (piece& p : pieces_)
            if (p.size >= size && p.size / 2 <= size) {
                std::swap(p, pieces_.back());
                piece taken = std::move(pieces_.back());
                pieces_.pop_back();
                return taken;
            }
        return {size, std::make_unique_for_overwrite<std::byte[]>(size)};
    }
    void give(piece p) {
        if (p.size <= largest && pieces_.size() < pieces_.capacity()) pieces_.push_back(std::move(p));
    }

private:
    scratch_pool() { pieces_.reserve(16); }
    static constexpr std::size_t largest = std::size_t{1} << 20;
    std::vector<piece> pieces_;
};

/// Memory for numbers, undefined, taken when it is first asked for: always ask for the same size.
class scratch {
public:
    scratch() = default;
    scratch(const scratch&) = delete;
    scratch& operator=(const scratch&) = delete;
    ~scratch() {
        if (piece_.memory) scratch_pool::of_this_thread().give(std::move(piece_));
    }

    template <class T>
    T* of(std::size_t count) {
        if (!piece_.memory) piece_ = scratch_pool::of_this_thread().take(count * sizeof(T));
        return reinterpret_cast<T*>(piece_.memory.get());
    }

private:
    scratch_pool::piece piece_;
};

} // namespace plait::detail
