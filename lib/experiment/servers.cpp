// SPDX-License-Identifier: GPL-3.0-or-later
#include "experiment/servers.hpp"

#include "base/read_file.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "net/endpoint.hpp"
#include "os/process.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <functional>

namespace postal::experiment {
namespace {

using namespace std::chrono_literals;

constexpr std::chrono::nanoseconds look_step = 50ms;
constexpr int connect_ms = 1000;

bool connects(const net::address& to) {
    const base::file_descriptor socket(
        ::socket(to.protocol().family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    if (!socket.is_open()) return false;
    if (::connect(socket.get(), to.data(), static_cast<socklen_t>(to.size())) == 0) return true;
    if (errno != EINPROGRESS) return false;
    pollfd done{socket.get(), POLLOUT, 0};
    int error = 0;
    socklen_t size = sizeof error;
    return ::poll(&done, 1, connect_ms) == 1 &&
           ::getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &error, &size) == 0 && error == 0;
}

// A file may be left of an earlier server, and its number somebody else's by now: 0 where it names
// no process that was started since.
pid_t pid_in(const std::string& path, std::uint64_t since) {
    const auto text = base::read_file(path, 64);
    const auto fields = text ? base::split(*text, '\n') : std::vector<std::string_view>{};
    const auto number = base::parse_count(fields.empty() ? "" : base::trim(fields.front()));
    if (!number || *number < 2 || *number > 0x7fffffff) return 0;
    const auto found = os::find_process(static_cast<pid_t>(*number));
    return found && !found->ended && found->start >= since ? found->pid : 0;
}

base::expected<void> announce_stop(const server_plan& plan, journal& into) {
    for (std::size_t i = plan.stop.size(); i-- > 0;) {
        const job& one = plan.stop[i];
        const auto done = into.announce(
            {.kind = undo_kind::stop,
             .words = one.words,
             .where = one.where,
             .log = one.log,
             .limit = std::chrono::ceil<std::chrono::milliseconds>(plan.command_limit)});
        if (!done) return done.error();
    }
    return {};
}

std::vector<pid_t> children() {
    std::vector<pid_t> found;
    for (const auto& one : os::all_processes())
        if (one.parent == ::getpid()) found.push_back(one.pid);
    return found;
}

}  // namespace

base::expected<bool> lets_in(const std::string& endpoint) {
    const auto where = net::parse_endpoint(endpoint, 0);
    if (!where) return where.error();
    if (!where->is_unix() && where->port == 0)
        return base::fail("{} has no port", base::printable(endpoint, 100));
    const auto addresses = net::resolve(*where);
    if (!addresses) return addresses.error();
    return std::any_of(addresses->begin(), addresses->end(), connects);
}

base::expected<servers> servers::start(const server_plan& plan, journal& into, supervisor& by) {
    servers made;
    made.may_go_to_background_ = !plan.stop.empty();
    for (const std::string& each : plan.ready) {
        const auto taken = lets_in(each);
        if (!taken) return base::at(plan.where, taken.error());
        if (*taken && !plan.start.empty())
            return base::fail(
                "{}: {} lets connections in before the server is started; end what "
                "listens there",
                plan.where, base::printable(each, 100));
    }
    const auto before = children();
    const std::uint64_t since = os::clock_ticks();
    const std::uint64_t mark = into.left().empty() ? 0 : into.left().back().number;
    const auto to_be_stopped = announce_stop(plan, into);
    if (!to_be_stopped) return to_be_stopped.error();
    for (const job& each : plan.start) {
        auto started = by.start(each, into, plan.stop_limit);
        if (!started) return started.error();
        made.started_.push_back(std::move(*started));
    }
    const auto is_ready = made.await(plan, by, since);
    const auto kept = made.announce_background(plan, into, before);
    if (!is_ready) return is_ready.error();
    if (!kept) return kept.error();
    // From now on they are stopped by their commands first: announced again, above the processes.
    std::vector<std::uint64_t> early;
    for (const undo_entry& one : into.left())
        if (one.number > mark && one.kind == undo_kind::stop) early.push_back(one.number);
    const auto stopped_first = announce_stop(plan, into);
    if (!stopped_first) return stopped_first.error();
    for (const std::uint64_t number : early) {
        const auto struck = into.strike_out(number);
        if (!struck) return struck.error();
    }
    return made;
}

base::expected<void> servers::await(const server_plan& plan, supervisor& by, std::uint64_t since) {
    const auto until = std::chrono::steady_clock::now() + plan.start_limit;
    std::vector<std::string> silent = plan.ready;
    std::vector<std::string> without_pid = plan.pid_files;
    while (true) {
        // First: one that could not begin ends, and somebody else may listen where it should.
        const auto runs = check(by);
        if (!runs) return runs.error();
        std::erase_if(silent, [](const std::string& each) {
            const auto now = lets_in(each);
            return now && *now;
        });
        std::erase_if(without_pid,
                      [&](const std::string& each) { return pid_in(each, since) != 0; });
        if (silent.empty() && without_pid.empty()) break;
        if (std::chrono::steady_clock::now() >= until) {
            const std::string words = started_.empty() ? "" : "; " + ending_of(started_.back());
            const std::string limit = base::format_duration(plan.start_limit);
            if (silent.empty())
                return base::fail("{}: {} names no process that was started since, after {}{}",
                                  plan.where, base::printable(without_pid.front(), 300), limit,
                                  words);
            return base::fail("{}: {} lets no connection in after {}{}", plan.where,
                              base::printable(silent.front(), 100), limit, words);
        }
        const auto next = std::chrono::steady_clock::now() + look_step;
        if (by.wait(watched(), next, patience::until_interrupted) == woken::by_interruption)
            return base::fail("{}: the start of the server was interrupted", plan.where);
    }
    for (const std::string& each : plan.pid_files) {
        const pid_t pid = pid_in(each, since);
        background_.push_back({each, pid, os::watch_process(pid)});
    }
    return check(by);
}

// Those that were told by pid files, and those that lost their parents, which are our children now.
base::expected<void> servers::announce_background(const server_plan& plan, journal& into,
                                                  const std::vector<pid_t>& before) {
    std::vector<pid_t> found;
    for (const pid_t each : children())
        if (std::find(before.begin(), before.end(), each) == before.end()) found.push_back(each);
    for (const background& each : background_)
        found.push_back(each.pid);
    for (const pid_t each : found) {
        const auto is_it = [&](const undo_entry& one) {
            return one.kind == undo_kind::process && one.pid == each;
        };
        if (std::any_of(into.left().begin(), into.left().end(), is_it)) continue;
        const auto kept = into.announce_process(each, plan.where, plan.stop_limit);
        if (!kept) return kept.error();
    }
    return {};
}

std::vector<int> servers::watched() const {
    std::vector<int> all;
    for (const process& one : started_)
        if (!one.end) all.push_back(one.ended.get());
    for (const background& one : background_)
        all.push_back(one.ended.get());
    return all;
}

base::expected<void> servers::check(supervisor& by) {
    for (process& one : started_) {
        if (!by.has_ended(one)) continue;
        const bool went = !one.end->signalled && one.end->status_or_signal == 0;
        if (!went || !may_go_to_background_)
            return base::fail("{}: {}", one.of.where, ending_of(one));
    }
    for (const background& one : background_) {
        pollfd ended{one.ended.get(), POLLIN, 0};
        if (!one.ended.is_open() || ::poll(&ended, 1, 0) != 0)
            return base::fail("{}: process {}, a server, has ended", base::printable(one.file, 300),
                              one.pid);
    }
    return {};
}

std::vector<pid_t> servers::roots() const {
    std::vector<pid_t> all;
    for (const process& one : started_)
        if (!one.end) all.push_back(one.started.pid);
    for (const background& one : background_)
        all.push_back(one.pid);
    return all;
}

}  // namespace postal::experiment
