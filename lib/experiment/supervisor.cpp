// SPDX-License-Identifier: GPL-3.0-or-later
#include "experiment/supervisor.hpp"

#include "base/read_file.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "os/find_program.hpp"
#include "os/process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>

namespace postal::experiment {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

constexpr std::chrono::nanoseconds end_grace = 5s;
constexpr std::chrono::nanoseconds hasty_limit = 1s;
constexpr std::size_t longest_process_saying = 300;
constexpr off_t last_octets = 8192;

constexpr std::array suite{"postal",        "rabid",       "bhm",           "lmtp-deliver",
                           "postal-report", "postal-list", "postal-compare"};

std::string process_name(const process& one) {
    return fs::path(one.of.words.front()).filename().string();
}

// What was written to a log from `begin` on, or the end of it.
std::string tail_of(const std::string& path, std::uint64_t begin) {
    const base::file_descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file.is_open()) return {};
    const off_t size = ::lseek(file.get(), 0, SEEK_END);
    ::lseek(file.get(), std::max(static_cast<off_t>(begin), size - last_octets), SEEK_SET);
    auto text = base::read_descriptor(file.get(), path);
    return text ? std::move(*text) : std::string{};
}

std::string last_saying(const process& one) {
    const std::string text = tail_of(one.of.log, one.log_begins);
    const std::string own = process_name(one) + ":";
    std::string_view last;
    std::string_view last_own;
    for (const auto line : base::split(text, '\n')) {
        const auto said = base::trim(line);
        if (said.empty()) continue;
        last = said;
        if (said.starts_with(own)) last_own = said;
    }
    return base::printable(last_own.empty() ? last : last_own, longest_process_saying);
}

std::string what_it_does(unsigned interruption) {
    const std::string limit = base::format_duration(hasty_limit);
    if (interruption == 1)
        return "stopping: ends what runs and undoes what was set up; again to give each step of "
               "that "
               "at most " +
               limit;
    return fmt::format("each step of undoing has at most {} now", limit);
}

sigset_t ending_signals() {
    sigset_t all;
    sigemptyset(&all);
    for (const int each : {SIGINT, SIGTERM, SIGHUP})
        sigaddset(&all, each);
    return all;
}

}  // namespace

base::expected<std::string> find_program(const std::string& word) {
    if (std::find(suite.begin(), suite.end(), word) == suite.end()) return os::find_program(word);
    std::error_code ignored;
    const fs::path self = fs::read_symlink("/proc/self/exe", ignored);
    return os::find_program(word, self.parent_path().string());
}

