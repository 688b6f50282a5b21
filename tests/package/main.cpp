// A project that uses plait as it is installed: fuses two files.
#include <plait/adapters/xtensor.hpp>
#include <plait/io/io.hpp>
#include <plait/plait.hpp>

#include <filesystem>

int main() {
    xt::xtensor<float, 2> w1{{1, 2}, {3, 4}, {-5, 6}};
    xt::xtensor<float, 2> w2{{1, 2, 3}, {4, 5, 6}};
    xt::xtensor<float, 2> v1{{-5, 6}, {1, 2}, {3, 4}};
    xt::xtensor<float, 2> v2{{3, 1, 2}, {6, 4, 5}};
    plait::io::save("a.safetensors", {{"w1", w1}, {"w2", w2}});
    plait::io::save("b.safetensors", {{"w1", v1}, {"w2", v2}});

    const auto spec = plait::permutation_spec{}.tensor("w1", "h _").tensor("w2", "_ h");
    auto out = plait::io::create("fused.safetensors");
    plait::fuse_into(out, {plait::io::open("a.safetensors"), plait::io::open("b.safetensors")},
                     plait::weight_matching{spec} | plait::average{});
    const auto fused = plait::model::copy_of(plait::io::open("fused.safetensors"));
    return plait::as_xtensor(fused.at("w1").as<const float>()) == w1 ? 0 : 1;
}
