// SPDX-License-Identifier: GPL-3.0-or-later
#include "experiment/run.hpp"

#include "experiment/one_run.hpp"
#include "experiment/variables.hpp"

#include "base/units.hpp"
#include "base/write_file.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <utility>

namespace postal::experiment {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;
using steady_clock = std::chrono::steady_clock;

constexpr std::chrono::nanoseconds stray_limit = 5s;

}  // namespace

void one_run::each_second() {
    sample();
    std::optional<std::chrono::seconds> left;
    if (step_ends_)
        left = std::chrono::ceil<std::chrono::seconds>(
            std::max<std::chrono::nanoseconds>(*step_ends_ - steady_clock::now(), 0ns));
    if (tell_) tell_(step_, left);
}

void one_run::begin(const char* name) {
    step_ = name;
    step_began_ = steady_clock::now();
    step_ends_.reset();
    if (tell_) tell_(name, std::nullopt);
}

void one_run::end_step() {
    const std::chrono::duration<double> lasted = steady_clock::now() - step_began_;
    result_.steps.push_back({step_, lasted.count()});
}

done one_run::do_all() {
    std::error_code problem;
    fs::create_directories(plan_.folder, problem);
    if (problem)
        return base::fail("{}: cannot be made: {}", base::printable(plan_.folder, 300),
                          problem.message());
    values_ = variant_.values;
    const auto set = [&](const char* name, std::string value) {
        values_[name] = {std::move(value)};
    };
    set("experiment", fs::absolute(what_.file).parent_path().string());
    set("out", plan_.out);
    set("run", plan_.folder);
    set("variant", variant_.name);
    set("block", std::to_string(plan_.block));
    set("device", "");
    set("mount", "");
    if (variant_.on.wanted) {
        const auto device = text(may_use_users_disk() ? variant_.on.device : "", variant_.on.line);
        if (!device) return device.error();
        set("device", *device);
        const auto folder = text(variant_.on.mount, variant_.on.line);
        if (!folder) return folder.error();
        set("mount", fs::absolute(*folder).lexically_normal().string());
    }
    for (const auto& [name, act] : steps()) {
        if (by_.is_interrupted()) return base::fail("interrupted before step \"{}\"", name);
        begin(name);
        const done now = act();
        end_step();
        if (!now) return now;
    }
    return {};
}

run_result one_run::run() {
    result_.started = std::chrono::system_clock::now();
    mark_before_run_ = mark();
    before_run_ = os::descendants_of(::getpid());
    by_.every_second([this] { each_second(); });
    const done all = do_all();
    const bool interrupted = by_.is_interrupted();
    if (all) {
        result_.end = run_end::complete;
    } else {
        const std::string deeper = deeper_reason();
        result_.reason = deeper.empty() ? all.error().message : deeper;
        result_.end = interrupted ? run_end::interrupted : run_end::failed;
    }
    begin("undoing");
    undo();
    end_step();
    if (const std::string noticed = deeper_reason(); all && !noticed.empty())
        result_.notes.push_back(noticed);
    by_.every_second({});
    return std::move(result_);
}

base::expected<std::string> one_run::text(const std::string& from, std::uint32_t line) const {
    auto value = expand(from, values_);
    if (!value) return base::at(at(line), value.error());
    return value;
}

base::expected<job> one_run::ready_job(const command& from, const std::string& log) const {
    auto words = expand(from.words, values_);
    if (!words) return base::at(at(from.line), words.error());
    return job{std::move(*words), at(from.line), in_folder(log)};
}

base::expected<std::vector<job>> one_run::ready_jobs(const std::vector<command>& from,
                                                     const std::string& log) const {
    std::vector<job> all;
    for (const command& each : from) {
        auto one = ready_job(each, log);
        if (!one) return one.error();
        all.push_back(std::move(*one));
    }
    return all;
}

done one_run::run_commands(const std::vector<command>& all) {
    const auto jobs = ready_jobs(all, "commands.log");
    if (!jobs) return jobs.error();
    for (const job& each : *jobs) {
        const auto ran = by_.run(each, what_.command_limit, patience::until_interrupted, book_);
        if (!ran) return ran;
    }
    return {};
}

// For steps that no program of another's does; what is to happen each second happens meanwhile.
bool one_run::may_go_on() {
    return by_.wait({}, steady_clock::now(), patience::until_interrupted) != woken::by_interruption;
}

