// SPDX-License-Identifier: GPL-3.0-or-later
// One POP3 connection, from the greeting to QUIT (RFC 1939; CAPA and PIPELINING RFC 2449).
//
// Logs in, asks what is there, reads some of it (-d, -c), deletes some of that, and says QUIT,
// after which deletions count: before it a server must forget them. Commands are pipelined where
// CAPA offers that. Mail that is not ours is not deleted, unless --delete-foreign says so.
#pragma once

#include <boost/asio/awaitable.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "client/login.hpp"
#include "proto/pop3/client.hpp"
#include "rabid/turn_clock.hpp"
#include "rabid/visit_context.hpp"

namespace postal::rabid {

using proto::pop3_event;
using proto::pop3_form;
using proto::pop3_status;

class pop3_visit {
  public:
    // `who` outlives it.
    explicit pop3_visit(const visit_context& who);

    // True when the server did what it should; what it did not is counted.
    asio::awaitable<bool> run();

  private:
    struct message {
        std::uint32_t number = 0;
        std::uint64_t uid = 0;  // a hash of its unique id; 0 when that is not known
    };

    struct doomed {
        message_key which;
        std::uint64_t uid = 0;
    };

    asio::awaitable<bool> greet();
    asio::awaitable<bool> ask_capabilities();
    asio::awaitable<bool> start_tls();
    asio::awaitable<bool> log_in();
    asio::awaitable<bool> log_in_by_digest(std::string_view timestamp);
    asio::awaitable<bool> authenticate();
    asio::awaitable<bool> converse(client::login& mine);
    asio::awaitable<bool> look_around();
    asio::awaitable<bool> read_listing();
    asio::awaitable<bool> retrieve();
    asio::awaitable<bool> remove();
    asio::awaitable<bool> say_quit();

    // One reply of one line; its status is in parser_. If the text holds a secret, `shown` is for
    // the transcript.
    asio::awaitable<bool> command(stage where, std::string_view text, std::string_view shown = {});
    asio::awaitable<pop3_event> next(stage where);
    bool accepted(stage where);

    bool note_uid(std::string_view line);
    bool is_listed(std::string_view line) const;
    bool may_ask() const noexcept;
    void ask_for_more();
    void take_replies();
    stats::histogram& retrieve_times() noexcept;
    void message_status();
    void message_end();

    const visit_context& visit_;
    proto::pop3_client parser_;
    proto::pop3_capabilities offered_;
    std::string greeting_;
    std::string out_;
    std::uint32_t there_ = 0;
    announcement shown_;  // --watch: by this visit's STAT
    std::vector<message> wanted_;
    std::vector<std::uint64_t> uids_;       // by number, from 0
    std::vector<std::uint32_t> to_delete_;  // numbers
    std::vector<doomed> doomed_;            // the same, for the ledger
    std::uint64_t read_whole_ = 0;
    std::size_t asked_ = 0;  // of wanted_
    std::size_t answered_ = 0;
    std::size_t at_once_ = 1;
    turn_clock turns_;
    std::uint64_t deletions_ = 0;  // accepted, and not yet for good
};

}  // namespace postal::rabid
