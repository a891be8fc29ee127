// SPDX-License-Identifier: GPL-3.0-or-later
// The main() of the programs of experiments: the command line, the file, what only shows or checks
// something, and the work itself.
#pragma once

#include "base/random.hpp"
#include "base/standard_output.hpp"
#include "cli/main.hpp"
#include "cli/parse.hpp"
#include "experiment/experiment.hpp"
#include "os/child.hpp"
#include "os/terminal_size.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <unistd.h>

namespace postal::experiment {

// What a program does with its options; the experiment is as the options have changed it.
template <class Options>
struct program_steps {
    const char* name = "";
    base::expected<cli::parse_result> (*parse)(Options&, const std::vector<std::string>&);
    // What needs no experiment.
    std::optional<cli::exit_status> (*instead)(const Options&) = nullptr;
    base::expected<void> (*apply)(const Options&, experiment&);
    std::string (*plan)(const Options&, const experiment&, std::uint64_t seed);
    // Prints that it can run here.
    base::expected<void> (*check)(const Options&, const experiment&);
    cli::exit_status (*conduct)(const Options&, const experiment&, std::uint64_t seed,
                                const std::vector<std::string>& argv);
};

template <class Options>
cli::exit_status run(const program_steps<Options>& of, const std::vector<std::string>& argv) {
    using cli::exit_status;
    const auto refuse = [&](const base::failure& why) {
        return cli::refuse(of.name, why, exit_status::bad_parameters);
    };
    Options given;
    const auto parsed = of.parse(given, {argv.begin() + 1, argv.end()});
    if (!parsed) return refuse(parsed.error());
    if (*parsed == cli::parse_result::done) return exit_status::done;
    if (const auto ended = of.instead ? of.instead(given) : std::nullopt) return *ended;
    auto whole = load_experiment(given.experiment, given.set);
    if (!whole) return refuse(whole.error());
    const auto applied = of.apply(given, *whole);
    if (!applied) return refuse(applied.error());
    const std::uint64_t seed = whole->offered.seed.value_or(base::fresh_entropy() >> 32U);
    if (given.plan) {
        base::print(os::fitted(of.plan(given, *whole, seed), STDOUT_FILENO));
        return exit_status::done;
    }
    if (!given.check) return of.conduct(given, *whole, seed, argv);
    const auto checked = of.check(given, *whole);
    if (!checked) return refuse(checked.error());
    return exit_status::done;
}

template <class Options>
int run_main(const program_steps<Options>& of, int argc, char** argv) {
    const auto prepared = os::prepare_for_children();
    if (!prepared)
        return static_cast<int>(
            cli::refuse(of.name, prepared.error(), cli::exit_status::system_error));
    return cli::run_main(of.name, [&] { return run(of, {argv, argv + argc}); });
}

}  // namespace postal::experiment
