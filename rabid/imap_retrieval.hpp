// SPDX-License-Identifier: GPL-3.0-or-later
// Reads messages whole over IMAP, and deletes those that were read (RFC 3501 6.4, UIDPLUS RFC
// 4315).
//
// Messages that are read may be deleted (-d) with UID EXPUNGE; without UIDPLUS a plain EXPUNGE is
// only said when nothing else is marked. Deletions count when the server has confirmed them. In a
// mailbox that is selected; each gives true when the server did what it should.
#pragma once

#include <boost/asio/awaitable.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "rabid/imap_dialogue.hpp"
#include "rabid/visit_context.hpp"

namespace postal::rabid {

class imap_retrieval {
  public:
    // All outlive it.
    imap_retrieval(const visit_context& who, imap_dialogue& dialogue, imap_reader& reader);

    enum class reading : std::uint8_t { until_the_run_ends, to_the_end };
    // By ascending numbers. What is asked for and does not come has gone meanwhile, or the server
    // contradicts itself.
    asio::awaitable<bool> read(std::span<const std::uint32_t> numbers,
                               reading how = reading::until_the_run_ends);
    // Those that the reader has found are to be deleted.
    asio::awaitable<bool> remove();

  private:
    asio::awaitable<bool> look_for_absent(std::uint64_t missing, std::uint64_t gone_before);
    asio::awaitable<bool> expunge(std::size_t marked);
    asio::awaitable<bool> may_expunge();

    const visit_context& visit_;
    imap_dialogue& dialogue_;
    imap_reader& reader_;
    proto::imap_commands& commands_;
    proto::imap_output& out_;
    std::string text_;  // scratch: sequence sets
};

}  // namespace postal::rabid
