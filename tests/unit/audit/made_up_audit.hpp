// SPDX-License-Identifier: GPL-3.0-or-later
// Records of audits that never took place.
#pragma once

#include "audit/record.hpp"

#include <string>
#include <vector>

namespace test {

using namespace postal;

// Of a cut: nothing of what was at risk survived, and all of it.
inline audit::audited_variant made_up_audit(std::string name,
                                            const std::vector<std::uint64_t>& lost,
                                            audit::control as = audit::control::no) {
    audit::audited_variant made{.name = std::move(name), .as = as};
    made.acknowledged = 200;
    made.writes = 1000;
    made.flushes = 400;
    made.cuts = lost.size();
    made.end = audit::all_cuts_done;
    for (std::size_t i = 0; i < lost.size(); ++i) {
        audit::audited_image one;
        one.cut = 10 * (i + 1);
        one.at_s = static_cast<double>(i) / 10;
        one.draw = 1;
        one.at_risk = 5;
        one.acknowledged = 100;
        one.lost = lost[i];
        one.found = 100 - lost[i];
        if (lost[i] > 0) one.lost_window_s = 0.08 * static_cast<double>(lost[i]);
        made.images.push_back(one);
        one.draw = 2;
        one.what = audit::survival::all;
        one.survived = 5;
        one.lost = 0;
        one.found = 100;
        one.lost_window_s.reset();
        made.images.push_back(one);
    }
    return made;
}

inline audit::audit_record made_up_audit(std::vector<audit::audited_variant> variants) {
    audit::audit_record made;
    made.title = "made up";
    made.seed = 7;
    made.draws = 2;
    made.cuts = variants.front().cuts;
    made.messages = 200;
    made.started = "2026-01-01T00:00:00.000Z";
    made.ended = "2026-01-01T01:00:00.000Z";
    made.end = audit::all_cuts_done;
    made.variants = std::move(variants);
    return made;
}

// A variant that loses nothing at `cuts` cuts, and the two controls as they have to be.
inline audit::audit_record made_up_audit(std::size_t cuts) {
    return made_up_audit(
        {made_up_audit("default", std::vector<std::uint64_t>(cuts, 0)),
         made_up_audit("eatmydata", std::vector<std::uint64_t>(cuts, 3), audit::control::must_lose),
         made_up_audit("writer", std::vector<std::uint64_t>(cuts, 0), audit::control::must_keep)});
}

}  // namespace test
