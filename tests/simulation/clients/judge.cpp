// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "postal/phases.hpp"
#include "rabid/phases.hpp"
#include "run.hpp"

namespace clients {

namespace {

using std::chrono::milliseconds;

// Sums over all connections, of what the program had read when each ended.
struct truth {
    std::uint64_t made = 0;
    std::uint64_t greeted = 0;
    std::uint64_t by_kind[static_cast<std::size_t>(said::kind::message_refused) + 1]{};
    std::uint64_t by_content[3]{};
    std::uint64_t octets = 0;  // of messages
    std::uint64_t deleted = 0;
    std::uint64_t marked_in_vain = 0;
    std::uint64_t commands = 0;  // over IMAP, of which the servers had all octets
    std::uint64_t whole = 0;     // messages that the servers had
    std::uint64_t heard = 0;     // that clients of a server know to be accepted
    nanoseconds longest_silence{0};
    nanoseconds longest_unheeded{0};
    nanoseconds last_closed{0};
    bool garbage = false;

    std::uint64_t of(said::kind what) const { return by_kind[static_cast<std::size_t>(what)]; }
};

void add_line(truth& to, const line& of, const log_of_line& log) {
    to.made += of.made() ? 1 : 0;
    to.longest_silence = std::max(to.longest_silence, of.last_silence());
    to.longest_unheeded = std::max(to.longest_unheeded, of.last_unheeded());
    to.last_closed = std::max(to.last_closed, of.closed_at());
    to.garbage = to.garbage || log.bad_manners;
    to.whole += log.whole;
    to.heard += log.accepted;
    if (log.spoken == protocol::imap) to.commands += log.commands;
    std::uint64_t marked = 0;
    bool goodbye = false;
    for (const said& one : log.all) {
        if (one.until > of.read()) break;
        ++to.by_kind[static_cast<std::size_t>(one.what)];
        marked += one.what == said::kind::marked ? 1 : 0;
        goodbye = goodbye || one.what == said::kind::goodbye;
        to.octets += one.octets;
        if (one.what == said::kind::message) ++to.by_content[static_cast<std::size_t>(one.of)];
    }
    (goodbye ? to.deleted : to.marked_in_vain) += marked;
}

class verdict {
  public:
    explicit verdict(std::vector<std::string>& wrong) : wrong_(wrong) {}
    void equal(std::string_view what, std::uint64_t counted, std::uint64_t true_one) {
        if (counted != true_one)
            wrong_.push_back(fmt::format("{}: counted {}, true is {}", what, counted, true_one));
    }
    void between(std::string_view what, std::uint64_t counted, std::uint64_t least,
                 std::uint64_t most) {
        if (counted < least || counted > most)
            wrong_.push_back(
                fmt::format("{}: counted {}, true is {} to {}", what, counted, least, most));
    }
    void at_most(std::string_view what, nanoseconds was, nanoseconds most) {
        if (was > most)
            wrong_.push_back(fmt::format("{}: {} ms, {} at most", what, was / milliseconds(1),
                                         most / milliseconds(1)));
    }

