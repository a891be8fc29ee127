#include "rabid/examiner.hpp"

#include <chrono>
#include <utility>

#include "base/random.hpp"
#include "mail/difference.hpp"
#include "mail/old_postal.hpp"
#include "rabid/phases.hpp"

namespace postal::rabid {
namespace {

using ledger::condition;
using mail::difference_kind;

constexpr std::size_t idle_capacity = 64 * 1024;

std::uint64_t now_us() {
    return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(
                                          std::chrono::system_clock::now().time_since_epoch())
                                          .count());
}

condition condition_of(difference_kind kind) noexcept {
    switch (kind) {
        case difference_kind::truncated:
            return condition::truncated;
        case difference_kind::changed:
            return condition::octet_changed;
        case difference_kind::eight_bit_stripped:
            return condition::eight_bit_stripped;
        case difference_kind::dot_added:
            return condition::dot_added;
        case difference_kind::dot_lost:
            return condition::dot_lost;
        case difference_kind::line_ends_changed:
            return condition::line_ends_changed;
        case difference_kind::trailing_blanks_cut:
            return condition::trailing_blanks_cut;
        case difference_kind::header_rewritten:
            return condition::header_changed;
        case difference_kind::unreadable_identity:
            return condition::unreadable;
        case difference_kind::none:
        case difference_kind::recoded:
        case difference_kind::extra:
        case difference_kind::other:
            break;
    }
    return condition::corrupt;
}

std::string_view header_section(std::string_view message) {
    return message.substr(0, message.find("\r\n\r\n"));
}

}  // namespace

void examiner::open(const account& whose, ledger::way through) {
    through_ = through;
    mailbox_ = shop_.page() != nullptr ? shop_.page()->address(whose.address) : 0;
    seen_.clear();
}

void examiner::close() {
    drop();
    seen_ = {};
    kept_ = std::string();
}

void examiner::begin() {
    checker_.reset();
    kept_.clear();
    detail_.clear();
    octets_ = 0;
}

void examiner::feed(std::string_view piece) {
    octets_ += piece.size();
    checker_.feed(piece);
    if (octets_ <= most_kept) kept_.append(piece);
}

void examiner::drop() {
    checker_.reset();
    kept_.clear();
}

finding examiner::finish(const sighting& where) {
    ledger::seen_row row;
    const finding found = judge(checker_.finish(), row);
    stats::tally& counts = shop_.own.tally();
    counts.messages += 1;
    counts.recipients += 1;
    counts.bytes += octets_;
    const bool watching = shop_.of_run.chosen.watch.count() > 0;
    if (shop_.page() != nullptr || watching) row.time_us = now_us();
    // Of what lay there before nobody knows when it came.
    const bool fresh = row.sent_us >= shop_.of_run.started_us && row.time_us >= row.sent_us;
    if (watching && fresh) {
        counts.latency[static_cast<std::size_t>(phase::delivery)].record(
            std::chrono::microseconds(row.time_us - row.sent_us));
    }
    if (shop_.page() != nullptr) {
        row.uid = where.uid;
        row.place = where.place;
        row.mailbox = mailbox_;
        row.through = through_;
        shop_.page()->add(std::move(row));
    }
    if (kept_.capacity() > idle_capacity) kept_ = std::string();
    return found;
}

finding examiner::judge(const mail::check_result& checked, ledger::seen_row& row) {
    stats::tally& counts = shop_.own.tally();
    if (checked.what == mail::verdict::foreign) return judge_stranger(row);
    if (checked.id != nullptr) {
        row.run = checked.id->run;
        row.session = checked.id->session;
        row.sequence = checked.id->sequence;
        row.sent_us = checked.id->time_us;
        count_twice(*checked.id);
    }
    const bool fine = checked.what == mail::verdict::verified || is_fine_but_for_qmail(checked);
    if (fine) {
        row.what = condition::verified;
        counts.verified += 1;
        return finding::verified;
    }
    explain(checked.id, row);
    counts.corrupt += 1;
    counts.errors.add(to_text(stage::check), 0, ledger::to_text(row.what), detail_);
    return checked.id != nullptr ? finding::corrupt : finding::doubtful;
}

// -b qmail-pop: that server puts an empty line behind each message.
bool examiner::is_fine_but_for_qmail(const mail::check_result& checked) const {
    const bool may_be = shop_.of_run.chosen.qmail_pop && checked.id != nullptr &&
                        octets_ <= most_kept && kept_.ends_with("\r\n");
    if (!may_be) return false;
    mail::message_checker again;
    again.feed(std::string_view(kept_).substr(0, kept_.size() - 2));
    return again.finish().what == mail::verdict::verified;
}

// Mail of the original postal has a digest of its own.
finding examiner::judge_stranger(ledger::seen_row& row) {
    stats::tally& counts = shop_.own.tally();
    row.what = condition::foreign;
    if (octets_ > most_kept || !mail::is_old_postal(header_section(kept_))) {
        counts.foreign += 1;
        return finding::foreign;
    }
    const bool fine = mail::check_old_postal(kept_).value_or(false);
    counts.original += 1;
    if (!fine) {
        row.what = condition::corrupt;
        detail_ = "mail of the original postal whose digest does not match";
        row.detail = detail_;
        counts.corrupt += 1;
        counts.errors.add(to_text(stage::check), 0, "original", detail_);
    }
    return fine ? finding::original : finding::doubtful;
}

void examiner::explain(const mail::identity* id, ledger::seen_row& row) {
    row.what = condition::corrupt;
    if (octets_ > most_kept) {
        detail_ = "differs from what was sent, and is too large to be compared";
    } else {
        const mail::difference how = mail::diagnose(kept_, id, shop_.rebuilder);
        row.what = condition_of(how.kind);
        detail_ = mail::to_text(how);
    }
    row.detail = detail_;
}

void examiner::count_twice(const mail::identity& id) {
    const std::uint64_t key = base::mix(id.run, id.session, id.sequence);
    if (!seen_.insert(key).second) shop_.own.tally().duplicate += 1;
}

}  // namespace postal::rabid
