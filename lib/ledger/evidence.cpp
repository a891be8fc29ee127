// See evidence.hpp.
#include "ledger/evidence.hpp"

namespace postal::ledger {
namespace {

constexpr std::size_t idle_capacity = 64 * 1024;

}  // namespace

void evidence::begin() noexcept {
    forget();
    octets_ = 0;
    whole_ = true;
}

void evidence::feed(std::string_view piece) {
    octets_ += piece.size();
    if (!whole_) return;
    if (octets_ > most_kept || piece.size() > room_.left) {
        whole_ = false;
        forget();
        return;
    }
    room_.left -= piece.size();
    kept_.append(piece);
}

void evidence::end() noexcept {
    forget();
    if (kept_.capacity() > idle_capacity) kept_ = std::string();
}

void evidence::forget() noexcept {
    room_.left += kept_.size();
    kept_.clear();
}

void evidence::explain(const mail::identity* id, mail::body_rebuilder& rebuilder,
                       seen_row& row) const {
    row.what = id == nullptr ? condition::unreadable : condition::corrupt;
    if (!whole_) {
        row.detail = "differs from what was sent, and is too large to be compared";
        return;
    }
    const mail::difference how = mail::diagnose(kept_, id, rebuilder);
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
        case mail::difference_kind::extra:
        case mail::difference_kind::other:
            break;
    }
    return condition::corrupt;
}

}  // namespace postal::ledger
