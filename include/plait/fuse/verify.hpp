#pragma once

#include <plait/fuse/fuse.hpp>
#include <plait/version.hpp>

#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstring>
#include <map>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

namespace plait {

/// Whether a checkpoint is what its recipe makes of its inputs.
struct verification {
    bool same_recipe = false;                ///< the metadata names this policy, made by this version
    bool same_inputs = false;                ///< and these models
    std::vector<std::string> different = {}; ///< tensors that come out otherwise

    explicit operator bool() const { return same_recipe && same_inputs && different.empty(); }
};

namespace detail {

/// Compares what a merge writes with what is there.
class comparing_sink {
public:
    explicit comparing_sink(const model_view& found) : found_(found) {}

    void begin(std::span<const named_tensor> plan) {
        for (const named_tensor& t : plan) {
            const any_tensor_view& own = found_.at(t.name);
            if (own.type() != t.view.type())
                throw dtype_error("the output holds " + std::string(name(own.type())) + ", expected "
                                      + std::string(name(t.view.type())),
                                  {.tensor = t.name});
            if (!own.is_row_major())
                throw shape_error("the output has strides, expected the row-major tensors of a file",
                                  {.tensor = t.name});
            tensors_.push_back({t.name, own});
        }
        is_different_ = std::vector<std::atomic<bool>>(tensors_.size());
    }
    void write(std::size_t tensor, std::size_t offset, std::span<const std::byte> bytes) {
        if (std::memcmp(tensors_[tensor].view.bytes() + offset, bytes.data(), bytes.size()) != 0)
            is_different_[tensor] = true;
    }
    void commit() {}

    std::vector<std::string> different() const {
        std::vector<std::string> names;
        for (std::size_t t = 0; t < tensors_.size(); ++t)
            if (is_different_[t]) names.push_back(tensors_[t].name);
        return names;
    }

private:
    model_view found_;
    std::vector<named_tensor> tensors_; // in the order of the plan
    std::vector<std::atomic<bool>> is_different_;
};

} // namespace detail

/// Makes a fusion again, writes nothing, and compares: with the tensors of `output`, and with what its metadata say of
/// policy and inputs. Throws what fuse_into throws; shape_error or dtype_error when `output` has other tensors.
/// Complexity: that of the fusion, and a pass over the inputs.
///     if (!verify(io::open("fused.safetensors"), models, average{})) ...
template <checkpoint Output, model_range Models, fusion_policy P>
    requires requires(const Output& output) {
        { output.metadata() } -> std::convertible_to<const std::map<std::string, std::string>&>;
    }
verification verify(const Output& output, const Models& models, const P& policy, const run_options& options = {}) {
    const auto views = detail::views_of(models);
    const auto whole = detail::as_policy(policy);
    detail::check_same_tensors(views);
    detail::check_same_tensors(views[0], model_view(output), {.file = "the output"}); // before the long work
    using policy_type = std::remove_const_t<decltype(whole)>;
    const provenance expected = detail::provenance_of(std::span<const model_view>(views),
                                                      detail::fusion<policy_type>::base_of(whole), whole, options);
    std::map<std::string, std::string> stated = output.metadata();
    verification result;
    result.same_recipe = stated["plait.recipe"] == expected.recipe && stated["plait.version"] == version;
    result.same_inputs = stated["plait.inputs"] == expected.input_list() && stated["plait.base"] == expected.base;
    detail::comparing_sink sink{model_view(output)};
    detail::fuse_models_into(sink, std::span<const model_view>(views), whole, options);
    result.different = sink.different();
    return result;
}

} // namespace plait
