// A trainer with weights of its own, the second layer stored column by column, fuses in place through views.
#include <plait/plait.hpp>

#include <cmath>
#include <cstdio>
#include <vector>

struct trainer { // 3 inputs, 4 hidden units, 2 outputs
    float w1[12];
    float b1[4];
    float w2[8]; // column-major: w2[unit * 2 + output]

    plait::mutable_model_view view() {
        return {{"w1", plait::tensor_view{w1, {4, 3}}},
                {"b1", plait::tensor_view{b1, {4}}},
                {"w2", plait::tensor_view{w2, {2, 4}, {1, 2}}}};
    }
};

static std::vector<float> forward(const plait::model_view& m) {
    const auto w1 = m.at("w1").as<const float>();
    const auto b1 = m.at("b1").as<const float>();
    const auto w2 = m.at("w2").as<const float>();
    const float x[3] = {0.5F, -1.0F, 2.0F};
    std::vector<float> y(2);
    for (int h = 0; h < 4; ++h) {
        float sum = b1(h);
        for (int i = 0; i < 3; ++i) sum += w1(h, i) * x[i];
        for (int o = 0; o < 2; ++o) y[static_cast<std::size_t>(o)] += w2(o, h) * std::fmax(sum, 0.0F);
    }
    return y;
}

int main() {
    trainer mine{{1, 2, 3, -4, 5, 6, 7, 8, -9, 1, -1, 2}, {.1F, .2F, .3F, .4F}, {1, 2, 3, 4, 5, 6, 7, 8}};
    trainer theirs{{7, 8, -9, 1, 2, 3, 1, -1, 2, -4, 5, 6}, {.3F, .1F, .4F, .2F}, {5, 6, 1, 2, 7, 8, 3, 4}}; // reordered

    const auto spec = plait::permutation_spec{}.tensor("w1", "h _").tensor("b1", "h").tensor("w2", "_ h");
    auto live = mine.view();
    if (!plait::self_check(spec, live, forward)) return 1;
    const auto before = forward(live);
    const auto mean = forward(plait::merge({live, theirs.view()}, plait::average{}));
    plait::fuse_into(live, {live, theirs.view()}, plait::weight_matching{spec} | plait::average{});
    const auto after = forward(live);

    std::printf("before     %8.4f %8.4f\n", static_cast<double>(before[0]), static_cast<double>(before[1]));
    std::printf("plain mean %8.4f %8.4f\n", static_cast<double>(mean[0]), static_cast<double>(mean[1]));
    std::printf("fused      %8.4f %8.4f\n", static_cast<double>(after[0]), static_cast<double>(after[1]));
}