  private:
    std::vector<std::string>& wrong_;
};

// What must hold whatever servers say.
void judge_sums(const scenario& of, const truth& is, const outcome& what, verdict& must) {
    const postal::stats::tally& counted = what.counted;
    must.at_most("the end", what.ended, of.at_once + milliseconds(500));
    must.equal(
        "started", counted.started,
        counted.messages + counted.rejected + counted.deferred + counted.failed + counted.in_doubt);
    const auto commands = counted.commands.total();
    must.equal("commands", commands.sent,
               commands.ok + commands.no + commands.bad + commands.unanswered);
    must.between("connections", counted.connections, is.greeted, is.made);
    if (of.serves()) return;
    must.equal("times of connecting", counted.latency[0].count(), counted.connections);
    const std::uint64_t tickets =
        of.which == client_kind::sender ? counted.started : counted.connections;
    if (of.which == client_kind::reader || !of.lmtp) must.between("begun", tickets, 0, of.tickets);
}

// Who waits for nobody leaves a server that is silent, and one that has left.
void judge_waiting(const scenario& of, const truth& is, verdict& must) {
    constexpr auto two_ticks = milliseconds(200);
    if (of.pauses) return;
    // Octets that were on their way when a reply was due give the server that time once more.
    const int times = of.which == client_kind::sender ? 2 : 1;
    must.at_most("silence", is.longest_silence, times * of.timeout + two_ticks);
    must.at_most("octets or an end that nobody looks at", is.longest_unheeded, two_ticks);
}

void judge_reader(const scenario& of, const simulated_system& below, const house& servers,
                  const truth& is, const postal::stats::tally& counted, verdict& must) {
    using postal::rabid::phase;
    const auto times = [&](phase what) {
        return counted.latency[static_cast<std::size_t>(what)].count();
    };
    const auto sort = [&](content what) { return is.by_content[static_cast<std::size_t>(what)]; };
    if (of.first_what_is_due)  // an open loop
        must.equal("visits due", counted.due, counted.connections + counted.not_started);
    must.equal("messages", counted.messages,
               counted.verified + counted.foreign + counted.corrupt + counted.original);
    if (is.garbage) return;
    must.equal("times of greetings", times(phase::banner), is.greeted);
    must.equal("times of logins", times(phase::login), is.of(said::kind::let_in));
    must.equal("times of reading", times(phase::retrieve), is.of(said::kind::message));
    must.equal("messages", counted.messages, is.of(said::kind::message));
    must.equal("octets", counted.bytes, is.octets);
    must.equal("verified", counted.verified, sort(content::ours));
    must.equal("corrupt", counted.corrupt, sort(content::changed));
    must.equal("foreign", counted.foreign, sort(content::foreign));
    must.equal("rejected", counted.rejected, is.of(said::kind::no_message));
    const auto commands = counted.commands.total();
    must.equal("commands answered with OK", commands.ok, is.of(said::kind::ok));
    must.equal("commands answered with NO", commands.no, is.of(said::kind::no));
    must.equal("commands answered with BAD", commands.bad, is.of(said::kind::bad));
    must.between("commands", commands.sent, is.commands, is.commands + below.lines().size());
    must.equal("appended", counted.appended, is.of(said::kind::appended));
    std::uint64_t removed = 0;
    std::uint64_t appended = 0;
    for (const auto& [name, box] : servers.boxes) {
        removed += box.removed;
        appended += box.appended;
    }
    must.between("appended, by the servers", appended, counted.appended,
                 counted.appended + counted.append_in_doubt);
    must.between("deletions in doubt", counted.delete_in_doubt, is.marked_in_vain,
                 counted.imap_connections == 0 ? is.marked_in_vain : UINT64_MAX);
    // Of accounts that several visit at once two may be told that they deleted the same.
    if (!of.exclusive) return;
    must.equal("deleted", counted.deleted, is.deleted + is.of(said::kind::expunged));
    must.between("removed, by the servers", removed, counted.deleted, UINT64_MAX);
}

void judge_sender(const scenario& of, const house& servers, const truth& is, const outcome& what,
                  verdict& must) {
    using postal::sender::phase;
    const postal::stats::tally& counted = what.counted;
    const auto times = [&](phase which) {
        return counted.latency[static_cast<std::size_t>(which)].count();
    };
    if (of.first_what_is_due)
        must.equal("messages due", counted.due, counted.started + counted.not_started);
    must.equal("times of messages", times(phase::message), counted.messages);
    if (is.garbage) return;
    must.equal("times of greetings", times(phase::banner), is.greeted);
    must.equal("accepted", counted.messages, is.of(said::kind::message_taken));
    if (!of.lmtp) must.equal("octets", counted.bytes, is.octets);
    const std::uint64_t answered =
        is.of(said::kind::message_taken) + is.of(said::kind::message_refused);
    must.between("in doubt", counted.in_doubt, is.whole - answered, counted.started);
    must.between("accepted, by the servers", servers.taken, counted.messages,
                 counted.messages + counted.in_doubt);
    const bool calm = of.broken_lines == 0 && of.bad_answers == 0 && of.most_latency.count() == 0 &&
                      what.ended < of.at_once;
    if (calm) must.equal("accepted where nothing happens", counted.messages, counted.started);
}

// Who comes is let in at once, but for a rest where that failed; and is counted as what became of him.
void judge_accepting(const scenario& of, const acceptances& is, const postal::stats::tally& counted,
                     verdict& must) {
    const auto total = [](const auto& all, auto which) {
        return std::accumulate(
            all.begin(), all.end(), std::uint64_t{0},
            [&](std::uint64_t sum, const auto& one) { return sum + (which(one) ? one.count : 0); });
    };
    const std::uint64_t refused =
        total(counted.limits.sorted(), [](const auto& one) { return one.name == "sessions"; });
    const std::uint64_t failed = total(counted.errors.entries(), [](const auto& one) {
        return one.stage == postal::stats::connect_stage && one.detail == "resources";
    });
    must.equal("connections", counted.connections + refused, is.taken - is.without_memory);
    must.equal("clients who could not be let in", failed, is.failed + is.without_memory);
    if (is.most_open <= of.most_sessions) must.equal("clients too many", refused, 0);
    must.at_most("a client who is not let in", is.longest_wait, milliseconds(1));
}

// What clients sent is counted as what it is; that some of it was not taken has to be somebody's
// fault.
void judge_receiver(const scenario& of, const truth& is, const outcome& what, verdict& must) {
    const postal::stats::tally& counted = what.counted;
    const std::uint64_t sent = is.of(said::kind::message);
    must.between("accepted", counted.messages, is.heard, is.garbage ? UINT64_MAX : sent);
    const bool verifies = std::find(of.words.begin(), of.words.end(), "--verify") == of.words.end();
    if (is.garbage || of.lmtp || !verifies) return;
    const auto sort = [&](content which) { return is.by_content[static_cast<std::size_t>(which)]; };
    must.between("verified", counted.verified, 0, sort(content::ours));
    must.between("corrupt", counted.corrupt, 0, sort(content::changed));
    must.between("foreign", counted.foreign, 0, sort(content::foreign));
    must.equal("messages by what they are", counted.messages,
               counted.verified + counted.corrupt + counted.foreign);
    const bool calm = of.exact && of.broken_lines == 0 && of.bad_answers == 0 &&
                      of.most_latency.count() == 0 && is.last_closed < of.gently;
    if (!calm) return;
    must.equal("accepted where nothing happens", counted.messages, sent);
    must.equal("octets", counted.bytes, is.octets);
}

}  // namespace

void judge(const scenario& of, const simulated_system& below, const house& servers, outcome& what) {
    verdict must(what.wrong);
    what.wrong.insert(what.wrong.end(), servers.wrong.begin(), servers.wrong.end());
    truth is;
    for (const auto& one : below.lines())
        add_line(is, *one, what.logs[one->number()]);
    is.greeted = is.of(said::kind::greeting);
    judge_sums(of, is, what, must);
    if (of.which == client_kind::reader) judge_reader(of, below, servers, is, what.counted, must);
    if (of.which == client_kind::sender) judge_sender(of, servers, is, what, must);
    if (of.which == client_kind::receiver) judge_receiver(of, is, what, must);
    if (of.serves()) judge_accepting(of, below.accepted(), what.counted, must);
    if (of.which == client_kind::deliverer && !is.garbage) judge_agents(of, below, what);
    if (is.garbage) return;
    judge_waiting(of, is, must);
    // A run that ends by itself has done all that was asked for.
    const bool serves = of.serves();
    const bool by_itself = what.ended < of.gently && !of.lmtp && !serves;
    const std::uint64_t tickets =
        of.which == client_kind::sender ? what.counted.started : what.counted.connections;
    if (by_itself) must.equal("done when all was done", tickets, of.tickets);
    // Nobody rests for longer than this before he tries again.
    constexpr auto longest_rest = std::chrono::seconds(10);
    if (!serves && !of.lmtp && !of.pauses && is.last_closed < of.gently - longest_rest)
        must.equal("done when nobody does anything more", tickets, of.tickets);
    if (of.even_rate > 0) {
        const auto due = static_cast<std::uint64_t>(
            of.even_rate * std::chrono::duration<double>(of.gently).count());
        must.between("due at an even rate", what.counted.due, std::min(due, of.tickets),
                     std::min(due + 1, of.tickets));
    }
}

}  // namespace clients
