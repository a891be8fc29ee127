// SPDX-License-Identifier: GPL-3.0-or-later
// What a mailbox that has been in use for years holds: which messages, in which folders, of when,
// in which threads, with which flags.
//
// Flow: population_plan all = ...; mailbox_plan box = plan_mailbox(all, address, messages);
//       for a sequence n: box.messages[n], references_of(box, n), flags_text(all, flags).
//
// All of it follows from the plan, the address and the number of messages alone: neither the other
// accounts nor who fills the mailbox matter. Folders and dates of replies are drawn with exp(),
// log() and pow(), which another C library may round otherwise; all else is the same on every host.
//
// A message is one of a thread, as often and in threads as large as in the Enron corpus (Klimt and
// Yang, Introducing the Enron Corpus, CEAS 2004, table of thread sizes), or stands alone; a thread
// lies in one folder, which is drawn by Zipf's law. Threads begin anywhere within the years; how
// soon somebody answers, and the shares of flags, are what the plan says, and no claim about what
// mail is like.
//
// Sequences are in the order of dates, so that UIDs are where a folder is filled in that order.
// Nothing fails. Memory: 24 octets a message, and as many again while it is planned.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.hpp"

namespace postal::mail {

// A flag or a keyword of IMAP, and how many of all messages have it. \Answered is drawn among
// those that have a reply.
struct flag_share {
    std::string flag;
    double share = 0;
};

struct population_plan {
    std::uint64_t seed = 1;
    std::vector<std::string> folders{"INBOX"};  // levels with "/" between; the first has most
    double zipf = 1;                            // exponent of the folders' shares
    std::chrono::sys_seconds until{};           // the last date
    std::chrono::seconds span{};                // and how long before it the first
    bool threads = true;
    double median_reply_s = 3600;  // lognormal, sigma 2
    std::vector<flag_share> flags;
};

inline constexpr std::uint32_t no_parent = std::numeric_limits<std::uint32_t>::max();
inline constexpr std::size_t most_flags = 16;

struct planned_message {
    std::int64_t date_s = 0;  // since the epoch
    std::uint32_t parent = no_parent;
    std::uint32_t root = 0;  // of its thread; itself when it stands alone
    std::uint16_t folder = 0;
    std::uint16_t flags = 0;  // a bit for each of the plan's
};

struct mailbox_plan {
    std::vector<planned_message> messages;  // by sequence
};

[[nodiscard]] mailbox_plan plan_mailbox(const population_plan& of, std::string_view address,
                                        std::uint64_t messages);

// The number that stands for an account in identities: the same wherever the account is listed.
[[nodiscard]] std::uint64_t account_number(std::string_view address) noexcept;

// The sequences of a message's ancestors, the oldest first: of its thread at most the first and the
// nine nearest (RFC 5322 3.6.4 and RFC 5537 3.4.4 let what is between be left out).
[[nodiscard]] std::vector<std::uint32_t> references_of(const mailbox_plan& box, std::uint32_t n);

// "(\Seen $Forwarded)", or nothing without flags.
[[nodiscard]] std::string flags_text(const population_plan& of, std::uint16_t flags);

}  // namespace postal::mail
