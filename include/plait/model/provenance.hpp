#pragma once

#include <string>
#include <vector>

namespace plait {

/// How an output came about.
struct provenance {
    std::string recipe;              ///< the policy as text, see describe()
    std::vector<std::string> inputs; ///< digests of the models, in order
    std::string base = {};           ///< that of the base of task vectors

    /// The inputs, with spaces between them.
    std::string input_list() const {
        std::string list;
        for (const std::string& input : inputs) list += (list.empty() ? "" : " ") + input;
        return list;
    }
};

} // namespace plait
