// SPDX-License-Identifier: GPL-3.0-or-later
#include "sampling/command.hpp"

#include "base/text.hpp"
#include "base/units.hpp"
#include "os/find_program.hpp"

#include <poll.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <utility>

namespace postal::sampling {

namespace {

using std::chrono::steady_clock;

constexpr std::size_t longest_saying = 200;
constexpr std::chrono::nanoseconds patience_after_kill = std::chrono::seconds(1);

// Whether one of the descriptors has become readable by then; those below 0 never do.
template <std::size_t Count>
bool wait_for(std::array<pollfd, Count>& asked, steady_clock::time_point until) {
    while (true) {
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - steady_clock::now());
        const int found = ::poll(asked.data(), asked.size(),
                                 static_cast<int>(std::max<std::int64_t>(left.count(), 0)));
        if (found > 0) return true;
        if (found == 0 || errno != EINTR) return false;
    }
}

bool wait_for(int descriptor, steady_clock::time_point until) {
    std::array asked{pollfd{descriptor, POLLIN, 0}};
    return wait_for(asked, until);
}

std::string first_line(std::string_view text) {
    const std::string_view line =
        base::trim(base::trim(text).substr(0, base::trim(text).find('\n')));
    return line.empty() ? std::string{} : ": " + base::printable(line, longest_saying);
}

}  // namespace

base::expected<command> command::make(std::vector<std::string> words) {
    auto program = os::find_program(words.front());
    if (!program) return program.error();
    auto children = os::spawner::create();
    if (!children) return children.error();
    command made(std::move(*children));
    made.words_ = std::move(words);
    made.program_ = std::move(*program);
    return made;
}

command::~command() {
    if (!last_.ended.is_open()) return;
    os::signal_group(last_.running, SIGKILL);
    wait_for(last_.ended.get(), steady_clock::now() + patience_after_kill);
    static_cast<void>(os::reap(last_.running));
}

base::expected<std::string> command::run(std::chrono::nanoseconds limit, int hurry) {
    auto until = steady_clock::now() + limit;
    if (last_.ended.is_open()) {
        // Killed before, and still there: the kernel cannot let go of it.
        if (!wait_for(last_.ended.get(), until))
            return base::fail("the one before it cannot be ended");
        static_cast<void>(os::reap(last_.running));
        last_.ended.close();
    }
    auto started = os::start_printing(children_, program_, words_, most_file, true);
    if (!started) return started.error();
    last_ = std::move(*started);
    std::array asked{pollfd{last_.ended.get(), POLLIN, 0}, pollfd{hurry, POLLIN, 0}};
    const bool in_a_hurry = wait_for(asked, until) && asked.back().revents != 0;
    if (in_a_hurry) until = std::min(until, steady_clock::now() + longest_at_end);
    const bool in_time = wait_for(last_.ended.get(), until);
    // All that is left of its group; not yet reaped, it still has its number.
    os::signal_group(last_.running, SIGKILL);
    if (!in_time && !wait_for(last_.ended.get(), steady_clock::now() + patience_after_kill))
        return base::fail("it took longer than {} and cannot be ended",
                          base::format_duration(limit));
    const auto end = os::reap(last_.running);
    last_.ended.close();
    if (!in_time && in_a_hurry)
        return base::fail("the run was over, and it took {} longer and was killed",
                          base::format_duration(std::min(limit, longest_at_end)));
    if (!in_time)
        return base::fail("it took longer than {} and was killed", base::format_duration(limit));
    return output_after(end.value_or(os::child_end{.signalled = true}));
}

base::expected<std::string> command::output_after(const os::child_end& end) const {
    auto text = os::read_printed(last_, words_.front(), most_output);
    const bool too_much = !text || (end.signalled && end.status_or_signal == SIGXFSZ);
    if (too_much) return base::fail("it printed more than {}", base::format_size(most_output));
    if (end.signalled)
        return base::fail("it was ended by signal {}{}", end.status_or_signal, first_line(*text));
    if (end.status_or_signal != 0)
        return base::fail("it ended with status {}{}", end.status_or_signal, first_line(*text));
    return text;
}

}  // namespace postal::sampling
