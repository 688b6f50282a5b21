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
#elif PLAIT_CASE == 4
    merge({a, a}, only_deltas{});
#elif PLAIT_CASE == 5
    fuse_into(a, {a, a}, average{});
#elif PLAIT_CASE == 6
    model out;
    fuse_into(out, models, 0.5);
#endif
}
