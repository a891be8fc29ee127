// SPDX-License-Identifier: GPL-3.0-or-later
// The loads of a run.
#include "experiment/one_run.hpp"
#include "experiment/plan.hpp"

#include "base/units.hpp"

#include <unistd.h>

#include <algorithm>

namespace postal::experiment {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;
using steady_clock = std::chrono::steady_clock;

constexpr std::chrono::nanoseconds load_patience = 2min;  // beyond the duration
constexpr std::chrono::nanoseconds load_grace = 15s;      // for its last messages and its record

// Of a load: what an unmet threshold says is said by the figures, too.
constexpr int load_done = 0;
constexpr int load_below_threshold = 3;
// Readers that watch, and that nobody let in, were told nothing: with a ledger that is an answer.
constexpr int load_nothing_delivered = 4;

}  // namespace

std::vector<std::string> load_words(const run_plan& plan, std::size_t program,
                                    std::vector<std::string> words,
                                    const std::vector<std::string>& extent) {
    const std::string record =
        (fs::path(plan.folder) / (plan.of.offered.programs[program].name + ".json")).string();
    const std::uint64_t seed = load_seed(plan.seed, plan.block, program);
    const auto add = [&](const char* option, std::string value) {
        words.insert(words.end(), {option, std::move(value)});
    };
    words.insert(words.end(), extent.begin(), extent.end());
    add("--interval", "1s");
    add("--seed", std::to_string(seed));
    add("--record", record);
    return words;
}

base::expected<std::vector<std::string>> launched(std::vector<std::string> launcher,
                                                  std::vector<std::string> words) {
    if (launcher.empty()) return words;
    auto path = find_program(words.front());
    if (!path) return path.error();
    words.front() = fs::absolute(*path).string();
    launcher.insert(launcher.end(), words.begin(), words.end());
    return launcher;
}

base::expected<job> one_run::ready_load(std::size_t program) const {
    const load_program& from = what_.offered.programs[program];
    const std::string log = from.name + ".log";
    auto one = ready_job(from.run, log);
    if (!one) return one.error();
    const auto launcher = ready_job(from.launcher, log);
    if (!launcher) return launcher.error();
    auto words = launched(launcher->words,
                          load_words(plan_, program, std::move(one->words), extent_of(program)));
    if (!words) return base::at(one->where, words.error());
    one->words = std::move(*words);
    one->many_files = true;
    return one;
}

done one_run::start_load(std::size_t program) {
    const load_program& from = what_.offered.programs[program];
    auto one = ready_load(program);
    if (!one) return one.error();
    running_load load;
    load.result = {from.name, in_folder(from.name + ".json")};
    // One of an earlier attempt would be taken for this one's.
    ::unlink(load.result.record.c_str());
    auto started = by_.start(std::move(*one), book_, load_grace);
    if (!started) return started.error();
    load.of = std::move(*started);
    loads_.push_back(std::move(load));
    return {};
}

done one_run::judge(running_load& one) {
    const auto& end = *one.of.end;
    const auto& programs = what_.offered.programs;
    const bool may_be_nothing =
        what_.offered.ledger && std::ranges::any_of(programs, [&](const load_program& each) {
            return each.name == one.result.name && is_watching(each);
        });
    const int status = end.status_or_signal;
    const bool well = !end.signalled && (status == load_done || status == load_below_threshold ||
                                         (status == load_nothing_delivered && may_be_nothing));
    if (!well) return base::fail("{}: {}", one.of.of.where, ending_of(one.of));
    if (!fs::exists(one.result.record))
        return base::fail("{}: load \"{}\" ended without its record", one.of.of.where,
                          one.result.name);
    one.ended_well = true;
    return book_.strike_out(one.of.number);
}

done one_run::await_loads(std::chrono::nanoseconds limit) {
    const auto until = steady_clock::now() + limit + load_patience;
    step_ends_ = steady_clock::now() + limit;
    while (true) {
        std::vector<int> watched = servers_ ? servers_->watched() : std::vector<int>{};
        for (const running_load& each : loads_)
            if (!each.of.end) watched.push_back(each.of.ended.get());
        process* const disk = below_storage();
        if (disk != nullptr) watched.push_back(disk->ended.get());
        const auto why = by_.wait(watched, until, patience::until_interrupted);
        if (why == woken::by_interruption) return base::fail("interrupted under load");
        if (why == woken::by_time)
            return base::fail("the load did not end within {} after its {}",
                              base::format_duration(load_patience), base::format_duration(limit));
        // A disk or a server that broke is the reason for what loads say.
        if (disk != nullptr && by_.has_ended(*disk)) return base::fail("{}", ending_of(*disk));
        if (servers_)
            if (const done run = servers_->check(by_); !run) return run;
        bool all_ended = true;
        for (running_load& each : loads_) {
            if (each.of.end) continue;
            if (!by_.has_ended(each.of)) {
                all_ended = false;
            } else if (const done well = judge(each); !well) {
                return well;
            }
        }
        if (all_ended) return {};
    }
}

done one_run::put_loads(std::chrono::nanoseconds limit) {
    done load;
    for (std::size_t i = 0; load && i < what_.offered.programs.size(); ++i)
        load = start_load(i);
    if (load) load = await_loads(limit);
    for (const running_load& each : loads_)
        if (each.ended_well) result_.loads.push_back(each.result);
    return load;
}

}  // namespace postal::experiment
