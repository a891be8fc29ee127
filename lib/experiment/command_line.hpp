// What the command lines of the programs of experiments have in common.
#pragma once

#include "base/result.hpp"

#include <string>
#include <string_view>
#include <utility>

namespace postal::experiment {

// "NAME=VALUE", split at `at`; the name is not empty. Fails for npos. `form` is what it should be.
[[nodiscard]] base::expected<std::pair<std::string, std::string>> parse_pair(std::string_view text,
                                                                             std::size_t at,
                                                                             std::string_view form);
// Of --set: the value of a variable may hold a "=".
[[nodiscard]] base::expected<std::pair<std::string, std::string>> parse_setting(
    std::string_view text);

// `out`, or where that is empty the experiment's name without its extension and with ".results".
[[nodiscard]] std::string results_folder(const std::string& experiment, const std::string& out);

}  // namespace postal::experiment
