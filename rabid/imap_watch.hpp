// SPDX-License-Identifier: GPL-3.0-or-later
// --watch: reads what comes into a mailbox that is selected from now on, until the run ends, and
// notes for the ledger how the session waited meanwhile.
//
// With --watch-folders so it does of several: the server tells by NOTIFY of mail in those that are
// not selected (folder_news.hpp), and the one that has some is selected and read.
//
// Gives true when the server did what it should. What it announces and does not have is counted.
#pragma once

#include <boost/asio/awaitable.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>

#include "rabid/folder_news.hpp"
#include "rabid/imap_dialogue.hpp"
#include "rabid/imap_retrieval.hpp"
#include "rabid/imap_wait.hpp"
#include "rabid/visit_context.hpp"

namespace postal::rabid {

class imap_watch {
  public:
    // All outlive it.
    imap_watch(const visit_context& who, imap_dialogue& dialogue, imap_reader& reader,
               imap_retrieval& retrieval, imap_wait& wait)
        : visit_(who), dialogue_(dialogue), reader_(reader), retrieval_(retrieval), wait_(wait) {}

    asio::awaitable<bool> run();

  private:
    asio::awaitable<bool> begin();
    asio::awaitable<bool> begin_folders();
    asio::awaitable<bool> ask_about(std::size_t folder);
    asio::awaitable<bool> stay();
    asio::awaitable<bool> turn_to(std::size_t folder);
    asio::awaitable<bool> read_announced(imap_retrieval::reading how);
    asio::awaitable<void> end_notify();
    asio::awaitable<bool> read_the_rest();
    asio::awaitable<bool> read_rest_of_selected();
    bool has_news() { return dialogue_.has_news(); }
    bool has_unread() { return dialogue_.mailbox().exists() > dialogue_.told().known; }
    void note_idle();
    void note_notify(std::uint64_t ended_us);
    void note(ledger::wait_row row);

    const visit_context& visit_;
    imap_dialogue& dialogue_;
    imap_reader& reader_;
    imap_retrieval& retrieval_;
    imap_wait& wait_;
    std::unique_ptr<folder_news> folders_;  // null without --watch-folders
    std::uint64_t opened_us_ = 0;           // all mailboxes, since the epoch
    std::uint64_t alive_us_ = 0;            // up to then all that was told of was read
    // By NOTIFY: since when the server was to tell, and the last of alive_us_ that it has answered.
    std::uint64_t agreed_us_ = 0;
    std::uint64_t proven_us_ = 0;
    bool read_all_ = true;  // of what was announced last
};

}  // namespace postal::rabid
