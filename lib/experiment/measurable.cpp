// SPDX-License-Identifier: GPL-3.0-or-later
#include "experiment/measurable.hpp"

#include <algorithm>

namespace postal::experiment {
namespace {

// What runs share out among messages is there of a search, too; see run_values.hpp.
bool is_of_searches(metric about) {
    return about == metric::capacity || about == metric::cpu || about == metric::written ||
           about == metric::flushes;
}

}  // namespace

std::string why_unmeasured(metric about, const experiment& whole) {
    if (whole.offered.search && !is_of_searches(about))
        return "is of runs at one rate, and [capacity] searches";
    switch (about) {
        case metric::announced_p50:
        case metric::announced_p99:
            return whole.offered.ledger ? "" : "is told by a ledger; [load] wants ledger = true";
        case metric::written:
        case metric::flushes: {
            const auto has_storage = [](const variant& one) { return one.on.wanted; };
            return std::ranges::all_of(whole.variants, has_storage)
                       ? ""
                       : "is of the device of [storage], which each variant has to have";
        }
        case metric::idle_cpu:
        case metric::idle_memory:
        case metric::idle_descriptors:
            return std::ranges::all_of(whole.offered.programs, is_watching)
                       ? ""
                       : "is of sessions that wait, where each program is rabid with --watch";
        default:
            return "";
    }
}

}  // namespace postal::experiment
