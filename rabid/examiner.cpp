// SPDX-License-Identifier: GPL-3.0-or-later
#include "rabid/examiner.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/random.hpp"
#include "base/release.hpp"
#include "ledger/returned.hpp"
#include "mail/old_postal.hpp"
#include "rabid/phases.hpp"

namespace postal::rabid {
namespace {

using ledger::condition;

std::string_view header_section(std::string_view message) {
    return message.substr(0, message.find("\r\n\r\n"));
}

}  // namespace

void examiner::open(const account& whose, ledger::way through, std::uint32_t session,
                    std::string_view folder) {
    through_ = through;
    session_ = session;
    which_ = 0;
    seen_.clear();
    copies_.clear();
    if (context_.row_buffer() != nullptr) {
        mailbox_ = context_.row_buffer()->address(std::string(whose.address).append(folder));
        server_ = context_.row_buffer()->address(store_read_by(through));
    }
    notes_.begin(context_.row_buffer(), mailbox_, server_, through);
}

void examiner::watch_too(std::string_view address) {
    if (notes_.wanted()) notes_.watch_too(context_.row_buffer()->address(address));
}

void examiner::turn_to(std::size_t which) {
    which_ = which;
    if (notes_.wanted()) mailbox_ = notes_.turn_to(which);
}

// The name under which the ledger keeps what is read.
const std::string& examiner::store_read_by(ledger::way through) const {
    const options& chosen = context_.of_run.chosen;
    if (!chosen.store.empty()) return chosen.store;
    const bool own = through == ledger::way::imap && !chosen.imap_servers.empty();
    return own ? chosen.imap_servers : chosen.servers;
}

bool examiner::close(const visit_notes::ending& how) {
    notes_.end(how);
    const bool broke_off = std::exchange(in_message_, false);
    if (broke_off) ++context_.shared.counts().failed;
    message_.reset();
    base::release(seen_);
    base::release(copies_);
    return !broke_off;
}

void examiner::begin() {
    ++context_.shared.counts().started;
    in_message_ = true;
    message_.reset();
}

bool examiner::too_big(std::uint64_t announced) {
    const std::uint64_t most = context_.of_run.chosen.max_message;
    const bool beyond = in_message_ && std::max(announced, message_.kept().octets()) > most;
    if (beyond) ++context_.shared.counts().oversized;
    return beyond;
}

bool examiner::without_end(std::chrono::nanoseconds taken) const {
    const auto longest = most_timeouts * context_.of_run.load.patience.command;
    return in_message_ && taken > longest;
}

examination_result examiner::finish(const sighting& where) {
    ledger::seen_row row;
    const examination_result found = judge(message_.finish(), row, where.uid);
    const message_key key{row.run, row.session, row.sequence};
    stats::tally& counts = context_.shared.counts();
    const bool watching = context_.of_run.chosen.watch.count() > 0;
    if (context_.row_buffer() != nullptr || watching) row.time_us = now_us();
    if (watching) time(row, where.announced);
    if (context_.row_buffer() != nullptr) {
        row.server = server_;
        row.uid_validity = where.uid_validity;
        row.uid = where.uid;
        row.place = where.place;
        row.mailbox = mailbox_;
        row.through = through_;
        row.announced_us = where.announced.time_us;
        row.told = where.announced.how;
        row.watcher = session_;
        row.arrived_us = where.arrived_us;
        if (row.what == condition::foreign) note_returned(row);
        context_.row_buffer()->add(std::move(row));
    }
    // Behind the row: what there was no memory for has failed, in both.
    in_message_ = false;
    counts.accepted(1, std::chrono::steady_clock::now());
    counts.recipients += 1;
    counts.bytes += message_.kept().octets();
    message_.reset();
    last_ = key;
    return found;
}

// From when it was made to when the server told of it, and to when it was here. Of what lay there
// before nobody knows when it came.
void examiner::time(const ledger::seen_row& row, const announcement& told) {
    if (row.sent_us < context_.of_run.started_us) return;
    auto& times = context_.shared.counts().latency;
    const auto record = [&](phase what, std::uint64_t until_us) {
        if (until_us >= row.sent_us)
            times[static_cast<std::size_t>(what)].record(
                std::chrono::microseconds(until_us - row.sent_us));
    };
    record(phase::announced, told.time_us);
    record(phase::delivery, row.time_us);
}

examination_result examiner::judge(mail::check_result checked, ledger::seen_row& row,
                                   std::uint64_t uid) {
    if (is_fine_but_for_qmail(checked)) checked.what = mail::integrity::verified;
    message_.describe(checked, row, context_.rebuilder);
    if (checked.what == mail::integrity::foreign) return judge_stranger(row);
    if (checked.id != nullptr) count_twice(*checked.id, uid);
    if (checked.what == mail::integrity::verified) {
        ++integrity().verified;
        return examination_result::verified;
    }
    ++integrity().corrupt;
    count_error(ledger::to_text(row.what), row.detail);
    return checked.id != nullptr ? examination_result::corrupt : examination_result::doubtful;
}

// -b qmail-pop: that server puts an empty line behind each message.
bool examiner::is_fine_but_for_qmail(const mail::check_result& checked) {
    ledger::evidence& kept = message_.kept();
    const bool may_be = context_.of_run.chosen.qmail_pop && checked.id != nullptr &&
                        checked.what == mail::integrity::corrupt && kept.whole() &&
                        kept.text().ends_with("\r\n");
    if (!may_be) return false;
    mail::message_checker again;
    again.feed(kept.text().substr(0, kept.text().size() - 2));
    return again.finish().what == mail::integrity::verified;
}

// Mail of the original postal has a digest of its own.
examination_result examiner::judge_stranger(ledger::seen_row& row) {
    ledger::evidence& kept = message_.kept();
    if (!kept.whole() || !mail::is_old_postal(header_section(kept.text()))) {
        ++integrity().foreign;
        return examination_result::foreign;
    }
    const bool fine = mail::check_old_postal(kept.text()).value_or(false);
    ++integrity().original;
    row.what = condition::original;
    if (!fine) {
        row.what = condition::original_corrupt;
        row.detail = "mail of the original postal whose digest does not match";
        ++integrity().corrupt;
        count_error("original", row.detail);
    }
    return fine ? examination_result::original : examination_result::doubtful;
}

stats::counts& examiner::integrity() noexcept {
    return held_ != nullptr ? held_->counts : context_.shared.counts();
}

void examiner::count_error(std::string_view reason, std::string_view detail) {
    stats::error_table& errors = held_ != nullptr ? held_->errors : context_.shared.counts().errors;
    errors.add(to_text(stage::check), 0, reason, detail);
}

void examiner::note_returned(const ledger::seen_row& seen) {
    const auto report = message_.returned();
    if (!report) return;
    ledger::returned_row when;
    when.time_us = seen.time_us;
    when.mailbox = seen.mailbox;
    when.through = seen.through;
    for (ledger::returned_row& row : ledger::rows_of(*report, when, *context_.row_buffer()))
        context_.row_buffer()->add(std::move(row));
}

// A copy that is read once more is no duplicate.
void examiner::count_twice(const mail::identity& id, std::uint64_t uid) {
    std::uint64_t key = base::mix(id.run, id.session, id.sequence);
    if (which_ != 0) key = base::mix(key, which_, 0);
    if (uid != 0 && !copies_.insert(base::mix(key, uid, 0)).second) return;
    if (!seen_.insert(key).second) ++integrity().duplicate;
}

}  // namespace postal::rabid
