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
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <optional>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "apparatus.hpp"
#include "draw.hpp"
#include "scenario_text.hpp"
#include "shrink.hpp"
#include "world.hpp"

namespace {

using namespace simulation;
using std::chrono::steady_clock;

struct wishes {
    std::uint64_t from = 1;
    std::uint64_t seeds = 20000;
    std::optional<std::uint64_t> seed;
    std::uint64_t seconds = 0;  // 0: as long as it takes
    bool transcript = false;
    bool keep_going = false;
};

std::optional<std::uint64_t> number(std::string_view word) {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    const bool whole = error == std::errc{} && end == word.data() + word.size();
    return whole ? std::optional(value) : std::nullopt;
}

// Nothing where a word is not understood.
std::optional<wishes> read(const std::vector<std::string_view>& words) {
    wishes made;
    for (std::size_t i = 0; i < words.size(); ++i) {
        if (words[i] == "--transcript") {
            made.transcript = true;
        } else if (words[i] == "--keep-going") {
            made.keep_going = true;
        } else {
            const auto value = i + 1 < words.size() ? number(words[i + 1]) : std::nullopt;
            if (!value) return std::nullopt;
            if (words[i] == "--seeds")
                made.seeds = *value;
            else if (words[i] == "--from")
                made.from = *value;
            else if (words[i] == "--seed")
                made.seed = *value;
            else if (words[i] == "--seconds")
                made.seconds = *value;
            else
                return std::nullopt;
            ++i;
        }
    }
    return made;
}

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
    const steady_clock::time_point begun = steady_clock::now();
    const auto elapsed = [begun] {
        return std::chrono::duration<double>(steady_clock::now() - begun).count();
    };
    result sums;
    std::uint64_t tried = 0;
    std::uint64_t failed = 0;
    for (; tried < wanted.seeds && (failed == 0 || wanted.keep_going); ++tried) {
        if (wanted.seconds != 0 && elapsed() > static_cast<double>(wanted.seconds)) break;
        const scenario run = draw(wanted.from + tried);
        const result made = perform(run, with);
        sums.steps += made.steps;
        sums.messages += made.messages;
        sums.accepted += made.accepted;
        sums.in_doubt += made.in_doubt;
        if (made.wrong.empty()) continue;
        ++failed;
        print(run, made);
        explain(run, with);
        std::fflush(stdout);
    }
    fmt::print(
        "simulation: {} runs from seed {}, {} wrong; {} messages, {} accepted, {} in doubt; "
        "{:.0f} runs a second\n",
        tried, wanted.from, failed, sums.messages, sums.accepted, sums.in_doubt,
        static_cast<double>(tried) / elapsed());
    return failed == 0 && tried > 0;
}

}  // namespace

int main(int argc, char** argv) {
    const auto wanted = read({argv + 1, argv + argc});
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
