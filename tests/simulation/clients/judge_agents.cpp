// SPDX-License-Identifier: GPL-3.0-or-later
// What must hold of the agents of lmtp-deliver, and of what its clients are told of them.
#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "run.hpp"

namespace clients {

namespace {

using std::chrono::seconds;

// As the agent is to have it.
std::string for_agent(const scenario& of, const std::string& text) {
    std::string made = text;
    if (!of.keeps_crlf) std::erase(made, '\r');
    return made;
}

// The class of the reply that a status asks for.
unsigned class_of(const child_process& who) {
    constexpr int deferred[]{71, 75};
    constexpr int rejected[]{64, 65, 67, 69, 70, 73, 74, 77, 78};
    const auto is_one_of = [&](const auto& all) {
        return std::find(std::begin(all), std::end(all), who.traits.status) != std::end(all);
    };
    if (who.exited_with(0)) return 2;
    const bool by_status = !who.asked && who.traits.signal == 0;
    if (by_status && is_one_of(rejected)) return 5;
    return !by_status || is_one_of(deferred) ? 4 : 0;  // 0: it is not said here
}

using deliveries = std::map<std::pair<std::string, std::string>, const child_process*>;

deliveries gather(const scenario& of, const simulated_system& below, outcome& what) {
    std::set<std::string> sent;
    for (const log_of_line& log : what.logs)
        for (const auto& text : log.sent)
            sent.insert(for_agent(of, *text));
    deliveries made;
    for (const auto& one : below.children()) {
        if (!one->ran()) continue;
        if (!sent.contains(one->input))
            what.wrong.emplace_back("an agent was given what nobody has sent");
        if (!made.emplace(std::pair(one->input, one->recipient), one.get()).second)
            what.wrong.emplace_back("a message was given to two agents of a recipient");
    }
    return made;
}

// Where no agent fails to begin, none waits in vain, and all clients had left before the end.
bool each_has_an_agent(const scenario& of, const simulated_system& below) {
    const auto& words = of.words;
    const bool waits = std::any_of(words.begin(), words.end(), [](const std::string& one) {
        return one == "--max-queued" || one == "--queue-timeout";
    });
    return of.bad_agents == 0 && !waits &&
           std::all_of(below.lines().begin(), below.lines().end(),
                       [&](const auto& one) { return one->closed_at() < of.gently; });
}

// What a client has under way when its time is up is answered with the goodbye.
bool was_too_slow(const scenario& of, const log_of_line& log, unsigned code) {
    return code == 421 && log.slowest + 2 * of.most_latency >= of.timeout;
}

void judge_answers(const scenario& of, const deliveries& all, bool each_has_one, outcome& what) {
    for (const log_of_line& log : what.logs) {
        for (const heard_answer& one : log.heard) {
            const auto name = fmt::format("user{}@example.com", one.recipient);
            const auto found = all.find({for_agent(of, *one.text), name});
            if (each_has_one && found == all.end() && !was_too_slow(of, log, one.code))
                what.wrong.push_back(fmt::format("{}: told {} without an agent", name, one.code));
            const unsigned said = one.code / 100;
            const unsigned right = found == all.end() ? 4 : class_of(*found->second);
            if (right != 0 && said != right)
                what.wrong.push_back(
                    fmt::format("{}: told {}, right is class {}", name, one.code, right));
        }
    }
}

void judge_processes(const scenario& of, const simulated_system& below, outcome& what) {
    constexpr auto a_second_and_ticks = std::chrono::milliseconds(1300);
    const nanoseconds longest = of.agent_timeout + seconds(5) + a_second_and_ticks;
    for (const auto& one : below.children()) {
        if (!one->ran() || one->begun >= of.at_once) continue;
        const auto beside =
            std::count_if(below.children().begin(), below.children().end(), [&](const auto& other) {
                return other->ran() && other->begun <= one->begun && other->ended > one->begun;
            });
        if (static_cast<unsigned>(beside) > of.most_agents)
            what.wrong.push_back(fmt::format("{} agents at once", beside));
        const bool had_time = one->begun + longest < of.at_once;
        const bool abandoned = what.ended >= of.at_once && !one->reaped && !had_time;
        if (!abandoned && (!one->reaped || one->ended - one->begun > longest))
            what.wrong.emplace_back("an agent is left behind, or had too long");
    }
}

}  // namespace

void judge_agents(const scenario& of, const simulated_system& below, outcome& what) {
    const deliveries all = gather(of, below, what);
    judge_answers(of, all, each_has_an_agent(of, below), what);
    judge_processes(of, below, what);
    const auto number = [&](auto which) {
        return static_cast<std::uint64_t>(
            std::count_if(below.children().begin(), below.children().end(),
                          [&](const auto& one) { return one->ran() && which(*one); }));
    };
    const auto equal = [&](std::string_view name, std::uint64_t counted, std::uint64_t is) {
        if (counted != is)
            what.wrong.push_back(fmt::format("{}: counted {}, true is {}", name, counted, is));
    };
    const auto& agents = what.counted.agents;
    equal("agents", agents.started(), number([](const auto&) { return true; }));
    equal("ends of agents", agents.ended(), number([](const auto& one) { return one.reaped; }));
    equal("accepted, by agents", what.counted.messages,
          number([](const auto& one) { return one.reaped && one.exited_with(0); }));
}

}  // namespace clients
