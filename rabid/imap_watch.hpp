// SPDX-License-Identifier: GPL-3.0-or-later
// --watch: reads what comes into a mailbox that is selected from now on, until the run ends, and
// notes for the ledger how the session waited meanwhile.
//
// Gives true when the server did what it should. What it announces and does not have is counted.
#pragma once

#include <boost/asio/awaitable.hpp>

#include <cstdint>

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
    asio::awaitable<bool> read_announced();
    asio::awaitable<bool> look_for_absent(std::uint64_t missing, std::uint64_t gone_before);
    void note_idle(std::uint64_t opened_us);

    const visit_context& visit_;
    imap_dialogue& dialogue_;
    imap_reader& reader_;
    imap_retrieval& retrieval_;
    imap_wait& wait_;
    bool read_all_ = true;  // of what was announced last
};

}  // namespace postal::rabid
