#pragma once

#include <plait/core/tensor_view.hpp>

#if __has_include(<xtensor/containers/xadapt.hpp>)
#include <xtensor/containers/xadapt.hpp>
#include <xtensor/containers/xarray.hpp>
#include <xtensor/containers/xtensor.hpp>
#else
#include <xtensor/xadapt.hpp>
#include <xtensor/xarray.hpp>
#include <xtensor/xtensor.hpp>
#endif

#include <cstddef>
#include <type_traits>
#include <vector>

namespace plait {

/// Containers, adaptors and strided views of xtensor pass straight into models, without a copy:
///     xt::xtensor<float, 2> w = ...;
///     model_view m = {{"fc1.weight", w}, {"fc1.bias", b}};
template <class Container>
requires xt::is_xexpression<Container>::value && xt::has_data_interface<Container>::value && xt::has_strides<
    Container>::value struct tensor_adapter<Container> {
    static auto data(auto& c) { return c.data() + c.data_offset(); }

    static plait::shape shape(const Container& c) {
        return plait::shape(std::vector<std::size_t>(c.shape().begin(), c.shape().end()));
    }
    static plait::strides strides(const Container& c) {
        return plait::strides(std::vector<std::ptrdiff_t>(c.strides().begin(), c.strides().end()));
    }
};

/// The way back: an xtensor expression over the memory of a view, without a copy. It lives as long as that memory.
///     auto w = as_xtensor(m.at("fc1.weight").as<float>());
template <element T>
auto as_xtensor(const tensor_view<T>& v) {
    const std::vector<std::size_t> extents(v.shape().begin(), v.shape().end());
    const std::vector<std::ptrdiff_t> steps(v.strides().begin(), v.strides().end());
    return xt::adapt(v.data(), v.size(), xt::no_ownership(), extents, steps);
}

} // namespace plait
