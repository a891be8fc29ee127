// SPDX-License-Identifier: GPL-3.0-or-later
// What goes on has to be what was begun: a second half that differs from the first in anything but
// time would be told as the same.
#pragma once

#include "base/host.hpp"
#include "base/result.hpp"
#include "experiment/experiment.hpp"
#include "experiment/record.hpp"
#include "experiment/versions.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace postal::experiment {

// Of a record.
struct begun_with {
    std::string_view text;
    const std::vector<recorded_variant>& variants;  // none: an audit's of an older version
    std::uint64_t seed = 0;
};

// The same text, values of variables and, where one is given, seed. Fails with one line that names
// the difference; `option` is the one that goes on.
[[nodiscard]] base::expected<void> check_same_experiment(std::string_view option,
                                                         const begun_with& begun,
                                                         const experiment& whole,
                                                         std::optional<std::uint64_t> seed);

// The first thing in which this machine and its programs differ from those of a record: "the kernel
// was Linux 6.1 when it was begun and is Linux 6.12". `now` is what the programs say of themselves.
[[nodiscard]] std::optional<std::string> machine_difference(const base::host_info& begun,
                                                            const versions& begun_with,
                                                            const versions& now);

}  // namespace postal::experiment
