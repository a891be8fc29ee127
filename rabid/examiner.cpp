#include "rabid/examiner.hpp"

#include <chrono>
#include <utility>

#include "base/random.hpp"
#include "mail/old_postal.hpp"
#include "rabid/phases.hpp"

namespace postal::rabid {
namespace {

using ledger::condition;

std::uint64_t now_us() {
    return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(
                                          std::chrono::system_clock::now().time_since_epoch())
                                          .count());
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
}

void examiner::begin() {
    checker_.reset();
    kept_.begin();
    detail_.clear();
}

void examiner::feed(std::string_view piece) {
    checker_.feed(piece);
    kept_.feed(piece);
}

void examiner::drop() {
    checker_.reset();
    kept_.end();
}

finding examiner::finish(const sighting& where) {
    ledger::seen_row row;
    const finding found = judge(checker_.finish(), row);
    stats::tally& counts = shop_.own.tally();
    counts.messages += 1;
    counts.recipients += 1;
    counts.bytes += kept_.octets();
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
    kept_.end();
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
    kept_.explain(checked.id, shop_.rebuilder, row);
    detail_ = row.detail;
    counts.corrupt += 1;
    counts.errors.add(to_text(stage::check), 0, ledger::to_text(row.what), detail_);
    return checked.id != nullptr ? finding::corrupt : finding::doubtful;
}

// -b qmail-pop: that server puts an empty line behind each message.
bool examiner::is_fine_but_for_qmail(const mail::check_result& checked) const {
    const bool may_be = shop_.of_run.chosen.qmail_pop && checked.id != nullptr && kept_.whole() &&
                        kept_.text().ends_with("\r\n");
    if (!may_be) return false;
    mail::message_checker again;
    again.feed(kept_.text().substr(0, kept_.text().size() - 2));
    return again.finish().what == mail::verdict::verified;
}

// Mail of the original postal has a digest of its own.
finding examiner::judge_stranger(ledger::seen_row& row) {
    stats::tally& counts = shop_.own.tally();
    row.what = condition::foreign;
    if (!kept_.whole() || !mail::is_old_postal(header_section(kept_.text()))) {
        counts.foreign += 1;
        return finding::foreign;
    }
    const bool fine = mail::check_old_postal(kept_.text()).value_or(false);
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

void examiner::count_twice(const mail::identity& id) {
    const std::uint64_t key = base::mix(id.run, id.session, id.sequence);
    if (!seen_.insert(key).second) shop_.own.tally().duplicate += 1;
}

}  // namespace postal::rabid
