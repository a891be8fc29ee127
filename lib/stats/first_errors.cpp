// SPDX-License-Identifier: GPL-3.0-or-later
#include "stats/first_errors.hpp"

#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace postal::stats {

bool first_errors::add(const error_entry& one) {
    if (known_.size() >= most) return false;
    const bool is_known = std::any_of(known_.begin(), known_.end(), [&](const error_entry& other) {
        return one.code == other.code && one.stage == other.stage && one.detail == other.detail;
    });
    if (!is_known) known_.push_back({one.stage, one.code, one.detail, 0, {}});
    return !is_known;
}

// Of what came from a peer everything is cleaned and cut, also what another rank has sent.
std::string describe_first(const first_error& error) {
    constexpr std::size_t most_word = 64;
    const error_entry& what = error.what;
    std::string text = base::printable(what.stage, most_word);
    if (what.code != 0) text += fmt::format(" {}", what.code);
    if (!what.detail.empty() && what.detail != what.stage)
        text += ' ' + base::printable(what.detail, most_word);
    if (!error.peer.empty()) text += " at " + base::printable(error.peer, error_table::max_sample);
    if (!what.sample.empty() && what.sample != error.peer)
        text += ": " + base::printable(what.sample, error_table::max_sample);
    return text;
}

}  // namespace postal::stats
