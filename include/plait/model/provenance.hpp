#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace plait {

/// How an output came about.
struct provenance {
    std::string recipe;              ///< the policy as text, see describe()
    std::vector<std::string> inputs; ///< digests of the models, in order
    std::string base = {};           ///< that of the base of task vectors

    /// Whether equal recipes mean equal settings: no "?" outside quotes.
    bool tells_apart() const {
        bool is_quoted = false;
        for (std::size_t i = 0; i < recipe.size(); ++i) {
            if (recipe[i] == '\\')
                ++i;
            else if (recipe[i] == '"')
                is_quoted = !is_quoted;
            else if (recipe[i] == '?' && !is_quoted)
                return false;
        }
        return true;
    }

    /// The inputs, with spaces between them.
    std::string input_list() const {
        std::string list;
        for (const std::string& input : inputs) list += (list.empty() ? "" : " ") + input;
        return list;
    }
};

} // namespace plait
