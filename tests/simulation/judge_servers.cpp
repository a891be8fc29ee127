// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>

#include "judgements.hpp"

namespace simulation {

namespace {

void served(const evidence& what, verdict& found) {
    std::uint64_t messages = 0;
    std::uint64_t recipients = 0;
    for (const connection_record& line : what.connections) {
        for (const served_transaction& one : line.served) {
            recipients += one.accepted;
            messages += what.of.lmtp ? one.accepted : one.accepted > 0;
        }
    }
    found.equal("messages that the servers count", what.servers.messages, messages);
    found.equal("recipients that the servers count", what.servers.recipients, recipients);
}

// Whether nothing is to break and everybody has all the time and the room that he needs: with less
// of it two who write and do not read wait for each other until one gives up.
bool is_calm(const scenario& of) {
    const auto harmless = [](const server_fault& one) {
        const bool of_mail = one.stage == postal::proto::server_stage::rset ||
                             one.stage == postal::proto::server_stage::mail;
        return one.close == postal::proto::cut::no && one.code != 421 && one.delay.count() == 0 &&
               !one.no_memory && !of_mail;
    };
    const bool may_wait_long = of.agents.has_value();
    return !may_wait_long && of.room == scenario().room && of.losses.empty() && of.lies.empty() &&
           !of.stop_gently && !of.stop_now && !of.servers_stop &&
           std::all_of(of.refusals.begin(), of.refusals.end(), harmless);
}

// As long as no connection breaks both count the same events: docs/method.md.
void both_sides(const evidence& what, verdict& found) {
    const auto broken = [](const connection_record& one) {
        return one.goodbye.code != 0 || !one.left_out.empty();
    };
    const auto& all = what.connections;
    if (!is_calm(what.of) || std::any_of(all.begin(), all.end(), broken)) return;
    found.equal("started at the servers", what.servers.started, what.senders.started);
    found.equal("rejected by the servers", what.servers.rejected, what.senders.rejected);
    found.equal("deferred by the servers", what.servers.deferred, what.senders.deferred);
    found.equal("failed at the servers", what.servers.failed, what.senders.failed);
    found.equal("in doubt at the servers", what.servers.in_doubt, what.senders.in_doubt);
}

// What is said of a recipient's delivery is what his agent did, or would have if it had been begun.
void agents_books(const evidence& what, verdict& found) {
    if (what.servers.withdrawn > what.servers.deferred)
        found.wrong("{} deliveries were withdrawn, and {} deferred", what.servers.withdrawn,
                    what.servers.deferred);
    if (!what.of.agents && what.servers.withdrawn > 0) found.wrong("bhm has withdrawn mail");
}

// Those whose reply never left are unheard for certain. Others may be that left with it in part: a
// server knows what has left by the whole of what it wrote at once.
// Whoever has said QUIT, and has read all that was said, has missed nothing.
bool heard_everything(const connection_record& line) {
    const direction& replies = line.line.from(side::server);
    return line.line.from(side::client).said().ends_with("QUIT\r\n") && !line.heard.empty() &&
           line.heard.back().until == replies.said().size();
}

void unheard(const evidence& what, verdict& found) {
    std::uint64_t least = 0;
    std::uint64_t most = 0;
    for (const connection_record& line : what.connections) {
        if (line.lies) return;
        const std::size_t left = line.line.from(side::server).said().size();
        for (const served_transaction& one : line.served) {
            if (one.accepted == 0) continue;
            const std::uint32_t units = what.of.lmtp ? one.accepted : 1;
            std::uint32_t answered = 0;
            for (const said_reply& end : one.ends) {
                answered += end.positive() ? 1 : 0;
                least += end.positive() && end.end > left ? 1 : 0;
            }
            if (answered < units) least += units - answered;
            if (!heard_everything(line)) most += units;
        }
    }
    if (what.servers.unheard < least)
        found.wrong("{} messages are unheard, and not {} or more", what.servers.unheard, least);
    if (what.servers.unheard > most)
        found.wrong("{} messages are unheard, and not {} or less", what.servers.unheard, most);
}

}  // namespace

void judge_servers(const evidence& what, verdict& found) {
    served(what, found);
    unheard(what, found);
    agents_books(what, found);
    both_sides(what, found);
}

}  // namespace simulation
