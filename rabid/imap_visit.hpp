// SPDX-License-Identifier: GPL-3.0-or-later
// One IMAP connection, from the greeting to LOGOUT (RFC 3501, RFC 9051).
//
// Logs in, selects INBOX, and does what the profile says or, with --watch, reads what comes in;
// with `resync` the mailbox is selected with what the last visit to the account knew of it
// (QRESYNC, RFC 7162).
//
//   imap_login      how it is let in
//   imap_dialogue   a command and its answer; contradictions and refusals
//   imap_reader     messages that are fetched whole
//   imap_retrieval  reads and deletes them
//   imap_wait       for what comes in
//   imap_verbs      what a profile can want
//   imap_watch      what --watch does
#pragma once

#include "rabid/imap_verbs.hpp"
#include "rabid/imap_watch.hpp"

namespace postal::rabid {

class imap_visit {
  public:
    // `who` outlives it.
    explicit imap_visit(const visit_context& who);

    // True when the server did what it should; what it did not is counted.
    asio::awaitable<bool> run();

  private:
    asio::awaitable<bool> begin();
    asio::awaitable<bool> enable_qresync();
    asio::awaitable<bool> ask_for_namespace();
    asio::awaitable<bool> select();
    asio::awaitable<bool> follow_profile();
    asio::awaitable<void> act(imap_verbs& verbs, verb what);

    const visit_context& visit_;
    imap_dialogue dialogue_;
    imap_reader reader_;
    imap_retrieval retrieval_;
    imap_wait wait_;
    imap_watch watch_;
    bool resyncs_ = false;  // QRESYNC is enabled
};

}  // namespace postal::rabid
