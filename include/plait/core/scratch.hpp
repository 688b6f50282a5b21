#pragma once

#include <cstddef>
#include <memory>

namespace plait::detail {

/// Memory for numbers, undefined, taken when it is first asked for: always ask for the same size.
class scratch {
public:
    template <class T>
    T* of(std::size_t count) {
        if (!memory_) memory_ = std::make_unique_for_overwrite<std::byte[]>(count * sizeof(T));
        return reinterpret_cast<T*>(memory_.get());
    }

private:
    std::unique_ptr<std::byte[]> memory_;
};

} // namespace plait::detail
