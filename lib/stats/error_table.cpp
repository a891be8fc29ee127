// SPDX-License-Identifier: GPL-3.0-or-later
// Counting errors by kind.
//
// A repeated kind is found by one comparison, or by a scan over at most 257 entries whose first
// test is the code. Only a new kind allocates, and one whose words have to be made printable: such
// a kind is looked up again under its changed form, or each of its errors would be a kind of its
// own. Nothing here fails.
#include "stats/error_table.hpp"

#include "base/text.hpp"

#include <algorithm>

namespace postal::stats {
namespace {

constexpr std::size_t max_word = 64;

std::string_view next_word(std::string_view& text) noexcept {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(word.size() + 1, text.size()));
    return word;
}

// A queue's number, an address, a time.
bool varies(std::string_view word) noexcept {
    return word.find_first_of("0123456789@") != std::string_view::npos;
}

bool same_text(std::string_view a, std::string_view b) noexcept {
    if (a == b) return true;
    while (!a.empty() && !b.empty()) {
        const std::string_view one = next_word(a);
        const std::string_view other = next_word(b);
        if (one != other && !(varies(one) && varies(other))) return false;
    }
    return a.empty() && b.empty();
}

std::uint64_t& class_of(error_classes& classes, const error_entry& entry) {
    if (entry.stage == connect_stage) return classes.connect;
    if (entry.code == 0 && entry.detail == timeout_reason) return classes.timeout;
    if (entry.code >= 400 && entry.code <= 499) return classes.temporary;
    if (entry.code >= 500 && entry.code <= 599) return classes.permanent;
    return classes.other;
}

}  // namespace

// Whether the text tells it from others: somebody else said it.
bool error_table::has_text(const kind& one) noexcept {
    return one.code != 0 || (one.detail == refused_reason && one.stage != connect_stage);
}

bool error_table::matches(const error_entry& entry, const kind& wanted) noexcept {
    return entry.code == wanted.code && entry.detail == wanted.detail &&
           entry.stage == wanted.stage &&
           (!has_text(wanted) || same_text(entry.sample, wanted.sample));
}

error_entry& error_table::entry_for(const kind& wanted) {
    if (last_ < entries_.size() && matches(entries_[last_], wanted)) return entries_[last_];
    std::size_t texts = 0;
    for (std::size_t i = 0; i < entries_.size(); ++i) {
        const error_entry& one = entries_[i];
        texts += one.code == wanted.code && one.detail == wanted.detail && one.stage == wanted.stage
                     ? 1
                     : 0;
        if (!matches(one, wanted)) continue;
        last_ = i;
        return entries_[i];
    }
    error_entry fresh;
    fresh.stage = base::printable(wanted.stage, max_word);
    fresh.code = wanted.code;
    fresh.detail = base::printable(wanted.detail, max_word);
    fresh.sample = base::printable(wanted.sample, max_sample);
    // What had to be changed to be shown must still be found again under its changed name.
    if (fresh.stage != wanted.stage || fresh.detail != wanted.detail ||
        (has_text(wanted) && fresh.sample != wanted.sample)) {
        return entry_for({fresh.stage, fresh.code, fresh.detail, fresh.sample});
    }
    if (texts >= max_texts && wanted.sample != other_texts) {
        return entry_for({wanted.stage, wanted.code, wanted.detail, other_texts});
    }
    // Room for exactly one more than max_kinds: the entry that takes everything else.
    const bool rest = wanted.stage == "other" && wanted.code == 0 && wanted.detail == "other";
    if (entries_.size() >= max_kinds && !rest)
        return entry_for({"other", 0, "other", wanted.sample});
    last_ = entries_.size();
    return entries_.emplace_back(std::move(fresh));
}

void error_table::add(std::string_view stage, int code, std::string_view enhanced_or_reason,
                      std::string_view sample, std::string_view peer) {
    const bool twice = code != 0 && !enhanced_or_reason.empty() &&
                       sample.starts_with(enhanced_or_reason) &&
                       sample.substr(enhanced_or_reason.size()).starts_with(' ');
    if (twice) sample.remove_prefix(enhanced_or_reason.size() + 1);
    const std::size_t before = entries_.size();
    error_entry& counted = entry_for({stage, code, enhanced_or_reason, sample});
    ++counted.count;
    ++total_;
    if (entries_.size() != before && told_) told_(counted, peer);
}

void error_table::add(const error_entry& counted) {
    entry_for({counted.stage, counted.code, counted.detail, counted.sample}).count += counted.count;
    total_ += counted.count;
}

void error_table::merge(const error_table& other) {
    for (const auto& theirs : other.entries_) {
        if (theirs.count > 0) add(theirs);
    }
}

void error_table::clear() noexcept {
    entries_.clear();
    last_ = 0;
    total_ = 0;
}

std::vector<error_entry> error_table::by_count() const {
    std::vector<error_entry> sorted = entries_;
    std::stable_sort(sorted.begin(), sorted.end(),
                     [](const auto& a, const auto& b) { return a.count > b.count; });
    return sorted;
}

error_classes error_table::classes() const noexcept {
    error_classes classes;
    for (const auto& entry : entries_)
        class_of(classes, entry) += entry.count;
    return classes;
}

}  // namespace postal::stats
