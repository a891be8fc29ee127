// SPDX-License-Identifier: GPL-3.0-or-later
// Simulated servers, and clients of a server, which keep what they said for the judge: where in the
// stream each thing that the other one counts ends.
//
// They follow RFC 1939 and 2449 (POP3), RFC 3501, 2177, 4315 and 6851 (IMAP), RFC 5321, 2920, 3030
// and 2033 (SMTP and LMTP), and they do so badly where the scenario has it: what they say is no,
// late, half, or never comes.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mailboxes.hpp"
#include "system.hpp"

namespace clients {

enum class protocol : std::uint8_t { pop3, imap, smtp, lmtp };

// What becomes of one answer.
enum class manner : std::uint8_t { fine, refuses, slow, silent, leaves, half, garbage };

struct bad_answer {
    std::size_t nth = 0;  // command of the connection, from 0, the greeting's
    manner how = manner::fine;
    nanoseconds late{0};
};

// What a server can do, and what it does wrong.
struct server_traits {
    bool pipelining = true;
    bool uidplus = true;
    bool moves = true;
    bool expunges = true;  // or says OK to EXPUNGE, and keeps all
    bool idles = true;
    bool literal_plus = false;
    bool capabilities_in_greeting = true;
    nanoseconds thinks{0};  // before each answer
};

// Something that a client counts, which it knows when it has read so far.
struct said {
    enum class kind : std::uint8_t {
        greeting,
        message_begins,  // POP3: +OK to RETR
        message,         // whole
        no_message,      // -ERR to RETR
        marked,          // +OK to DELE
        goodbye,         // +OK to QUIT
        let_in,          // to a mailbox
        expunged,        // in the answer to EXPUNGE
        ok,              // tagged
        no,
        bad,
        appended,        // with the OK before it
        message_taken,   // SMTP, and of each recipient LMTP: 250 to a message
        message_refused  // anything else
    };
    kind what = kind::greeting;
    std::uint64_t until = 0;
    content of = content::ours;
    std::uint64_t octets = 0;  // of a message
};

// Of a client of lmtp-deliver: what it was told of one recipient's message.
struct heard_answer {
    std::shared_ptr<const std::string> text;
    unsigned recipient = 0;
    unsigned code = 0;
};

// Of a connection, for as long as the run is judged.
struct log_of_line {
    protocol spoken = protocol::pop3;
    std::vector<said> all;
    std::uint64_t commands = 0;  // that the server had whole
    std::uint64_t whole = 0;     // messages (over LMTP: recipients) that an answer was due for
    std::uint64_t accepted = 0;  // the same of a client, that it heard 250 for
    bool bad_manners = false;    // it said what is no answer
    nanoseconds slowest{0};      // that it let the other side wait for what it said
    std::vector<std::shared_ptr<const std::string>> sent{};  // by a client, perhaps not whole
    std::vector<heard_answer> heard{};
};

// What all servers of a run share.
struct house {
    mailboxes boxes{};
    std::set<std::pair<std::uint64_t, std::uint64_t>> arrived{};  // over SMTP: session, sequence
    std::uint64_t taken = 0;                                      // of these, with 250
    server_traits traits{};
    bool exclusive = true;                      // no account is visited twice at once
    bool any_may_go = false;                    // mail that is not ours, too
    std::vector<std::string> wrong{};           // what no client may do
    std::vector<std::function<void()>> told{};  // when mail has come: sessions in IDLE

    void removing(const stored& what) {
        if (what.what == content::foreign && !any_may_go)
            wrong.emplace_back("mail of others is deleted");
    }
};

class dialogue : public peer {
  public:
    dialogue(house& of, line& to, log_of_line& log, std::vector<bad_answer> bad)
        : house_(of), line_(to), log_(log), bad_(std::move(bad)) {}
    void heard(std::string_view octets) final;

  protected:
    // Takes whole commands from the front, and gives how many octets that were; 0: wait for more.
    virtual std::size_t take(std::string_view text) = 0;

    void begin_answer() { answer_.clear(), marks_.clear(); }
    void add(std::string_view text) { answer_ += text; }
    void mark(said::kind what) { marks_.push_back({what, answer_.size()}); }
    void mark_message(const stored& which) {
        marks_.push_back({said::kind::message, answer_.size(), which.what, which.text->size()});
    }
    void mark_octets(said::kind what, std::uint64_t octets) {
        marks_.push_back({what, answer_.size(), content::ours, octets});
    }
    // False once the connection is over, or left in silence.
    [[nodiscard]] bool speaks() const noexcept { return !mute_; }
    // How the answer to the command in hand will be; it counts.
    manner next_manner();
    // Says what was added; false when the connection is over.
    bool send_answer(manner how);

    house& house_;
    line& line_;
    log_of_line& log_;

  private:
    std::vector<bad_answer> bad_;
    std::size_t commands_ = 0;
    nanoseconds late_{0};
    bool mute_ = false;
    std::string input_;
    std::string answer_;
    std::vector<said> marks_;
};

// As content goes over the wire (RFC 5321 4.5.2, RFC 1939 3): lines that begin with a dot get one
// more.
std::string stuffed(std::string_view text);

// What a client wants.
struct errand {
    std::vector<stored> messages{};
    unsigned recipients = 1;
    bool pipelines = true;
    bool chunks = false;
};

std::unique_ptr<peer> make_smtp_client(house& of, line& to, log_of_line& log,
                                       std::vector<bad_answer> bad, errand does);
std::unique_ptr<peer> make_pop3_server(house& of, line& to, log_of_line& log,
                                       std::vector<bad_answer> bad);
std::unique_ptr<peer> make_smtp_server(house& of, line& to, log_of_line& log,
                                       std::vector<bad_answer> bad);
std::unique_ptr<peer> make_imap_server(house& of, line& to, log_of_line& log,
                                       std::vector<bad_answer> bad);

}  // namespace clients
