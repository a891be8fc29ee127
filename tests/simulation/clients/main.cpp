// SPDX-License-Identifier: GPL-3.0-or-later
// client_simulation: runs of postal and rabid against servers and of bhm and lmtp-deliver against
// clients, each from a seed, their own sessions on a system without a kernel: docs/method.md, "A simulation".
//
//     client_simulation --seeds 2000               the first so many
//     client_simulation --from 1000000 --seeds N   others
//     client_simulation --seed N                   one
//
// Prints each seed that fails, and what is wrong; ends with 1 then, and with 0 when nothing was
// wrong. --keep-going goes on behind the first that fails, --seconds S ends early. One run in
// sixteen is done twice: the same has to happen in both.
#include <cstdio>

#include <fmt/format.h>

#include "run.hpp"
#include "wishes.hpp"

namespace {

using namespace clients;

outcome try_one(std::uint64_t seed, apparatus& with) {
    const scenario run = draw(seed);
    outcome made = with.perform(run);
    if (seed % 16 == 0 && with.perform(run).digest != made.digest)
        made.wrong.emplace_back("it is another run the second time");
    if (!made.wrong.empty()) fmt::print("{}", text(run));
    for (const std::string& one : made.wrong)
        fmt::print("  WRONG: {}\n", one);
    std::fflush(stdout);
    return made;
}

}  // namespace

int main(int argc, char** argv) {
    const auto wanted = simulation::read_wishes({argv + 1, argv + argc});
    if (!wanted || wanted->transcript) {
        fmt::print(stderr,
                   "usage: client_simulation [--from N] [--seeds N] [--seconds S] [--keep-going]\n"
                   "       client_simulation --seed N\n");
        return 1;
    }
    apparatus with;
    simulation::progress runs(*wanted);
    std::uint64_t messages = 0;
    std::uint64_t steps = 0;
    while (const auto seed = runs.next()) {
        const outcome made = try_one(*seed, with);
        runs.tried(made.wrong.empty());
        messages += made.counted.messages;
        steps += made.steps;
    }
    fmt::print("client_simulation: {}; {} messages, {} steps\n", runs.summary(), messages, steps);
    return runs.fine() ? 0 : 1;
}
