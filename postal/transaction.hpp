// SPDX-License-Identifier: GPL-3.0-or-later
// One mail transaction (RFC 5321 3.3) of a connection: what has been said of it and what was
// answered; with the replies and moments that it is made of.
#pragma once

#include <chrono>
#include <cstdint>
#include <limits>
#include <string_view>
#include <vector>

#include "ledger/rows.hpp"
#include "load/due_times.hpp"
#include "load/watched.hpp"
#include "mail/message.hpp"
#include "proto/smtp/reply_parser.hpp"

namespace postal::sender {

// One moment on both clocks: the steady one times, the wall's stands in messages and ledgers.
struct moment {
    load::steady_time steady{};
    std::chrono::nanoseconds since_epoch{0};

    std::chrono::system_clock::time_point wall() const noexcept {
        return std::chrono::system_clock::time_point(
            std::chrono::duration_cast<std::chrono::system_clock::duration>(since_epoch));
    }
    std::uint64_t wall_us() const noexcept {
        return static_cast<std::uint64_t>(since_epoch.count()) / 1000;
    }
};

// A reply of the server as its consequences need it (RFC 5321 4.2).
struct reply {
    int code = 0;  // 0: there was none
    std::string_view text;
    std::string_view said{};  // what the server said, where the text is not that alone

    // Read only where it is shown: most replies are not.
    std::string_view enhanced() const noexcept {
        return proto::enhanced_status(said.empty() ? text : said);
    }
    bool positive() const noexcept { return code / 100 == 2; }
    bool negative() const noexcept { return code >= 400; }
    bool permanent() const noexcept { return code >= 500; }
};

// What is to be said next.
enum class utterance : std::uint8_t {
    mail,
    rcpt,
    data,         // DATA, or BDAT with the message
    wait,         // nothing until DATA is answered
    message,      // the message and its end
    end_of_data,  // the end alone, because nobody is to receive it
    nothing       // all has been said
};

// What is known of one recipient's message; kept for the ledger only.
struct fate {
    // until RCPT is answered, until the message is, then ended
    enum state_kind : std::uint8_t { waits, taken, ended };
    state_kind state = waits;
    ledger::outcome what = ledger::outcome::accepted;
    std::uint16_t code = 0;
    ledger::short_text enhanced;
    std::uint64_t time_us = 0;
};

struct transaction {
    static constexpr std::uint64_t not_said = std::numeric_limits<std::uint64_t>::max();

    utterance next = utterance::mail;
    bool mail_refused = false;
    bool overlapped = false;       // its first command left behind another message
    bool envelope_timed = false;   // and stands in the figures
    int refusal = 0;               // the last 4xx to a RCPT, or else the last 5xx
    std::uint32_t said = 0;        // RCPT commands
    std::uint32_t answered = 0;    // replies to them
    std::uint32_t accepted = 0;    // of them positive ones
    std::uint32_t ends = 0;        // replies after the message
    std::uint32_t open_units = 0;  // started, and without an outcome yet
    std::uint64_t octets = 0;      // of the message
    // Where in the octets of the connection's output it stands: its first command, its message
    // (what has left is forgotten), the octet behind it.
    std::uint64_t begins_at = not_said;
    std::uint64_t data_at = not_said;
    std::uint64_t complete_at = 0;
    load::steady_time due{};            // where no schedule has said it
    load::due_times each_due;           // of those that have no outcome yet, in their order
    load::steady_time begun{};          // when the first command left
    load::steady_time envelope_done{};  // the go-ahead, or the last RCPT's reply before a chunk
    // When the message's first octet left, or the one before it was answered, if that was later.
    load::steady_time data_begun{};
    std::uint64_t session = 0;
    std::uint64_t sequence = 0;
    std::string_view sender;
    std::uint32_t sender_index = 0;         // in the plan's list
    mail::message* message = nullptr;       // borrowed from the worker's pool until it is written
    std::vector<std::uint32_t> recipients;  // in the plan's list
    std::vector<fate> fates;                // of each; empty without a ledger

    load::steady_time due_of(std::size_t which) const noexcept {
        return which < each_due.size() ? each_due[which] : due;
    }
    bool envelope_answered() const noexcept { return answered == recipients.size(); }
};

}  // namespace postal::sender
