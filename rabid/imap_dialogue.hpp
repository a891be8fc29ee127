// SPDX-License-Identifier: GPL-3.0-or-later
// Commands on an IMAP connection and what comes back, up to their tagged responses (RFC 3501 2.2,
// RFC 9051 2.2).
//
// Flow: greet(); then each command is written by commands() into out() and said by command(), which
// hears the server until that is answered. A command with more behind it (APPEND, AUTHENTICATE,
// IDLE) goes in steps: begin(), send_out(), wait_for_go_ahead(), send(), complete(). What the
// server says is held against what it said before (proto::imap_mailbox); a contradiction is an
// error of the command that showed it, as is a refusal, and the dialogue goes on. A server that
// says BYE, talks without an end, or cannot be understood is given up: the line is broken then.
#pragma once

#include <boost/asio/awaitable.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "client/channel.hpp"
#include "proto/imap/commands.hpp"
#include "proto/imap/mailbox.hpp"
#include "proto/imap/responses.hpp"
#include "rabid/announcements.hpp"
#include "rabid/folder_news.hpp"
#include "rabid/identity_reader.hpp"
#include "rabid/imap_reader.hpp"
#include "rabid/phases.hpp"

namespace postal::rabid {

using proto::imap_capability;
using proto::imap_condition;
using proto::imap_tag;
using proto::imap_verb;

enum class imap_refusal : std::uint8_t { counts, expected };

struct imap_command_options {
    std::string_view shown{};                     // in transcripts, for what holds a secret
    imap_refusal refusal = imap_refusal::counts;  // as an error
    imap_reader* reader = nullptr;                // of the messages that the command fetches
    identity_reader* identities = nullptr;        // of their identity headers alone
};

// What untagged responses have told (RFC 3501 7.2.5, 7.4.1; RFC 7162 3.2.10).
struct imap_untagged {
    void begin();  // a command: nothing is found and expunged yet
    void take(const imap_step& step, std::uint32_t exists);

    std::vector<std::uint32_t> found;  // by SEARCH: UIDs, or numbers; no more than there are
    std::uint64_t expunged = 0;        // how many messages have gone
    std::uint64_t gone = 0;            // the same, since the connection was made
    // Who waits need not be told of messages up to this number: with --watch they need not be read
    // (again). It falls as messages before it go. VANISHED names UIDs: they are of messages that we
    // have deleted ourselves, which we knew.
    std::uint32_t known = 0;
    // What the name of a mailbox of ours begins with (RFC 2342), with its delimiter; and what
    // stands between its levels, as NAMESPACE or LIST says it: 0 where nothing does.
    std::string prefix;
    char delimiter = 0;
    // Of the mailbox that was selected last, with their parentheses; nothing where it did not say.
    std::optional<std::string> permanent_flags;
};

class imap_dialogue {
  public:
    explicit imap_dialogue(client::channel& connection) : line_(connection) {}

    proto::imap_commands& commands() noexcept { return commands_; }
    proto::imap_output& out() noexcept { return out_; }
    proto::imap_mailbox& mailbox() noexcept { return mailbox_; }
    const proto::imap_mailbox& mailbox() const noexcept { return mailbox_; }
    imap_untagged& told() noexcept { return told_; }
    const imap_untagged& told() const noexcept { return told_; }
    // --watch: when messages were announced; what it tells of is counted here.
    announcements& announced() noexcept { return announced_; }
    // As SELECT has told it.
    proto::imap_status selected_status() const noexcept {
        return {mailbox_.uid_next(), mailbox_.uid_validity()};
    }
    // --watch-folders: what STATUS tells of from now on goes there; it outlives the dialogue.
    void watch(folder_news& folders) noexcept { folders_ = &folders; }
    const folder_news* folders() const noexcept { return folders_; }
    // There is mail behind what is known of the mailbox that is selected, or in another.
    bool has_news() const noexcept {
        return mailbox_.exists() > told_.known || (folders_ != nullptr && folders_->unread());
    }
    // What is wrong with what the server has just said; nothing: it is not.
    void contradicted(std::string_view wrong);
    // The server has said NOTIFICATIONOVERFLOW, and tells of nothing more until it is asked again.
    bool overflowed() const noexcept { return overflowed_; }
    void overflow_seen() noexcept { overflowed_ = false; }
    const proto::imap_capabilities& offered() const noexcept { return responses_.capabilities(); }
    const proto::imap_capabilities& enabled() const noexcept { return responses_.enabled(); }
    // The server has let us in with its greeting.
    bool preauthenticated() const noexcept { return greeting_ == imap_condition::preauth; }

