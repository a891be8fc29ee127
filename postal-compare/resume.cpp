// SPDX-License-Identifier: GPL-3.0-or-later
#include "postal-compare/resume.hpp"

#include "base/text.hpp"
#include "os/host.hpp"

#include <chrono>
#include <cmath>

namespace postal::compare {
namespace {

std::chrono::nanoseconds nanoseconds(double seconds) {
    return std::chrono::nanoseconds(std::llround(seconds * 1e9));
}

base::failure differs(std::string_view what, std::string_view was, std::string_view is) {
    return base::fail(
        "--resume: {} was {} when it was begun and is {}: begin anew with another --out", what,
        base::printable(was, 200), base::printable(is, 200));
}

base::expected<void> check_machine(const experiment::experiment_record& begun,
                                   const versions& now) {
    const base::host_info here = os::describe_host();
    if (begun.host.name != here.name) return differs("the host", begun.host.name, here.name);
    if (begun.host.kernel != here.kernel)
        return differs("the kernel", begun.host.kernel, here.kernel);
    if (begun.host.cpus != here.cpus)
        return differs("the number of processors", std::to_string(begun.host.cpus),
                       std::to_string(here.cpus));
    for (const auto& [name, version] : begun.versions) {
        for (const auto& [same, is] : now)
            if (same == name && is != version) return differs(name, version, is);
    }
    return {};
}

base::expected<void> check_experiment(const experiment::experiment_record& begun,
                                      const options& given, const experiment::experiment& whole) {
    if (begun.text != whole.text)
        return base::fail("--resume: {} is not the experiment that was begun",
                          base::printable(whole.file, 200));
    const auto asked_for = experiment::recorded_variants(whole);
    for (std::size_t i = 0; i < asked_for.size(); ++i)
        if (i >= begun.variants.size() || begun.variants[i].values != asked_for[i].values)
            return base::fail(
                "--resume: the variables of {} are not those that it was begun with; give the "
                "same --set",
                base::printable(asked_for[i].name, 100));
    if (given.seed && begun.seed != *given.seed)
        return base::fail("--resume: its seed is {}; leave --seed out", begun.seed);
    return {};
}

}  // namespace

base::expected<void> take_up(const experiment::experiment_record& begun, const options& given,
                             const versions& now, experiment::experiment& whole) {
    auto same = check_experiment(begun, given, whole);
    if (same) same = check_machine(begun, now);
    if (!same) return same;
    experiment::load& load = whole.offered;
    const bool length_given =
        given.quick || given.classic || given.duration.count() > 0 || given.warmup;
    if (length_given && (load.duration != nanoseconds(begun.duration_s) ||
                         load.warmup != nanoseconds(begun.warmup_s)))
        return base::fail(
            "--resume: its runs were {:g} s with {:g} s of warm-up; leave the durations out",
            begun.duration_s, begun.warmup_s);
    if ((given.blocks || given.max_blocks) && load.blocks != begun.blocks)
        return base::fail(
            "--resume: it was begun with {} blocks; leave --blocks and --max-blocks out",
            begun.blocks);
    if (given.until_width && given.until_width != begun.until_width)
        return base::fail("--resume: it was begun with another --until-width; leave it out");
    load.duration = nanoseconds(begun.duration_s);
    load.warmup = nanoseconds(begun.warmup_s);
    load.blocks = begun.blocks;
    return {};
}

}  // namespace postal::compare
