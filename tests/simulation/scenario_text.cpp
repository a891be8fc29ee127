// SPDX-License-Identifier: GPL-3.0-or-later
#include "scenario_text.hpp"

#include <array>
#include <string_view>

#include <fmt/format.h>

namespace simulation {

namespace {

using postal::proto::cut;

std::string_view word(side one) {
    return one == side::client ? "the client" : "the server";
}

std::string_view word(loss one) {
    static constexpr std::array<std::string_view, 4> words{"is closed", "is reset", "falls silent",
                                                           "stalls"};
    return words[static_cast<std::size_t>(one)];
}

std::string_view word(lie one) {
    static constexpr std::array<std::string_view, 7> words{
        "another code",    "nothing",          "it twice",   "garbage",
        "an endless line", "an endless reply", "mixed codes"};
    return words[static_cast<std::size_t>(one)];
}

std::string_view word(harm one) {
    static constexpr std::array<std::string_view, 5> words{"lost", "delivered twice", "changed",
                                                           "delivered to another", "vanishes"};
    return words[static_cast<std::size_t>(one)];
}

std::string word(nanoseconds time) {
    return fmt::format("{:.6f} s", std::chrono::duration<double>(time).count());
}

std::string word(const line_number& one) {
    return fmt::format("{}.{}", one.session, one.connection);
}

std::string_view word(agent_way one) {
    static constexpr std::array<std::string_view, 6> words{
        "ends", "is killed by a signal", "hangs", "is stubborn", "stays for ever", "is not there"};
    return words[static_cast<std::size_t>(one)];
}

std::string word(const agent_fault& one) {
    std::string said = fmt::format("agent {} {}", one.nth, word(one.how));
    if (one.how == agent_way::ends) said += fmt::format(" with {}", one.status);
    said += " after " + word(one.lasts);
    if (one.delivers) said += ", has delivered";
    if (one.talks) said += ", talks";
    return said;
}

std::string word(const agent_rules& one) {
    return fmt::format(
        "{} agents, {} for a recipient, queue {}, wait {}, timeout {}, each takes {}", one.slots,
        one.a_recipient, one.longest_queue, word(one.longest_wait), word(one.timeout),
        word(one.lasts));
}

std::string word(const reader_visit& one) {
    std::string said = fmt::format("a reader of mailbox {} by {} at {}", one.mailbox,
                                   one.imap ? "IMAP" : "POP3", word(one.when));
    if (one.refused) return said + " is refused";
    if (one.download_percent != 100) said += fmt::format(", reads {} %", one.download_percent);
    if (one.delete_percent != 0) said += fmt::format(", removes {} %", one.delete_percent);
    if (one.breaks_behind != reader_visit::never)
        said += fmt::format(", breaks off behind {}", one.breaks_behind);
    return said;
}

std::string word(const server_fault& one) {
    static constexpr std::array<std::string_view, 4> cuts{"", ", then closes", ", then resets",
                                                          ", then falls silent"};
    std::string said = one.code == 0 ? "the usual reply" : fmt::format("{}", one.code);
    if (one.no_memory) said = "no memory";
    if (one.code == 0 && one.close != cut::no) said = "no reply";
    if (one.delay.count() > 0) said += " after " + word(one.delay);
    const std::string when =
        one.nth == server_fault::each_time ? "each time" : fmt::format("at {}", one.nth);
    return fmt::format("server {}: {} {}{}", to_text(one.stage), when, said,
                       cuts[static_cast<std::size_t>(one.close)]);
}

}  // namespace

std::string text(const scenario& of) {
    static constexpr std::array<std::string_view, 3> pipelinings{"auto", "overlap", "off"};
    std::string all = fmt::format(
        "seed {}: {}, {} messages, {} sessions, {} a connection, {} to {} recipients, sizes {}\n"
        "  pipelining {}{}, chunking {}{}, in flight {}",
        of.seed, of.lmtp ? "LMTP" : "SMTP", of.messages, of.sessions, of.messages_a_connection,
        of.least_recipients, of.most_recipients, of.kind_of_messages,
        pipelinings[static_cast<std::size_t>(of.pipelining)],
        of.offers_pipelining ? "" : " (not offered)", of.chunking ? "auto" : "off",
        of.offers_chunking ? "" : " (not offered)", of.in_flight);
    if (!of.offers_8bit) all += ", 8BITMIME not offered";
    if (of.rate > 0)
        all += fmt::format(", {:.2f}/s {}{}", of.rate, of.open_loop ? "open loop" : "at most",
                           of.poisson ? ", poisson" : "");
    all += fmt::format("\n  patience {} and {}, message time {}, {} octets/s, {} recipients",
                       word(of.client_timeout), word(of.server_timeout), word(of.message_time),
                       of.min_data_rate, of.max_recipients);
    if (of.tight_limits) all += ", tight limits";
    all += fmt::format("\n  latency {} + {}, room {}{}\n", word(of.latency), word(of.jitter),
                       of.room, of.chops ? ", in pieces" : "");
    for (const network_fault& one : of.losses) {
        all += fmt::format("  connection {}: {} behind octet {} of {}", word(one.where),
                           word(one.what), one.at, word(one.from));
        all += one.what == loss::stall ? fmt::format(" for {}\n", word(one.lasts)) : "\n";
    }
    for (const server_fault& one : of.refusals)
        all += fmt::format("  connection {}: {}\n", word(one.where), word(one));
    for (const lying_reply& one : of.lies) {
        all += fmt::format("  connection {}: in the place of reply {} {} ({})\n", word(one.where),
                           one.nth, word(one.how), one.code);
    }
    if (of.agents) all += fmt::format("  {}\n", word(*of.agents));
    for (const agent_fault& one : of.agent_faults)
        all += fmt::format("  {}\n", word(one));
    for (const harmed_message& one : of.harms) {
        all += fmt::format("  message {}.{}: accepted and {}\n", one.session, one.sequence,
                           word(one.how));
    }
    for (const reader_visit& one : of.visits)
        all += fmt::format("  {}\n", word(one));
    if (of.stop_gently) all += fmt::format("  stops gently at {}\n", word(*of.stop_gently));
    if (of.stop_now) all += fmt::format("  stops at once at {}\n", word(*of.stop_now));
    if (of.servers_stop) all += fmt::format("  servers stop at {}\n", word(*of.servers_stop));
    return all;
}

}  // namespace simulation
