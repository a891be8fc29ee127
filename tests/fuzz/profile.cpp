// SPDX-License-Identifier: GPL-3.0-or-later
// rabid/profile.hpp: any file gives one line of refusal, or a profile whose sessions end.
#include "rabid/profile.hpp"

#include <algorithm>

#include "support.hpp"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
    using namespace postal;
    const auto read = rabid::parse_profile(fuzz::text_of(data, size), "fuzz");
    if (!read) {
        fuzz::require_harmless(read.error().message);
        return 0;
    }
    fuzz::require(read->least_actions <= read->most_actions);
    base::random_source random(size);
    for (const rabid::length_range& each : {read->think, read->idle, read->pause}) {
        const auto picked = each.pick(random);
        fuzz::require(picked >= each.least && picked <= each.most && each.least.count() >= 0);
    }
    if (read->most_actions > 0) {
        const rabid::verb picked = read->pick(random);
        fuzz::require(std::any_of(read->weights.begin(), read->weights.end(),
                                  [&](const auto& one) { return one.first == picked; }));
    }
    const auto wanted = rabid::wanted_of(*read, "fuzz");
    fuzz::require(wanted.least_actions == read->least_actions);
    if (read->most_actions > 1000) return 0;
    const std::size_t around = read->first.size() + read->last.size();
    const std::size_t said = read->script(random).size();
    fuzz::require(said >= around + read->least_actions && said <= around + read->most_actions);
    return 0;
}
