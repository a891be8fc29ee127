// SPDX-License-Identifier: GPL-3.0-or-later
// lmtp-deliver/exit_statuses.hpp and agent_templates.hpp: any file gives one line of refusal, or
// replies that cannot break the dialogue, whatever an agent prints: the second half of the input.
#include "lmtp-deliver/exit_statuses.hpp"

#include <algorithm>

#include "lmtp-deliver/agent_templates.hpp"
#include "lmtp-deliver/argv_template.hpp"
#include "support.hpp"

namespace {

using namespace postal::lmtp_deliver;

void check_reply(const delivery_reply& one, agent_fate fate) {
    fuzz::require(one.code / 100 == 2 || one.code / 100 == 4 || one.code / 100 == 5);
    fuzz::require(one.code / 100 != 2 || fate == agent_fate::exited);
    fuzz::require(one.enhanced.front() - '0' == one.code / 100);
    fuzz::require(!one.text.empty() && one.text.size() < 450);
    fuzz::require(
        std::all_of(one.text.begin(), one.text.end(), [](char c) { return c >= ' ' && c <= '~'; }));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
    const std::string_view whole = fuzz::text_of(data, size);
    const std::string_view file = whole.substr(0, whole.find('\f'));
    const std::string_view printed = whole.substr(std::min(file.size() + 1, size));
    const auto statuses = exit_statuses::parse(file, "fuzz");
    if (!statuses) fuzz::require_harmless(statuses.error().message);
    const auto agents = parse_agents(file, "fuzz");
    if (!agents) fuzz::require_harmless(agents.error().message);
    if (agents) {
        for (const agent& each : *agents)
            fuzz::require(argv_template::parse(each.command).has_value());
    }
    static const exit_statuses usual;
    for (const exit_statuses* each : {&usual, statuses ? &*statuses : &usual}) {
        for (const int number : {0, 1, 64, 67, 75, 255, 256, -1})
            check_reply(each->judge({agent_fate::exited, number}, printed), agent_fate::exited);
        for (const agent_fate fate :
             {agent_fate::signalled, agent_fate::timed_out, agent_fate::not_started})
            check_reply(each->judge({fate, 9}, printed), fate);
    }
    return 0;
}
