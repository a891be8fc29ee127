// SPDX-License-Identifier: GPL-3.0-or-later
#include "rabid/imap_watch.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "rabid/folder_names.hpp"

namespace postal::rabid {

// What the server tells of while others are read and deleted comes in, too, so EXPUNGE itself
// lowers the number of those known.
asio::awaitable<bool> imap_watch::run() {
    bool fine = co_await begin();
    if (!fine) co_return false;
    fine = co_await stay();
    if (!has_unread()) note_idle();
    if (fine) co_await end_notify();
    note({.began_us = opened_us_, .ended_us = alive_us_, .how = wait_.waits_how()});
    co_return fine;
}

asio::awaitable<bool> imap_watch::begin() {
    dialogue_.told().known = dialogue_.mailbox().exists();
    dialogue_.announced().begin(dialogue_.mailbox().exists(), wait_.told_how());
    bool fine = true;
    if (!visit_.context.of_run.chosen.watch_folders.empty()) fine = co_await begin_folders();
    // Where there are folders the last of them is known now, and what lay in it before is passed
    // over.
    visit_.messages.notes().watching();
    opened_us_ = alive_us_ = now_us();
    if (fine) fine = co_await wait_.begin_watching();
    agreed_us_ = proven_us_ = wait_.agreed_us();
    co_return fine;
}

// Makes those that are not there yet, and asks what lies there before anybody is told of it.
asio::awaitable<bool> imap_watch::begin_folders() {
    if (dialogue_.told().delimiter == 0) {
        const imap_tag tag = dialogue_.commands().list(dialogue_.out(), "", "");
        co_await dialogue_.command(stage::list, tag);
        if (visit_.connection.broken()) co_return false;
    }
    std::vector<std::string> names{"INBOX"};
    for (const std::string& each : visit_.context.of_run.chosen.watch_folders) {
        names.push_back(mailbox_name(each, dialogue_.told().prefix, dialogue_.told().delimiter));
        visit_.messages.watch_too(folder_address(visit_.who.address, each));
    }
    folders_ = std::make_unique<folder_news>(names);
    dialogue_.contradicted(folders_->select(0, dialogue_.selected_status(), now_us()));
    dialogue_.watch(*folders_);
    reader_.watch(*folders_);
    bool fine = true;
    for (std::size_t i = 1; i < names.size() && fine; ++i) {
        const imap_tag tag = dialogue_.commands().create(dialogue_.out(), names[i]);
        co_await dialogue_.command(stage::command, tag, {.refusal = imap_refusal::expected});
        if (visit_.connection.broken()) co_return false;
        fine = co_await ask_about(i);
    }
    co_return fine;
}

asio::awaitable<bool> imap_watch::ask_about(std::size_t folder) {
    const imap_tag tag = dialogue_.commands().status(dialogue_.out(), folders_->name(folder),
                                                     "(UIDNEXT UIDVALIDITY)");
    co_return co_await dialogue_.command(stage::list, tag);
}

asio::awaitable<bool> imap_watch::stay() {
    bool fine = true;
    while (fine && !visit_.stopping()) {
        if (!has_news()) fine = co_await wait_.rest(visit_.context.of_run.chosen.watch);
        if (wait_.agreed_us() != agreed_us_) note_notify(proven_us_);
        if (fine && !has_news()) {
            // Only of the mailbox that is selected NOOP need tell.
            if (folders_ == nullptr) visit_.messages.notes().nothing_new(wait_.asked_us());
            alive_us_ = now_us();
        }
        if (!fine || !has_news()) continue;
        if (!has_unread()) {
            fine = co_await turn_to(*folders_->unread());
            continue;
        }
        fine = co_await read_announced(imap_retrieval::reading::until_the_run_ends);
        if (fine && read_all_) {
            alive_us_ = now_us();
            if (!has_news()) proven_us_ = alive_us_;
            note_idle();
        }
        wait_.take_stretch();
        if (fine) fine = co_await retrieval_.remove();
    }
    co_return fine;
}

// What has come into it since it was looked at last has the last numbers: UIDs ascend (RFC 3501
// 2.3.1.1). A server may tell of what comes into the one that is left from then on, and never of
// what had come and was not told yet, as Dovecot does: so it is asked.
asio::awaitable<bool> imap_watch::turn_to(std::size_t folder) {
    std::uint32_t& known = dialogue_.told().known;
    const std::size_t left = folders_->selected();
    folders_->leave(dialogue_.mailbox().uid(known));
    dialogue_.announced().end();
    const load::steady_time begun = visit_.connection.now();
    bool fine = co_await dialogue_.select(folders_->name(folder), {});
    visit_.connection.took(phase::list, visit_.connection.now() - begun);
    if (!fine) co_return false;
    const std::uint32_t there = dialogue_.mailbox().exists();
    dialogue_.announced().begin(there, wait_.told_how());
    dialogue_.contradicted(folders_->select(folder, dialogue_.selected_status(), now_us()));
    visit_.messages.turn_to(folder);
    fine = co_await dialogue_.command(
        stage::list,
        dialogue_.commands().search(dialogue_.out(), imap_verb::search,
                                    fmt::format("UID {}:4294967295", folders_->first_unread())));
    if (!fine) co_return false;
    known = dialogue_.mailbox().exists();
    for (const std::uint32_t number : dialogue_.told().found)
        if (number > 0) known = std::min(known, number - 1);
    visit_.context.shared.counts().announced += there - std::min(known, there);
    co_return co_await ask_about(left);
}

// What has come by now, at most so many at a time: a server may tell of any number.
asio::awaitable<bool> imap_watch::read_announced(imap_retrieval::reading how) {
    constexpr std::size_t most_at_once = 10'000;
    std::uint32_t& known = dialogue_.told().known;
    const std::uint32_t come = dialogue_.mailbox().exists();
    const auto left = [&] { return known < std::min(come, dialogue_.mailbox().exists()); };
    std::vector<std::uint32_t> numbers;
    bool fine = true;
    read_all_ = true;
    while (fine && read_all_ && left()) {
        numbers.clear();
        while (left() && numbers.size() < most_at_once)
            numbers.push_back(++known);
        fine = co_await retrieval_.read(numbers, how);
        read_all_ = reader_.came() >= numbers.size();
    }
    dialogue_.announced().forget(known);
    co_return fine;
}

// Behind all that was told of in it and read.
void imap_watch::note_idle() {
    const auto stretch = wait_.take_stretch();
    if (stretch.ended_us > stretch.began_us)
        note({.began_us = stretch.began_us,
              .ended_us = stretch.ended_us,
              .how = ledger::waiting::in_idle});
}

// A server that nobody has heard of for long may be gone: only what it answers shows that it could
// have told. What it tells of only because it is asked now is read, so that what is missing was
// looked for, and is not held to have been announced. Who was behind with reading does not catch up
// here.
asio::awaitable<void> imap_watch::end_notify() {
    if (agreed_us_ == 0) co_return;
    const std::uint64_t asked = now_us();
    const bool all = !has_news();
    bool fine = co_await wait_.ask();
    note_notify(fine && all ? asked : proven_us_);
    if (!fine || !all) co_return;
    reader_.watch_ends();
    const std::size_t folders = folders_ == nullptr ? 0 : folders_->size();
    for (std::size_t i = 0; i < folders && fine; ++i)
        if (i != folders_->selected()) fine = co_await ask_about(i);
    if (fine) fine = co_await read_the_rest();
    if (fine) visit_.messages.notes().nothing_new(asked);
}

// What was told of by now, of each mailbox once: more may come as long as somebody sends.
asio::awaitable<bool> imap_watch::read_the_rest() {
    bool fine = co_await read_rest_of_selected();
    for (std::size_t left = folders_ == nullptr ? 0 : folders_->size(); fine && left > 0; --left) {
        const auto next = folders_->unread();
        if (!next) break;
        fine = co_await turn_to(*next);
        if (fine) fine = co_await read_rest_of_selected();
    }
    co_return fine;
}

asio::awaitable<bool> imap_watch::read_rest_of_selected() {
    if (!has_unread()) co_return true;
    const bool fine = co_await read_announced(imap_retrieval::reading::to_the_end);
    if (!fine) co_return false;
    co_return co_await retrieval_.remove();
}

void imap_watch::note_notify(std::uint64_t ended_us) {
    if (ended_us > agreed_us_)
        note({.began_us = agreed_us_, .ended_us = ended_us, .how = ledger::waiting::by_notify});
    agreed_us_ = proven_us_ = wait_.agreed_us();
}

void imap_watch::note(ledger::wait_row row) {
    row.session = visit_.appends.session;
    row.opened_us = opened_us_;
    visit_.messages.notes().waited(row);
}

}  // namespace postal::rabid
