// Every order of the parts of a policy that makes no sense, and the sentence that says what to write instead.
#include <plait/fuse/merge.hpp>
#include <plait/fuse/policy.hpp>
#include <plait/merge/average.hpp>
#include <plait/merge/by_name.hpp>
#include <plait/merge/coordinate_median.hpp>

using namespace plait;

struct only_deltas : average {
    static constexpr bool needs_deltas = true;
};
struct of_statistics : average {
    static constexpr bool reads_statistics = true;
};
struct scale_up : no_repair {};
struct reorders : unaligned {};

int main() {
    const task_vectors base(model_view{});
    const auto policy = unaligned{} | base | only_deltas{} | scale_up{};
#if PLAIT_CASE == 1
    unaligned{} | only_deltas{};
#elif PLAIT_CASE == 2
    policy | scale_up{};
#elif PLAIT_CASE == 3
    average{} | unaligned{};
#elif PLAIT_CASE == 4
    policy | (unaligned{} | base);
#elif PLAIT_CASE == 5
    average{} | base;
#elif PLAIT_CASE == 6
    average{} | average{};
#elif PLAIT_CASE == 7
    policy | average{};
#elif PLAIT_CASE == 8
    unaligned{} | scale_up{};
#elif PLAIT_CASE == 9
    base | scale_up{};
#elif PLAIT_CASE == 10
    scale_up{} | average{};
#elif PLAIT_CASE == 11
    base | unaligned{};
#elif PLAIT_CASE == 12
    reorders{} | by_name(on("*", of_statistics{}));
#elif PLAIT_CASE == 13
    merge({model_view{}}, alignment{}, of_statistics{});
#elif PLAIT_CASE == 14
    on_layers("{l}.*", 2, [](double) { return coordinate_median{}; });
#endif
    static_cast<void>(policy);
}
