// SPDX-License-Identifier: GPL-3.0-or-later
#include "rabid/imap_watch.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace postal::rabid {

// What the server tells of while others are read and deleted comes in, too, so EXPUNGE itself
// lowers the number of those known.
asio::awaitable<bool> imap_watch::run() {
    std::uint32_t& known = dialogue_.told().known;
    known = dialogue_.mailbox().exists();
    visit_.messages.notes().watching();
    dialogue_.announced().begin(known, wait_.told_how());
    const std::uint64_t opened = now_us();
    std::uint64_t alive = opened;  // up to then all that was told of was read
    bool fine = co_await wait_.begin_watching();
    if (!fine) co_return false;
    while (fine && !visit_.stopping()) {
        const std::uint64_t since = now_us();
        if (dialogue_.mailbox().exists() <= known)
            fine = co_await wait_.rest(visit_.context.of_run.chosen.watch);
        if (fine && dialogue_.mailbox().exists() <= known) {
            visit_.messages.notes().nothing_new(since);
            alive = now_us();
        }
        if (!fine || dialogue_.mailbox().exists() <= known) continue;
        fine = co_await read_announced();
        if (fine && read_all_) {
            alive = now_us();
            note_idle(opened);
        }
        wait_.take_stretch();
        if (fine) fine = co_await retrieval_.remove();
    }
    if (dialogue_.mailbox().exists() <= known) note_idle(opened);
    visit_.messages.notes().waited({.session = visit_.appends.session,
                                    .opened_us = opened,
                                    .began_us = opened,
                                    .ended_us = alive,
                                    .how = wait_.waits_how()});
    co_return fine;
}

// What has come by now, at most so many at a time: a server may tell of any number.
asio::awaitable<bool> imap_watch::read_announced() {
    constexpr std::size_t most_at_once = 10'000;
    std::uint32_t& known = dialogue_.told().known;
    const std::uint32_t come = dialogue_.mailbox().exists();
    const std::uint64_t gone = dialogue_.announced().gone();
    const auto left = [&] { return known < std::min(come, dialogue_.mailbox().exists()); };
    std::vector<std::uint32_t> numbers;
    std::uint64_t missing = 0;
    bool fine = true;
    while (fine && missing == 0 && left()) {
        numbers.clear();
        while (left() && numbers.size() < most_at_once)
            numbers.push_back(++known);
        fine = co_await retrieval_.read(numbers);
        missing = numbers.size() - std::min<std::uint64_t>(numbers.size(), reader_.came());
    }
    read_all_ = missing == 0;
    if (fine && !read_all_ && !visit_.stopping()) fine = co_await look_for_absent(missing, gone);
    dialogue_.announced().forget(known);
    co_return fine;
}

// Somebody else may have deleted what was announced. The server may not say so while it answers
// FETCH (RFC 3501 7.4.1), and does with NOOP: what then still counts and was not there, never was.
asio::awaitable<bool> imap_watch::look_for_absent(std::uint64_t missing,
                                                  std::uint64_t gone_before) {
    const imap_tag tag = dialogue_.commands().plain(dialogue_.out(), imap_verb::noop);
    const bool fine = co_await dialogue_.command(stage::command, tag);
    const std::uint64_t gone = dialogue_.announced().gone() - gone_before;
    if (!fine || gone >= missing) co_return fine;
    visit_.context.shared.counts().announced_absent += missing - gone;
    visit_.connection.refused(stage::retrieve, "contradiction",
                              "EXISTS counts messages that FETCH does not find");
    co_return fine;
}

// Behind all that was told of in it and read.
void imap_watch::note_idle(std::uint64_t opened_us) {
    const auto stretch = wait_.take_stretch();
    if (stretch.ended_us > stretch.began_us)
        visit_.messages.notes().waited({.session = visit_.appends.session,
                                        .opened_us = opened_us,
                                        .began_us = stretch.began_us,
                                        .ended_us = stretch.ended_us,
                                        .how = ledger::waiting::in_idle});
}

}  // namespace postal::rabid