done one_run::announce(undo_entry how) {
    const auto number = book_.announce(std::move(how));
    if (!number) return number.error();
    return {};
}

// The last announced is undone first.
done one_run::set_up() {
    const auto down = ready_jobs(variant_.teardown, "commands.log");
    if (!down) return down.error();
    for (std::size_t i = down->size(); i-- > 0;) {
        const job& one = (*down)[i];
        const auto kept =
            announce({.kind = undo_kind::command,
                      .words = one.words,
                      .where = one.where,
                      .log = one.log,
                      .limit = std::chrono::ceil<std::chrono::milliseconds>(what_.command_limit)});
        if (!kept) return kept;
    }
    return run_commands(variant_.setup);
}

done one_run::write_files() {
    for (const written_file& each : what_.files) {
        const auto path = text(each.path, each.line);
        if (!path) return path.error();
        const auto content = text(each.text, each.line);
        if (!content) return content.error();
        std::error_code problem;
        const fs::path folder = fs::path(*path).parent_path();
        if (!folder.empty()) fs::create_directories(folder, problem);
        if (problem)
            return base::fail("{}: {}: cannot be made: {}", at(each.line),
                              base::printable(folder.string(), 300), problem.message());
        const done written = base::write_file(*path, *content);
        if (!written) return base::at(at(each.line), written.error());
    }
    return {};
}

done one_run::prepare() {
    return run_commands(variant_.of.prepare);
}

done one_run::start_servers() {
    const server& of = variant_.of;
    server_plan plan{.start_limit = of.start_limit,
                     .stop_limit = of.stop_limit,
                     .command_limit = what_.command_limit,
                     .where = at(of.line)};
    for (const command& each : of.start) {
        auto one = ready_job(each, fmt::format("server-{}.log", plan.start.size() + 1));
        if (!one) return one.error();
        plan.start.push_back(std::move(*one));
    }
    auto stop = ready_jobs(of.stop, "commands.log");
    if (!stop) return stop.error();
    plan.stop = std::move(*stop);
    for (const auto& [from, to] :
         {std::pair(&of.ready, &plan.ready), std::pair(&of.pid_files, &plan.pid_files)}) {
        const auto words = expand(*from, values_);
        if (!words) return base::at(plan.where, words.error());
        *to = *words;
    }
    mark_before_servers_ = mark();
    auto started = servers::start(plan, book_, by_);
    if (!started) return started.error();
    servers_.emplace(std::move(*started));
    return {};
}

void one_run::undo_to(std::uint64_t mark) {
    auto report = undo_above(mark, book_, by_);
    result_.left.insert(result_.left.end(), report.left.begin(), report.left.end());
    result_.notes.insert(result_.notes.end(), report.notes.begin(), report.notes.end());
}

// What commands and servers started and left behind, in whatever group: it would go on while the
// next run is measured, and may hold the mount.
void one_run::end_strays(const std::vector<os::process_stat>& before) {
    const auto is_old = [&](const os::process_stat& one) {
        return std::any_of(before.begin(), before.end(), [&](const os::process_stat& old) {
            return old.pid == one.pid && old.start == one.start;
        });
    };
    const auto find = [&] {
        auto all = os::descendants_of(::getpid());
        std::erase_if(all, [&](const auto& one) { return one.ended || is_old(one); });
        return all;
    };
    std::map<std::string, int> names;
    for (const auto& each : find())
        ++names[base::printable(each.name, 40)];
    std::vector<std::string> found;
    for (const auto& [name, count] : names)
        found.push_back(count == 1 ? name : fmt::format("{} ({})", name, count));
    if (!found.empty())
        result_.notes.push_back("left behind and now ended: " + base::join(found, ", "));
    for (const auto& each : end_processes(by_, stray_limit, find).left)
        result_.left.push_back(
            {fmt::format("process {} ({}) does not end", each.pid, base::printable(each.name, 40)),
             fmt::format("kill -9 {}", each.pid)});
    // Those that ended by themselves wait for somebody who asks how.
    for (const auto& each : os::descendants_of(::getpid()))
        if (each.ended && !is_old(each)) ::waitpid(each.pid, nullptr, WNOHANG);
}

void one_run::undo() {
    if (mark_before_servers_) undo_to(*mark_before_servers_);
    if (after_setup_) end_strays(*after_setup_);
    undo_to(mark_before_run_);
    end_strays(before_run_);
    let_go();
}

}  // namespace postal::experiment