base::expected<std::unique_ptr<supervisor>> supervisor::create() {
    auto children = os::spawner::create();
    if (!children) return children.error();
    std::unique_ptr<supervisor> made(new supervisor(std::move(*children)));
    made->no_input_ = base::file_descriptor(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    const sigset_t counted = ending_signals();
    ::pthread_sigmask(SIG_BLOCK, &counted, &made->mask_before_);
    made->signals_ = base::file_descriptor(::signalfd(-1, &counted, SFD_CLOEXEC | SFD_NONBLOCK));
    if (!made->signals_.is_open() || !made->no_input_.is_open())
        return base::fail("cannot wait for signals: {}", base::system_message(errno));
    os::adopt_orphans();
    made->files_before_ = os::current_descriptor_limit();
    // Within the hard limit that is allowed to everybody; what is too little, results say.
    static_cast<void>(os::raise_descriptor_limit(made->files_before_.hard));
    return made;
}

supervisor::~supervisor() {
    say_ = {};
    // Those that came would end this process as soon as they are let in.
    static_cast<void>(interruptions());
    ::pthread_sigmask(SIG_SETMASK, &mask_before_, nullptr);
}

unsigned supervisor::interruptions() {
    signalfd_siginfo one{};
    while (signals_.is_open() && ::read(signals_.get(), &one, sizeof one) == sizeof one) {
        ++interruptions_;
        if (say_ && interruptions_ <= 2) say_(what_it_does(interruptions_));
    }
    return interruptions_;
}

base::expected<process> supervisor::start(job what, journal& into,
                                          std::chrono::nanoseconds end_limit) {
    const std::string where = what.where;
    return start(std::move(what),
                 [&](pid_t pid) { return into.announce_process(pid, where, end_limit); });
}

base::expected<process> supervisor::start(job what, const announcing& announce) {
    const auto program = find_program(what.words.empty() ? std::string{} : what.words.front());
    if (!program) return base::at(what.where, program.error());
    const base::file_descriptor log(
        ::open(what.log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666));
    if (!log.is_open())
        return base::fail("{}: cannot be written: {}", what.log, base::system_message(errno));
    const std::string title = fmt::format("$ {}\n", base::join(what.words, " "));
    if (::write(log.get(), title.data(), title.size()) < 0)
        return base::fail("{}: cannot be written: {}", what.log, base::system_message(errno));
    process made;
    made.log_begins = static_cast<std::uint64_t>(::lseek(log.get(), 0, SEEK_END));
    std::vector<char*> argv;
    for (std::string& word : what.words)
        argv.push_back(word.data());
    argv.push_back(nullptr);
    os::child_plan plan;
    plan.program = program->c_str();
    plan.argv = argv.data();
    plan.environment = environ;
    plan.input = no_input_.get();
    plan.output = log.get();
    plan.ends_with_parent = !what.outlives;
    if (!what.many_files) plan.limits = {&files_before_, 1};
    plan.before_it_runs = [&](pid_t pid) -> base::expected<void> {
        const auto number = announce(pid);
        if (!number) return number.error();
        made.number = *number;
        return {};
    };
    const auto started = children_.start(plan);
    if (!started) return base::at(what.where, started.error());
    made.started = *started;
    made.ended = base::file_descriptor(started->pidfd);
    made.of = std::move(what);
    return made;
}

void supervisor::act_when_due(steady_time now) {
    if (acting_ || now < next_act_) return;
    // A second that was missed is left out.
    const bool late = now - next_act_ > 1s;
    next_act_ = late ? now + 1s : next_act_ + 1s;
    acting_ = true;
    if (act_) act_();
    acting_ = false;
}

woken supervisor::wait(std::span<const int> descriptors, steady_time until, patience how) {
    std::vector<pollfd> asked;
    for (const int each : descriptors)
        asked.push_back({each, POLLIN, 0});
    asked.push_back({signals_.get(), POLLIN, 0});
    const unsigned before = interruptions();
    while (true) {
        auto now = std::chrono::steady_clock::now();
        act_when_due(now);
        now = std::chrono::steady_clock::now();
        const auto next = std::max(std::min(until, acting_ ? until : next_act_) - now, 0ns);
        const auto ms =
            std::chrono::ceil<std::chrono::milliseconds>(std::min(next, 1000'000'000ns));
        ::poll(asked.data(), asked.size(), static_cast<int>(ms.count()));
        for (std::size_t i = 0; i < descriptors.size(); ++i)
            if (asked[i].revents != 0) return woken::by_end;
        const unsigned came = interruptions();
        if (how == patience::until_interrupted && came > 0) return woken::by_interruption;
        // Whoever is undoing must look again how long it may take.
        if (came > before && came > 1) return woken::by_interruption;
        if (std::chrono::steady_clock::now() >= until) return woken::by_time;
    }
}

bool supervisor::has_ended(process& one) const {
    if (!one.end) one.end = os::reap(one.started);
    return one.end.has_value();
}

std::chrono::nanoseconds supervisor::undo_limit(std::chrono::nanoseconds wanted) {
    return interruptions() > 1 ? std::min(wanted, hasty_limit) : wanted;
}

bool supervisor::end(process& one, std::chrono::nanoseconds grace) {
    if (has_ended(one)) return true;
    os::signal_group(one.started, SIGTERM);
    const std::array watched{one.ended.get()};
    const auto began = std::chrono::steady_clock::now();
    auto why = woken::by_interruption;
    while (why == woken::by_interruption)
        why = wait(watched, began + undo_limit(grace), patience::undoing);
    // Also to those of its group that outlived it: it is not reaped yet.
    os::signal_group(one.started, SIGKILL);
    if (why == woken::by_time)
        wait(watched, std::chrono::steady_clock::now() + end_grace, patience::undoing);
    static_cast<void>(has_ended(one));
    return why == woken::by_end;
}

base::expected<void> supervisor::run(job what, std::chrono::nanoseconds limit, patience how,
                                     journal& into) {
    // What undoes is done also where nothing can be written any more.
    const bool must_be_kept = how != patience::undoing;
    const std::string where = what.where;
    auto started = start(std::move(what), [&](pid_t pid) -> base::expected<std::uint64_t> {
        auto number = into.announce_process(pid, where, end_grace);
        return number || must_be_kept ? number : base::expected<std::uint64_t>{0};
    });
    if (!started) return started.error();
    const auto ran = await(*started, limit, how);
    const auto struck = into.strike_out(started->number);
    return ran && must_be_kept ? struck : ran;
}

base::expected<void> supervisor::await(process& started, std::chrono::nanoseconds limit,
                                       patience how) {
    const std::array watched{started.ended.get()};
    const auto began = std::chrono::steady_clock::now();
    const bool undoing = how == patience::undoing;
    auto why = woken::by_interruption;
    do {
        if (undoing) limit = undo_limit(limit);
        why = wait(watched, began + limit, how);
    } while (undoing && why == woken::by_interruption);
    if (why != woken::by_end) {
        end(started, end_grace);
        const auto reason = why == woken::by_time
                                ? fmt::format("did not end within {}", base::format_duration(limit))
                                : std::string("was interrupted");
        const std::string said = last_saying(started);
        return base::fail("{}: {} {}{}{}", started.of.where, process_name(started), reason,
                          said.empty() ? "" : ": ", said);
    }
    if (has_ended(started) && !started.end->signalled && started.end->status_or_signal == 0)
        return {};
    return base::fail("{}: {}", started.of.where, ending_of(started));
}

std::string ending_of(const process& one) {
    std::string how = "still runs";
    if (one.end && one.end->signalled)
        how = fmt::format("was ended by signal {} ({})", one.end->status_or_signal,
                          ::strsignal(one.end->status_or_signal));
    else if (one.end)
        how = fmt::format("ended with status {}", one.end->status_or_signal);
    const std::string said = last_saying(one);
    return fmt::format("{} {}{}{}", process_name(one), how, said.empty() ? "" : ": ", said);
}

}  // namespace postal::experiment
