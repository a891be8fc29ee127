// SPDX-License-Identifier: GPL-3.0-or-later
// simulation: runs of postal against mail servers, each from a seed: docs/method.md, "A
// simulation".
//
//     simulation --seeds 20000               the first so many
//     simulation --from 1000000 --seeds N    others
//     simulation --seed N --transcript       one, with all that happens
//
// Prints a failing seed, what is wrong, and what is left of it when all that does not matter is
// taken away; ends with 1 then, and with 0 when nothing was wrong. --keep-going goes on behind the
// first that fails, --seconds S ends early.
#include <cstdint>
#include <cstdio>
#include <string_view>

#include <fmt/format.h>

#include "apparatus.hpp"
#include "draw.hpp"
#include "scenario_text.hpp"
#include "shrink.hpp"
#include "wishes.hpp"
#include "world.hpp"

namespace {

using namespace simulation;

void print(const scenario& of, const result& made) {
    fmt::print("{}", text(of));
    for (const std::string& line : made.wrong)
        fmt::print("  WRONG: {}\n", line);
}

// The same kind of wrong, or another one: either is worth a look, and the first is printed.
void explain(const scenario& failing, apparatus& with) {
    const scenario least =
        shrink(failing, [&](const scenario& one) { return !perform(one, with).wrong.empty(); });
    fmt::print("what is left of it:\n");
    print(least, perform(least, with));
}

bool try_one(std::uint64_t seed, bool transcript, apparatus& with) {
    const scenario run = draw(seed);
    const result made = perform(run, with, transcript ? shown::transcript : shown::nothing);
    print(run, made);
    fmt::print("{} messages started, {} accepted, {} in doubt, {} steps\n", made.messages,
               made.accepted, made.in_doubt, made.steps);
    if (!made.wrong.empty() && !transcript) explain(run, with);
    return made.wrong.empty();
}

bool try_all(const wishes& wanted, apparatus& with) {
    progress runs(wanted);
    result sums;
    while (const auto seed = runs.next()) {
        const scenario run = draw(*seed);
        const result made = perform(run, with);
        sums.steps += made.steps;
        sums.messages += made.messages;
        sums.accepted += made.accepted;
        sums.in_doubt += made.in_doubt;
        runs.tried(made.wrong.empty());
        if (made.wrong.empty()) continue;
        print(run, made);
        explain(run, with);
        std::fflush(stdout);
    }
    fmt::print("simulation: {}; {} messages, {} accepted, {} in doubt\n", runs.summary(),
               sums.messages, sums.accepted, sums.in_doubt);
    return runs.fine();
}

}  // namespace

int main(int argc, char** argv) {
    const auto wanted = read_wishes({argv + 1, argv + argc});
    if (!wanted) {
        fmt::print(stderr,
                   "usage: simulation [--from N] [--seeds N] [--seconds S] [--keep-going]\n"
                   "       simulation --seed N [--transcript]\n");
        return 1;
    }
    apparatus with;
    const bool fine =
        wanted->seed ? try_one(*wanted->seed, wanted->transcript, with) : try_all(*wanted, with);
    return fine ? 0 : 1;
}
