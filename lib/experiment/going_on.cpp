// SPDX-License-Identifier: GPL-3.0-or-later
#include "experiment/going_on.hpp"

#include "base/text.hpp"
#include "os/host.hpp"

#include <fmt/format.h>

namespace postal::experiment {
namespace {

std::string difference(std::string_view what, std::string_view was, std::string_view is) {
    return fmt::format("{} was {} when it was begun and is {}", what, base::printable(was, 200),
                       base::printable(is, 200));
}

}  // namespace

base::expected<void> check_same_experiment(std::string_view option, const begun_with& begun,
                                           const experiment& whole,
                                           std::optional<std::uint64_t> seed) {
    if (begun.text != whole.text)
        return base::fail("{}: {} is not the experiment that was begun", option,
                          base::printable(whole.file, 200));
    const auto asked_for = recorded_variants(whole);
    for (std::size_t i = 0; !begun.variants.empty() && i < asked_for.size(); ++i)
        if (i >= begun.variants.size() || begun.variants[i].values != asked_for[i].values)
            return base::fail(
                "{}: the variables of {} are not those that it was begun with; give the same --set",
                option, base::printable(asked_for[i].name, 100));
    if (seed && begun.seed != *seed)
        return base::fail("{}: its seed is {}; leave --seed out", option, begun.seed);
    return {};
}

std::optional<std::string> machine_difference(const base::host_info& begun,
                                              const versions& begun_with, const versions& now) {
    const base::host_info here = os::describe_host();
    if (begun.name != here.name) return difference("the host", begun.name, here.name);
    if (begun.kernel != here.kernel) return difference("the kernel", begun.kernel, here.kernel);
    if (begun.cpus != here.cpus)
        return difference("the number of processors", std::to_string(begun.cpus),
                          std::to_string(here.cpus));
    for (const auto& [name, version] : begun_with) {
        for (const auto& [same, is] : now)
            if (same == name && is != version) return difference(name, version, is);
    }
    return std::nullopt;
}

}  // namespace postal::experiment
