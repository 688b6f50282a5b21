// Every mistake in the literal of an axis pattern, and the sentence that the compiler prints for it.
#include <plait/spec/permutation_spec.hpp>

int main() {
    auto spec = plait::permutation_spec{}.tensor("layers.{l}.weight", "ffn.{l} (3 head _) _");
#if PLAIT_CASE == 1
    spec.tensor("w", "h1, _");
#elif PLAIT_CASE == 2
    spec.tensor("w", "(h1 _");
#elif PLAIT_CASE == 3
    spec.tensor("w", "h1 _)");
#elif PLAIT_CASE == 4
    spec.tensor("w", "(a (b _))");
#elif PLAIT_CASE == 5
    spec.tensor("w", "h1 ()");
#elif PLAIT_CASE == 6
    spec.tensor("w", "(_ h1 _)");
#elif PLAIT_CASE == 7
    spec.tensor("w", "(0 h1)");
#elif PLAIT_CASE == 8
    spec.tensor("w", "_h1 _");
#elif PLAIT_CASE == 9
    spec.tensor("layers.{l}.w", "ffn.{l _");
#elif PLAIT_CASE == 10
    spec.tensor("w", "[(kv _) | (kv _)] resid");
#elif PLAIT_CASE == 11
    spec.tensor("w", "(head dim@head) resid");
#endif
    return spec.tensor_rules().size() == 1 ? 0 : 1;
}
