// SPDX-License-Identifier: GPL-3.0-or-later
#include "mailboxes.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "rabid/choice.hpp"

namespace simulation {

namespace {

using postal::ledger::extent;
using postal::ledger::way;

constexpr std::uint64_t of_readers = 0x7265616465727321;  // keeps its numbers apart from others'
constexpr std::uint32_t mailboxes_there = 8;
constexpr std::int64_t server = 900;  // the one under whose name all was read

way way_of(const reader_visit& how) {
    return how.imap ? way::imap : way::pop3;
}

}  // namespace

std::string user_address(std::uint32_t number) {
    return number < mailboxes_there ? fmt::format("user{}@example.com", number)
                                    : std::string(somebody_else);
}

void mailboxes::deliver(const postal::ledger::seen_row& row, bool vanishes) {
    copy one{.what = row, .uid = ++last_uid_};
    if (vanishes) one.vanishes = time_.now() + vanish_after;
    all_[row.mailbox].push_back(std::move(one));
}

void mailboxes::visit(const reader_visit& how) {
    const address_id mailbox = books_.address(user_address(how.mailbox));
    const bool complete = !how.refused && read_some(mailbox, how);
    const auto now_us = static_cast<std::int64_t>(wall_us(time_.now()));
    visits_.push_back({.mailbox = mailbox,
                       .server = server,
                       .through = way_of(how),
                       .what = how.refused ? extent::nothing
                               : complete  ? extent::complete
                                           : extent::partly,
                       .began_us = now_us,
                       .ended_us = now_us,
                       .reason = "as the scenario has it"});
    steady_time& whole = read_whole_[mailbox];  // visited it is
    if (complete) whole = std::max(whole, time_.now());
}

// Whether that was all that lay there.
bool mailboxes::read_some(address_id mailbox, const reader_visit& how) {
    postal::base::random_source random(
        postal::base::mix(of_.seed, of_readers, static_cast<std::uint64_t>(how.when.count())));
    std::vector<copy*> there;
    for (copy& one : all_[mailbox])
        if (!one.removed && time_.now() < one.vanishes) there.push_back(&one);
    postal::rabid::options chosen;
    chosen.download_percent = how.download_percent;
    chosen.delete_percent = how.delete_percent;
    const auto picked =
        postal::rabid::pick_messages(chosen, static_cast<std::uint32_t>(there.size()), random);
    const std::size_t most = std::min<std::size_t>(picked.size(), how.breaks_behind);
    const bool broken = how.breaks_behind != reader_visit::never;
    for (std::size_t i = 0; i < most; ++i) {
        copy& one = *there[picked[i] - 1];
        read(one, how);
        const auto what = postal::ledger::is_corrupt(one.what.what)
                              ? postal::rabid::examination_result::corrupt
                              : postal::rabid::examination_result::verified;
        // Without QUIT what was deleted is there again (RFC 1939 6).
        if (pick_deletion(chosen, what, random) && !broken) remove(one, how);
    }
    return most == there.size();
}

void mailboxes::read(copy& one, const reader_visit& how) {
    one.read[way_of(how)] = time_.now();
    postal::ledger::seen_row row = one.what;
    row.time_us = wall_us(time_.now());
    row.through = way_of(how);
    row.uid = one.uid;
    row.server = server;
    row.uid_validity = how.imap ? 1 : 0;
    row.place = how.imap ? one.uid : 0;
    books_.add(row);
}

void mailboxes::remove(copy& one, const reader_visit& how) {
    one.removed = true;
    removed_[{one.what.session, one.what.sequence}].push_back(
        {.mailbox = one.what.mailbox,
         .server = server,
         .uid_validity = how.imap ? 1 : 0,
         .uid = static_cast<std::int64_t>(one.uid),
         .through = way_of(how)});
}

}  // namespace simulation
