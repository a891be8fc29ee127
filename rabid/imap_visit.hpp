// One IMAP connection, from the greeting to LOGOUT (RFC 3501, 9051).
//
// Logs in, selects INBOX, and does what the profile says; with `resync` the mailbox is selected
// with what the last visit to the account knew of it (QRESYNC, RFC 7162). Every message that is
// read whole is checked. What the server says is held against what it said before (imap_mailbox),
// and a contradiction is an error with the command that showed it. Messages that are read may be
// deleted
// (-d) with UID EXPUNGE; without UIDPLUS a plain EXPUNGE is only said when nothing else is marked.
// Deletions count when the server has confirmed them. Only what this session found to be postal's
// is ever marked, copied, moved or deleted, unless --delete-foreign says so.
#pragma once

#include <boost/asio/awaitable.hpp>

#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "proto/imap_commands.hpp"
#include "proto/imap_mailbox.hpp"
#include "proto/imap_responses.hpp"
#include "rabid/guest.hpp"
#include "rabid/profile.hpp"
#include "sasl/conversation.hpp"

namespace postal::rabid {

class imap_visit {
  public:
    explicit imap_visit(const guest& who);

    // True when the server did what it should; what it did not is counted.
    boost::asio::awaitable<bool> run();

  private:
    static constexpr std::uint32_t most_messages = 1'000'000;  // that are known by number

    boost::asio::awaitable<bool> greet();
    boost::asio::awaitable<bool> start_tls();
    boost::asio::awaitable<bool> log_in();
    boost::asio::awaitable<bool> enable_qresync();
    boost::asio::awaitable<bool> authenticate();
    boost::asio::awaitable<bool> converse(sasl::conversation& talk, proto::imap_tag tag);
    boost::asio::awaitable<bool> select();
    boost::asio::awaitable<bool> follow_profile();
    boost::asio::awaitable<bool> say_logout();

    boost::asio::awaitable<bool> act(verb what);
    boost::asio::awaitable<bool> read(std::span<const std::uint32_t> numbers);
    boost::asio::awaitable<bool> read_one();
    boost::asio::awaitable<bool> read_chosen();
    boost::asio::awaitable<bool> read_new();
    boost::asio::awaitable<bool> remove();
    boost::asio::awaitable<bool> may_expunge();
    boost::asio::awaitable<bool> mark();
    boost::asio::awaitable<bool> put_elsewhere(proto::imap_verb how);
    boost::asio::awaitable<bool> append();
    boost::asio::awaitable<bool> make_mailbox();
    boost::asio::awaitable<bool> rest(std::chrono::nanoseconds how_long);
    boost::asio::awaitable<bool> idle_until(load::steady_time until, std::uint32_t before);
    boost::asio::awaitable<bool> watch();

    // A command that stands in out_; no_tag when there is nothing to say.
    struct said {
        proto::imap_tag tag = proto::no_tag;
        proto::imap_verb verb = proto::imap_verb::none;
    };
    said say(verb what);
    said fetch(std::string_view set, std::string_view items);
    said fetch_newest(std::string_view items);
    said fetch_one(std::string_view items);

    // Sends out_, which holds the command `tag`, and hears the server until that is answered; true
    // when the answer is OK. A refusal is counted.
    boost::asio::awaitable<bool> command(stage where, proto::imap_tag tag, proto::imap_verb verb);
    boost::asio::awaitable<bool> complete(stage where, proto::imap_tag tag);
    boost::asio::awaitable<bool> send_out(stage where);
    boost::asio::awaitable<bool> wait_for_go_ahead(stage where);

    void take_steps(stage where);
    std::uint64_t steps_expected() const noexcept;
    void take_step(stage where, const proto::imap_step& step);
    void note_vanished(std::uint64_t count) noexcept;
    void message_begin(const proto::imap_step& step);
    void message_end();

    const profile& what_to_do() const noexcept { return guest_.shop.of_run.behaviour; }

    guest guest_;
    proto::imap_responses responses_;
    proto::imap_mailbox mailbox_;
    proto::imap_commands commands_;
    proto::imap_output out_;
    std::string text_;                      // scratch: sequence sets
    std::string shown_;                     // of the command in out_, if that holds a secret
    std::string said_;                      // challenges and verdicts, while authenticating_
    std::vector<std::uint32_t> ours_;       // UIDs of messages found to be postal's
    std::vector<std::uint32_t> to_delete_;  // UIDs
    std::vector<std::uint32_t> found_;      // by SEARCH
    proto::imap_tag answered_ = proto::no_tag;
    proto::imap_condition condition_ = proto::imap_condition::none;
    load::steady_time since_{};
    std::uint64_t steps_ = 0;
    std::uint64_t expunged_ = 0;
    std::uint32_t known_ = 0;  // --watch: messages up to this number need not be read (again)
    bool reading_ = false;     // whole messages are being fetched
    bool in_message_ = false;
    bool whole_ = false;     // the body of the message in hand is complete
    bool go_ahead_ = false;  // a continuation request has come
    bool greeted_ = false;
    bool starting_tls_ = false;  // nothing may follow the answer
    bool logged_in_ = false;
    bool said_bye_ = false;
    bool leaving_ = false;
    bool resyncs_ = false;  // QRESYNC is enabled
    bool authenticating_ = false;
    bool expecting_no_ = false;  // a refusal is as good as an agreement
};

}  // namespace postal::rabid
