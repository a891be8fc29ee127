// Counting errors by kind.
//
// A repeated kind is found by one comparison, or by a scan over at most 257 entries whose first
// test is the code. Only a new kind allocates. Words are made printable when a kind is new, so a
// word that had to be changed is looked up again under its changed form, or each of its errors
// would be a kind of its own. Nothing here fails.
#include "stats/error_table.hpp"

#include "base/text.hpp"

#include <algorithm>

namespace postal::stats {
namespace {

constexpr std::size_t max_word = 64;

bool matches(const error_entry& entry, std::string_view stage, int code, std::string_view detail) {
    return entry.code == code && entry.detail == detail && entry.stage == stage;
}

std::uint64_t& class_of(error_classes& classes, const error_entry& entry) {
    if (entry.stage == connect_stage) return classes.connect;
    if (entry.code == 0 && entry.detail == timeout_reason) return classes.timeout;
    if (entry.code >= 400 && entry.code <= 499) return classes.temporary;
    if (entry.code >= 500 && entry.code <= 599) return classes.permanent;
    return classes.other;
}

}  // namespace

error_entry& error_table::entry_for(const kind& wanted) {
    if (last_ < entries_.size() &&
        matches(entries_[last_], wanted.stage, wanted.code, wanted.detail)) {
        return entries_[last_];
    }
    for (std::size_t i = 0; i < entries_.size(); ++i) {
        if (!matches(entries_[i], wanted.stage, wanted.code, wanted.detail)) continue;
        last_ = i;
        return entries_[i];
    }
    // Room for exactly one more than max_kinds: the entry that takes everything else.
    const bool rest = wanted.stage == "other" && wanted.code == 0 && wanted.detail == "other";
    if (entries_.size() >= max_kinds && !rest) return entry_for({"other", 0, "other"});
    error_entry fresh;
    fresh.stage = base::printable(wanted.stage, max_word);
    fresh.code = wanted.code;
    fresh.detail = base::printable(wanted.detail, max_word);
    // What had to be changed to be shown must still be found again under its changed name.
    if (fresh.stage != wanted.stage || fresh.detail != wanted.detail) {
        return entry_for({fresh.stage, fresh.code, fresh.detail});
    }
    last_ = entries_.size();
    return entries_.emplace_back(std::move(fresh));
}

void error_table::add(std::string_view stage, int code, std::string_view enhanced_or_reason,
                      std::string_view sample) {
    error_entry& entry = entry_for({stage, code, enhanced_or_reason});
    if (entry.count == 0) entry.sample = base::printable(sample, max_sample);
    ++entry.count;
    ++total_;
}

void error_table::merge(const error_table& other) {
    for (const auto& theirs : other.entries_) {
        if (theirs.count == 0) continue;
        error_entry& ours = entry_for({theirs.stage, theirs.code, theirs.detail});
        if (ours.count == 0) ours.sample = theirs.sample;
        ours.count += theirs.count;
    }
    total_ += other.total_;
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
