// SPDX-License-Identifier: GPL-3.0-or-later
#include "children.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

#include "system.hpp"

namespace clients {

namespace {

constexpr std::size_t room_in_pipe = 64 * 1024;
constexpr int no_program_status = 127 << 8;
// No process of the machine has such a number.
constexpr pid_t first_pid = 1 << 24;

}  // namespace

int simulated_system::make_pipe(int* ends) {
    auto made = std::make_shared<pipe_between>();
    ends[0] = add_object(kind::pipe);
    ends[1] = add_object(kind::pipe);
    object_at(ends[0]).through = object_at(ends[1]).through = made;
    object_at(ends[1]).writes = true;
    made->read_end = ends[0];
    made->writers = 1;
    return 0;
}

// For reading and writing, as /proc/self/fd/N does it.
int simulated_system::open_again(int which) {
    object* const one = find(which);
    if (one == nullptr || one->what != kind::pipe) return failed(ENOENT);
    const auto through = one->through;
    const int made = add_object(kind::pipe);
    object_at(made).through = through;
    object_at(made).writes = true;
    ++through->writers;
    return made;
}

void simulated_system::leave_pipe(pipe_between& which) {
    if (--which.writers == 0) edge(which.read_end);
}

long simulated_system::read_pipe(object& from, void* into, std::size_t size) {
    pipe_between& pipe = *from.through;
    if (pipe.text.empty() && pipe.writers == 0) return 0;
    if (pipe.text.empty()) return failed(EAGAIN);
    const std::size_t got = std::min(size, pipe.text.size());
    std::memcpy(into, pipe.text.data(), got);
    pipe.text.erase(0, got);
    note(got);
    if (child_process* const who = std::exchange(pipe.waits, nullptr))
        at(now_, [this, who] { go_on(*who); });
    return static_cast<long>(got);
}

child_process* simulated_system::start_child(int output, std::string input, std::string recipient) {
    const child_traits traits = who_.child(children_.size());
    if (traits.begins == child_traits::beginning::no_process) {
        errno = EAGAIN;
        return nullptr;
    }
    children_.push_back(std::make_unique<child_process>());
    child_process& made = *children_.back();
    made.pid = first_pid + static_cast<pid_t>(children_.size());
    made.traits = traits;
    made.input = std::move(input);
    made.recipient = std::move(recipient);
    made.handle = add_object(kind::child);
    object_at(made.handle).process = &made;
    made.output = object_at(output).through;
    ++made.output->writers;
    made.begun = now_;
    made.to_print = traits.prints;
    made.stops_left = traits.stops;
    note(children_.size());
    if (made.ran())
        at(now_ + traits.lasts, [this, &made] { go_on(made); });
    else
        end_child(made, no_program_status);
    return &made;
}

// What it still has to do, until it has to wait for somebody.
void simulated_system::go_on(child_process& who) {
    if (who.over() || who.stopped) return;
    if (who.to_print > 0) {
        const std::size_t room = room_in_pipe - std::min(room_in_pipe, who.output->text.size());
        const std::size_t printed = std::min(room, who.to_print);
        who.output->text.append(printed, '.');
        who.to_print -= printed;
        edge(who.output->read_end);
    }
    if (who.to_print > 0) {
        who.output->waits = &who;
    } else if (who.stops_left > 0) {
        --who.stops_left;
        who.stopped = true;
    } else if (who.traits.ends) {
        end_child(who, who.traits.signal != 0 ? who.traits.signal : who.traits.status << 8);
    }
}

void simulated_system::end_child(child_process& who, int wait_status) {
    who.ended = now_;
    who.wait_status = wait_status;
    if (who.output->waits == &who) who.output->waits = nullptr;
    leave_pipe(*who.output);
    edge(who.handle);
}

child_process* simulated_system::child_of(pid_t pid) noexcept {
    const auto place = static_cast<std::size_t>(pid - first_pid - 1);
    return pid > first_pid && place < children_.size() ? children_[place].get() : nullptr;
}

child_process* simulated_system::child_at(int handle) noexcept {
    object* const one = find(handle);
    return one == nullptr ? nullptr : one->process;
}

int simulated_system::signal_child(child_process* who, int signal) {
    if (who == nullptr || who->reaped) return failed(ESRCH);
    if (who->over()) return 0;
    note(static_cast<std::uint64_t>(signal));
    who->asked = who->asked || signal != SIGCONT;
    if (signal == SIGKILL || (signal == SIGTERM && who->traits.heeds_term && !who->stopped)) {
        end_child(*who, signal);
    } else if (signal == SIGCONT && std::exchange(who->stopped, false)) {
        if (who->asked && who->traits.heeds_term) {
            end_child(*who, SIGTERM);
        } else {
            at(now_ + std::chrono::milliseconds(1), [this, who] { go_on(*who); });
        }
    }
    return 0;
}

pid_t simulated_system::reap_child(pid_t pid, int* status) {
    child_process* const who = child_of(pid);
    if (who == nullptr || who->reaped) return failed(ECHILD);
    if (!who->over()) return 0;
    who->reaped = true;
    *status = who->wait_status;
    return pid;
}

}  // namespace clients
