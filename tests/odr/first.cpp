// Two sources that include everything and use the same templates must link into one program: nothing may be defined twice.
#include <plait/adapters/xtensor.hpp>
#include <plait/io/io.hpp>
#include <plait/plait.hpp>

plait::model second(const plait::model& a);

int main() {
    plait::model a;
    a.add("w", plait::dtype::f32, {1, 1}).as<float>()(0, 0) = 3;
    a.add("b", plait::dtype::f32, {1}).as<float>()(0) = 4;
    const plait::model fused = plait::merge({a, a}, plait::average{});
    return fused.at("w").as<const float>()(0, 0) == second(a).at("w").as<const float>()(0, 0) ? 0 : 1;
}
