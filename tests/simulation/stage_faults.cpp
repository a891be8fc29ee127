// SPDX-License-Identifier: GPL-3.0-or-later
#include "stage_faults.hpp"

#include <algorithm>
#include <new>

namespace simulation {

using postal::proto::server_reply;
using postal::proto::server_stage;

server_reply reply_of(std::uint16_t code) {
    return {code, code < 500 ? "4.0.0" : "5.0.0", "As the scenario has it"};
}

const server_fault* stage_faults::next(server_stage stage) {
    const std::uint32_t nth = asked_[static_cast<std::size_t>(stage)]++;
    const auto found =
        std::find_if(of_.refusals.begin(), of_.refusals.end(), [&](const server_fault& one) {
            return one.where == where_ && one.stage == stage &&
                   (one.nth == nth || one.nth == server_fault::each_time);
        });
    return found == of_.refusals.end() ? nullptr : &*found;
}

std::optional<server_reply> stage_faults::obey(const server_fault* what, bool answered) {
    if (what == nullptr) return std::nullopt;
    if (what->no_memory) throw std::bad_alloc();
    postal::proto::stage_effect effect;
    if (what->code != 0) effect.reply = reply_of(what->code);
    effect.delay = what->delay;
    effect.close = what->close;
    voice_.held().add(effect, answered);
    return effect.reply;
}

}  // namespace simulation
