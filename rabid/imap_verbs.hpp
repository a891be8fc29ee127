// SPDX-License-Identifier: GPL-3.0-or-later
// What the verbs of a profile say on an IMAP connection: reading, marking, copying, moving,
// deleting, waiting (RFC 3501 6.4, RFC 9051 6.4, IDLE RFC 2177, UIDPLUS RFC 4315, SORT and THREAD
// RFC 5256, NOTIFY RFC 5465, MOVE RFC 6851).
//
// Messages that are read may be deleted (-d) with UID EXPUNGE; without UIDPLUS a plain EXPUNGE is
// only said when nothing else is marked. Deletions count when the server has confirmed them. Only
// what this session found to be postal's is ever marked, copied, moved or deleted, unless
// --delete-foreign says so.
#pragma once

#include <boost/asio/awaitable.hpp>

#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "rabid/imap_dialogue.hpp"
#include "rabid/profile.hpp"
#include "rabid/visit_context.hpp"

namespace postal::rabid {

// A server may take a client for gone that has been in IDLE for half an hour; who says it again
// before 29 minutes is safe (RFC 2177 3).
inline constexpr std::chrono::nanoseconds longest_idle = std::chrono::minutes(28);

// In a mailbox that is selected. Each gives true when the server did what it should.
class imap_verbs {
  public:
    imap_verbs(const visit_context& who, imap_dialogue& dialogue, imap_reader& reader);

    asio::awaitable<bool> act(verb what);
    // --watch: reads what comes in from now on, until the run ends.
    asio::awaitable<bool> watch();

  private:
    asio::awaitable<bool> read(std::span<const std::uint32_t> numbers);
    asio::awaitable<bool> read_announced();
    asio::awaitable<bool> look_for_absent(std::uint64_t missing, std::uint64_t gone_before);
    asio::awaitable<bool> read_one();
    asio::awaitable<bool> read_chosen();
    asio::awaitable<bool> read_new();
    asio::awaitable<bool> mark_seen();
    asio::awaitable<bool> remove();
    asio::awaitable<bool> expunge(std::size_t marked);
    asio::awaitable<bool> may_expunge();
    asio::awaitable<bool> mark();
    asio::awaitable<bool> put_elsewhere(imap_verb copy_or_move);
    asio::awaitable<bool> append();
    asio::awaitable<bool> make_mailbox();
    asio::awaitable<bool> rest(std::chrono::nanoseconds how_long);
    asio::awaitable<bool> ask_after(std::chrono::nanoseconds how_long);
    asio::awaitable<bool> ask_to_be_notified();
    asio::awaitable<bool> ask_again();
    asio::awaitable<bool> wait_to_be_notified(std::chrono::nanoseconds how_long);
    asio::awaitable<bool> idle(std::chrono::nanoseconds how_long);
    asio::awaitable<bool> idle_until(load::steady_time until, std::uint32_t before);

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
    bool stopping() const noexcept { return visit_.context.shared.own.stopping(); }
    bool idles() const noexcept;
    // --watch-by notify: the server tells of mail by itself, whatever the session does.
    bool is_notified() const noexcept;
    ledger::notice told_how() const noexcept;
    ledger::waiting waits_how() const noexcept;
    void note_idle(std::uint64_t opened_us);

    // The stretch in IDLE that goes on, which may be said again meanwhile: from the first
    // continuation request to the last DONE that was answered. 0: there is none.
    struct idle_stretch {
        std::uint64_t began_us = 0;
        std::uint64_t ended_us = 0;
    };

    const visit_context& visit_;
    imap_dialogue& dialogue_;
    imap_reader& reader_;
    proto::imap_commands& commands_;
    proto::imap_output& out_;
    std::string text_;  // scratch: sequence sets
    idle_stretch stretch_;
    bool read_all_ = true;  // of what was announced last
    // Of who is notified: when something was last said, as far as is known, and how much by then.
    load::steady_time said_last_{};
    load::steady_time asked_last_{};
    std::uint64_t said_by_then_ = 0;
};

}  // namespace postal::rabid
