// SPDX-License-Identifier: GPL-3.0-or-later
// See evidence.hpp.
#include "ledger/evidence.hpp"

#include <algorithm>
#include <utility>

#include <malloc.h>

#include "base/release.hpp"

namespace postal::ledger {
namespace {

constexpr std::size_t piece_size = 32 * 1024;
constexpr std::size_t idle_capacity = 2 * piece_size;
constexpr std::size_t worth_giving_back = std::size_t{32} << 20U;

}  // namespace

void evidence::begin() noexcept {
    forget();
    octets_ = 0;
    whole_ = true;
}

void evidence::feed(std::string_view piece) {
    octets_ += piece.size();
    if (!whole_) return;
    if (octets_ > most_kept || piece.size() > memory_.left) {
        whole_ = false;
        forget();
        return;
    }
    memory_.left -= piece.size();
    memory_.taken += piece.size();
    memory_.most_taken = std::max(memory_.most_taken, memory_.taken);
    taken_ += piece.size();
    keep(piece);
}

void evidence::keep(std::string_view piece) {
    while (!piece.empty()) {
        if (pieces_.back().size() >= piece_size) pieces_.emplace_back().reserve(piece_size);
        const std::string_view fits = piece.substr(0, piece_size - pieces_.back().size());
        pieces_.back().append(fits);
        piece.remove_prefix(fits.size());
    }
}

std::string_view evidence::text() {
    std::string& all = pieces_.front();
    all.reserve(taken_);
    for (std::size_t n = 1; n < pieces_.size(); ++n) {
        all += std::exchange(pieces_[n], {});
    }
    pieces_.resize(1);
    return all;
}

void evidence::forget() noexcept {
    memory_.left += taken_;
    memory_.taken -= std::exchange(taken_, 0);
    pieces_.resize(1);
    pieces_.front().clear();
    if (pieces_.front().capacity() > idle_capacity) base::release(pieces_.front());
    if (memory_.most_taken < worth_giving_back || memory_.taken > memory_.most_taken / 2) return;
    // Pieces are too small for the allocator to do so by itself.
    ::malloc_trim(0);
    memory_.most_taken = memory_.taken;
}

void evidence::explain(const mail::identity* id, mail::body_rebuilder& rebuilder, seen_row& row) {
    row.what = id == nullptr ? condition::unreadable : condition::corrupt;
    if (!whole_) {
        row.detail = "differs from what was sent, and is too large to be compared";
        return;
    }
    const mail::difference how = mail::diagnose(text(), id, rebuilder);
    row.what = condition_of(how.kind);
    row.detail = mail::to_text(how);
}

condition condition_of(mail::difference_kind kind) noexcept {
    switch (kind) {
        case mail::difference_kind::truncated:
            return condition::truncated;
        case mail::difference_kind::changed:
            return condition::octet_changed;
        case mail::difference_kind::eight_bit_stripped:
            return condition::eight_bit_stripped;
        case mail::difference_kind::dot_added:
            return condition::dot_added;
        case mail::difference_kind::dot_lost:
            return condition::dot_lost;
        case mail::difference_kind::line_ends_changed:
            return condition::line_ends_changed;
        case mail::difference_kind::trailing_blanks_cut:
            return condition::trailing_blanks_cut;
        case mail::difference_kind::header_rewritten:
            return condition::header_changed;
        case mail::difference_kind::unreadable_identity:
            return condition::unreadable;
        case mail::difference_kind::none:
        case mail::difference_kind::recoded:
        case mail::difference_kind::wrapped:
        case mail::difference_kind::extra:
        case mail::difference_kind::other:
            break;
    }
    return condition::corrupt;
}

}  // namespace postal::ledger