    // Each gives true while all is well; what is not was counted.
    asio::awaitable<bool> greet();
    // STARTTLS, and the handshake (RFC 3501 6.2.1); what the server offered before is forgotten.
    asio::awaitable<bool> start_tls();
    // SELECT, with what an earlier session remembers where that is usable (QRESYNC, RFC
    // 7162 3.2.5).
    asio::awaitable<bool> select(std::string_view name, const proto::imap_memory& before);
    // Says the command `tag`, which stands in out(); true when the answer is OK.
    asio::awaitable<bool> command(stage where, imap_tag tag, imap_command_options with = {});

    bool begin(stage where, imap_tag tag, imap_command_options with = {});
    // Literals that must wait for their go-ahead are sent piece by piece.
    asio::awaitable<bool> send_out();
    asio::awaitable<bool> send(std::string_view text, std::string_view shown);
    // False as well when the server has answered the command instead.
    asio::awaitable<bool> wait_for_go_ahead();
    asio::awaitable<bool> complete();
    // The connection is of no more use: a command that has no answer gets none any more.
    void finish();
    // How many commands were said.
    std::uint64_t commands_said() const noexcept { return said_commands_; }
    // Whatever the server says next.
    asio::awaitable<bool> hear();

    // The tag of the last tagged response; whether that is the command's own; and whether it was
    // OK.
    imap_tag answered() const noexcept { return answered_; }
    bool completed() const noexcept { return answered_ == tag_; }
    bool agreed() const noexcept { return condition_ == imap_condition::ok; }
    // The response code of the last tagged response; of APPENDUID the UIDVALIDITY and the UIDs.
    struct answer_code {
        proto::imap_code is = proto::imap_code::none;
        std::uint64_t number = 0;
        std::string arguments{};
    };
    const answer_code& code() const noexcept { return code_; }
    // The last challenge or verdict of AUTHENTICATE.
    std::string_view said() const noexcept { return said_; }

  private:
    asio::awaitable<bool> send_piece(std::string_view piece);
    void take_steps();
    void take_step(const imap_step& step);
    void note_announced(const imap_step& step);
    void note_status(const imap_step& step);
    void on_tagged(const imap_step& step);
    void on_untagged(const imap_step& step);
    // Counts commands by kind: each once, when it is answered or nothing can answer it.
    void command_begins(imap_verb what);
    void command_ends(stats::command_end how);

    client::channel& line_;
    proto::imap_responses responses_;
    proto::imap_mailbox mailbox_{imap_reader::most_messages};
    proto::imap_commands commands_;
    proto::imap_output out_;
    imap_untagged told_;
    announcements announced_;
    folder_news* folders_ = nullptr;
    std::uint64_t heard_us_ = 0;  // since the epoch: the last read, of who watches
    std::string said_;
    // The command in hand.
    stage where_ = stage::banner;
    imap_tag tag_ = proto::no_tag;
    imap_command_options with_;
    imap_verb unanswered_ = imap_verb::none;  // a kind
    std::uint64_t said_commands_ = 0;
    imap_tag answered_ = proto::no_tag;
    imap_condition condition_ = imap_condition::none;
    answer_code code_;
    imap_condition greeting_ = imap_condition::none;
    bool overflowed_ = false;
    bool go_ahead_ = false;    // a continuation request has come since something was sent
    std::uint64_t steps_ = 0;  // since the last tagged response or whole message
};

}  // namespace postal::rabid
