// SPDX-License-Identifier: GPL-3.0-or-later
#include "postal/dry_run.hpp"

#include <algorithm>
#include <chrono>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "base/text.hpp"
#include "base/units.hpp"
#include "postal/message_maker.hpp"
#include "program/dry_run.hpp"

namespace postal::sender {

namespace {

constexpr std::uint64_t most_shown = 5;
constexpr std::size_t most_address = 80;
constexpr std::size_t most_recipients_shown = 3;

// A session's first transaction; but for its sender where who logs in is the sender.
transaction first_of(message_maker& maker, std::uint64_t session) {
    transaction tx;
    tx.session = session;
    maker.make(tx, std::nullopt, std::numeric_limits<std::uint64_t>::max(),
               std::chrono::system_clock::now());
    return tx;
}

std::string envelope_text(const plan& of, const transaction& tx) {
    const bool is_login = of.load.auth.chosen.wanted() && of.auth_users.empty();
    std::string text = is_login ? "whoever logs in" : base::printable(tx.sender, most_address);
    text += " to ";
    const std::size_t shown = std::min(tx.recipients.size(), most_recipients_shown);
    for (std::size_t i = 0; i < shown; ++i) {
        text += i == 0 ? "" : ", ";
        text += base::printable(of.recipients[tx.recipients[i]].address, most_address);
    }
    if (tx.recipients.size() > shown)
        text += " and " + base::format_amount(tx.recipients.size() - shown, "other");
    return fmt::format("{}, {} octets", text, base::format_count(tx.message->total_octets()));
}

std::string sizes_text(const plan& of) {
    if (of.corpus)
        return fmt::format("one of the corpus, which has {}",
                           base::format_amount(of.corpus->mails().size(), "mail"));
    return of.generated->options().sizes.text();
}

std::string per_connection(std::int64_t most) {
    if (most < 0) return "messages without end";
    if (most == 0) return "no message: it only connects";
    return most == 1 ? "1 message" : fmt::format("1 to {} messages, at random", most);
}

std::string recipients_text(const recipient_range& range) {
    return range.least == range.most ? base::format_amount(range.least, "recipient")
                                     : fmt::format("{} to {} recipients", range.least, range.most);
}

}  // namespace

std::string describe_dry_run(const plan& of) {
    const options& chosen = of.chosen;
    program::dry_run_rows rows;
    rows.emplace_back("protocol", chosen.lmtp ? "LMTP" : "SMTP");
    program::add_servers(rows, "servers", of.targets);
    rows.emplace_back("sessions", std::to_string(of.load.sessions));
    program::add_load(rows, of.load, chosen, {"messages", "--messages", chosen.messages});
    rows.emplace_back("users", base::format_amount(of.recipients.size(), "recipient") + ", " +
                                   base::format_amount(of.senders.size(), "sender"));
    rows.emplace_back("a connection", per_connection(chosen.messages_a_connection));
    rows.emplace_back("a message", fmt::format("{}; size {}", recipients_text(chosen.recipients),
                                               sizes_text(of)));
    if (chosen.messages_a_connection == 0) return program::format_rows(rows);
    message_maker maker(of);
    const std::uint64_t sessions = std::min<std::uint64_t>(
        {of.load.sessions, most_shown, chosen.messages.value_or(most_shown)});
    for (std::uint64_t i = 0; i < sessions; ++i) {
        const std::uint64_t session = of.load.share.number(i);
        const transaction tx = first_of(maker, session);
        rows.emplace_back(fmt::format("session {}", session), envelope_text(of, tx));
    }
    return program::format_rows(rows);
}

std::string first_message(const plan& of) {
    message_maker maker(of);
    const transaction tx = first_of(maker, of.load.share.number(0));
    std::string text;
    for (const std::string_view part : tx.message->raw_parts())
        text += part;
    return text;
}

}  // namespace postal::sender
