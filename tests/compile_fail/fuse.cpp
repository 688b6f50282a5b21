// What fuse() is given instead of a policy, and the sentence that says what a policy is.
#include <plait/fuse/fuse.hpp>
#include <plait/merge/average.hpp>

#include <vector>

using namespace plait;

struct only_deltas : average {
    static constexpr bool needs_deltas = true;
};

int main() {
    const model a;
    const std::vector<model> models(2);
    fuse({a, a}, average{});
#if PLAIT_CASE == 1
    fuse({a, a}, unaligned{} | task_vectors{a});
#elif PLAIT_CASE == 2
    fuse(models, 0.5);
#elif PLAIT_CASE == 3
    fuse({a, a}, only_deltas{});
#endif
}
