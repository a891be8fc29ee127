// SPDX-License-Identifier: GPL-3.0-or-later
#include "rabid/visit_notes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/text.hpp"
#include "rabid/plan.hpp"

namespace postal::rabid {

namespace {

constexpr std::size_t longest_reason = 200;

}  // namespace

void visit_notes::begin(ledger::row_buffer* to, ledger::address_id mailbox,
                        ledger::address_id server, ledger::way through) {
    to_ = to;
    listed_ = complete_ = doubtful_ = watching_ = false;
    others_.clear();
    left_out_ = {};
    if (!wanted()) return;
    row_ = {};
    row_.began_us = now_us();
    row_.mailbox = read_in_ = mailbox;
    row_.server = server;
    row_.through = through;
}

void visit_notes::listing() {
    if (wanted()) row_.began_us = now_us();
}

void visit_notes::listed(std::uint64_t messages) {
    listed_ = true;
    row_.messages = messages;
    complete_ = complete_ || messages == 0;
}

void visit_notes::looked_at(std::uint64_t messages, std::uint64_t there) {
    if (read_in_ != row_.mailbox) return;
    complete_ = complete_ || messages == there;
    row_.messages = std::max(row_.messages, there);
    row_.looked_at = std::min(row_.looked_at + messages, row_.messages);
}

void visit_notes::watching() {
    if (!wanted()) return;
    watching_ = true;
    row_.began_us = row_.ended_us = now_us();
}

ledger::address_id visit_notes::turn_to(std::size_t which) {
    read_in_ = which == 0 ? row_.mailbox : others_[which - 1];
    return read_in_;
}

void visit_notes::nothing_new(std::uint64_t since_us) {
    if (watching_) row_.ended_us = std::max(row_.ended_us, since_us);
}

void visit_notes::waited(ledger::wait_row row) {
    const bool too_short =
        ledger::is_stretch(row.how) && row.ended_us < row.began_us + ledger::told_within_us;
    if (!wanted() || too_short) return;
    row.mailbox = row_.mailbox;
    row.server = row_.server;
    row.through = row_.through;
    to_->add(row);
    for (const ledger::address_id each : others_) {
        row.mailbox = each;
        to_->add(row);
    }
}

void visit_notes::visited() {
    if (complete())
        waited({.opened_us = row_.began_us,
                .began_us = row_.began_us,
                .ended_us = row_.began_us,
                .how = ledger::waiting::visiting});
}

void visit_notes::removing(const message_key& which, std::uint64_t uid,
                           std::uint32_t uid_validity) {
    if (!wanted() || which.run == 0) return;
    to_->add(ledger::removed_row{.run = which.run,
                                 .session = which.session,
                                 .sequence = which.sequence,
                                 .uid = uid,
                                 .time_us = now_us(),
                                 .uid_validity = uid_validity,
                                 .server = row_.server,
                                 .mailbox = read_in_,
                                 .through = row_.through});
}

void visit_notes::end(const ending& how) {
    if (!wanted()) return;
    row_.what = ledger::extent::nothing;
    if (listed_) row_.what = ledger::extent::partly;
    if (watching_) row_.what = ledger::extent::incoming;
    if (complete() && !watching_) row_.what = ledger::extent::complete;
    if (!watching_) row_.ended_us = now_us();
    if (row_.what != ledger::extent::complete) row_.reason = reason(how);
    for (const ledger::address_id each : others_) {
        ledger::visit_row other = row_;
        other.mailbox = each;
        other.messages = other.looked_at = 0;  // not known by mailbox
        if (watching_) to_->add(std::move(other));
    }
    to_->add(std::move(row_));
    to_ = nullptr;
}

std::string visit_notes::reason(const ending& how) const {
    std::string why = base::printable(how.problem, longest_reason);
    if (watching_) return std::string(ledger::only_watched);
    if (!listed_) {
        if (!why.empty()) return why;
        return how.stopped ? std::string(ledger::run_ended_unopened) : "it was not opened";
    }
    if (why.empty()) why = left_out_;
    if (why.empty()) why = how.stopped ? ledger::run_ended : ledger::wanted_no_more;
    return fmt::format("{} of {} messages were read: {}", row_.looked_at, row_.messages, why);
}

}  // namespace postal::rabid
