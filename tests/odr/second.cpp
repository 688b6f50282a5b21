#include <plait/adapters/xtensor.hpp>
#include <plait/io/io.hpp>
#include <plait/plait.hpp>

plait::model second(const plait::model& a);
plait::model second(const plait::model& a) { return plait::merge({a, a}, plait::average{}); }
