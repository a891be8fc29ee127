// SPDX-License-Identifier: GPL-3.0-or-later
#include "postal-report/words.hpp"

#include <algorithm>
#include <array>

namespace postal::report {

namespace {

struct counter_words {
    std::string_view program;
    std::string_view counter;
    std::string_view meaning;  // empty: the program has no such thing
};

constexpr std::array<counter_words, 13> words{{
    {"bhm", "messages", "taken: a 2xx reply after the data"},
    {"bhm", "rejected", "refused for good, at the sender, the recipients or the data"},
    {"bhm", "deferred", "refused for now, at the sender, the recipients or the data"},
    {"bhm", "in_doubt", ""},
    {"rabid", "messages", "came whole"},
    {"rabid", "rejected", "the server answered -ERR or NO"},
    {"rabid", "deferred", ""},
    {"rabid", "in_doubt", ""},
    {"rabid", "recipients", ""},
    {"lmtp-deliver", "messages", "its agent took it: a 2xx reply"},
    {"lmtp-deliver", "rejected", "its agent refused it for good, 5xx"},
    {"lmtp-deliver", "deferred", "its agent could not for now, or had no room, 4xx"},
    {"lmtp-deliver", "in_doubt", ""},
}};

const counter_words* find_words(const record& one, const counter& shown) {
    const auto* const found = std::find_if(words.begin(), words.end(), [&](const auto& each) {
        return each.program == one.program && each.counter == shown.name;
    });
    return found == words.end() ? nullptr : found;
}

}  // namespace

std::string_view counted_word(const record& one) {
    return one.program == "lmtp-deliver" ? "delivered" : stats::accepted_word(one);
}

std::string_view counted_word(const std::vector<record>& records) {
    const std::string_view word = counted_word(records.front());
    const bool all = std::all_of(records.begin(), records.end(),
                                 [&](const record& each) { return counted_word(each) == word; });
    return all ? word : "accepted";
}

std::string_view outcome_meaning(const record& one, const counter& outcome) {
    const counter_words* const found = find_words(one, outcome);
    return found == nullptr || found->meaning.empty() ? outcome.meaning : found->meaning;
}

bool is_counted(const record& one, const counter& shown) {
    const counter_words* const found = find_words(one, shown);
    if (found == nullptr || !found->meaning.empty()) return true;
    // A reader's recipient is the owner of each mailbox: the same number once more.
    if (shown.name == "recipients") return one.totals.recipients != one.totals.messages;
    return one.totals.*shown.value > 0;
}

}  // namespace postal::report
