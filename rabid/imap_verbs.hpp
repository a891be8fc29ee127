// SPDX-License-Identifier: GPL-3.0-or-later
// What the verbs of a profile say on an IMAP connection: reading, marking, copying, moving,
// deleting, waiting (RFC 3501 6.4, RFC 9051 6.4, SORT and THREAD RFC 5256, MOVE RFC 6851).
//
// Only what this session found to be postal's is ever marked, copied, moved or deleted, unless
// --delete-foreign says so.
#pragma once

#include <boost/asio/awaitable.hpp>

#include <cstdint>
#include <string>
#include <string_view>

#include "rabid/imap_dialogue.hpp"
#include "rabid/imap_retrieval.hpp"
#include "rabid/imap_wait.hpp"
#include "rabid/profile.hpp"
#include "rabid/visit_context.hpp"

namespace postal::rabid {

// In a mailbox that is selected. Each gives true when the server did what it should.
class imap_verbs {
  public:
    // All outlive it.
    imap_verbs(const visit_context& who, imap_dialogue& dialogue, imap_reader& reader,
               imap_retrieval& retrieval, imap_wait& wait);

    asio::awaitable<bool> act(verb what);

  private:
    asio::awaitable<bool> read_one();
    asio::awaitable<bool> read_chosen();
    asio::awaitable<bool> read_new();
    asio::awaitable<bool> mark_seen();
    asio::awaitable<bool> mark();
    asio::awaitable<bool> put_elsewhere(imap_verb copy_or_move);
    asio::awaitable<bool> append();
    asio::awaitable<bool> make_mailbox();

    // These write into out_; no_tag when there is nothing to say.
    imap_tag say(verb what);
    imap_tag fetch(std::string_view set, std::string_view items);
    imap_tag fetch_newest(std::string_view items);
    imap_tag fetch_page(std::string_view items);
    imap_tag fetch_one(std::string_view items);
    imap_tag search(std::string_view criteria);
    // Where the server has it.
    imap_tag order(imap_capability needed, imap_verb how, std::string_view criteria);
    imap_tag uid_store(std::string_view set, std::string_view action);

    // A mailbox of our own, as this server names it.
    std::string own(std::string_view name) const {
        return std::string(dialogue_.told().prefix).append(name);
    }
    std::uint32_t exists() const noexcept { return dialogue_.mailbox().exists(); }

    const visit_context& visit_;
    imap_dialogue& dialogue_;
    imap_reader& reader_;
    imap_retrieval& retrieval_;
    imap_wait& wait_;
    proto::imap_commands& commands_;
    proto::imap_output& out_;
    std::string text_;  // scratch: sequence sets
};

}  // namespace postal::rabid
