// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli/main.hpp"

#include "base/machine_trouble.hpp"
#include "base/standard_output.hpp"
#include "os/terminal_size.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>

#include <unistd.h>

namespace postal::cli {
namespace {

const char* ended_program = "";
std::atomic<bool> last_was_trouble{false};  // of what was complained of

// What was thrown and caught by nobody, in whichever thread: the run cannot go on, and there may be
// no memory to say so. The first thread that comes here speaks.
[[noreturn]] void end_at_once() noexcept {
    static std::atomic_flag spoken = ATOMIC_FLAG_INIT;
    while (spoken.test_and_set())
        ::pause();
    const auto say = [](const char* why) {
        char line[512];
        const int size = std::snprintf(line, sizeof line, "%s: %s\n", ended_program, why);
        [[maybe_unused]] const auto said =
            ::write(STDERR_FILENO, line, std::min(static_cast<std::size_t>(size), sizeof line - 1));
    };
    try {
        const std::exception_ptr thrown = std::current_exception();
        if (thrown) std::rethrow_exception(thrown);
        say("ended by a defect");
    } catch (const std::bad_alloc&) {
        say("out of memory");
    } catch (const std::exception& problem) {
        say(problem.what());
    } catch (...) {
        say("ended by an unknown exception");
    }
    std::_Exit(static_cast<int>(exit_status::system_error));
}

}  // namespace

void complain(std::string_view program, std::string_view message) {
    // One write, so that the line stays whole when several processes share the terminal.
    const std::string line = os::fitted(fmt::format("{}: {}\n", program, message), STDERR_FILENO);
    std::fwrite(line.data(), 1, line.size(), stderr);
    last_was_trouble.store(base::is_machine_trouble(message));
}

exit_status refuse(std::string_view program, const base::failure& why, exit_status status) {
    complain(program, why.message);
    return status;
}

int run_main(std::string_view program, const std::function<exit_status()>& body) {
    const std::string name(program);
    ended_program = name.c_str();
    std::set_terminate(end_at_once);
    auto status = exit_status::system_error;
    // A pipe that nobody reads any more is an error of a write, not the end before the record is
    // written.
    std::signal(SIGPIPE, SIG_IGN);
    std::signal(SIGXFSZ, SIG_IGN);  // a limit of file sizes, too
    try {
        status = body();
        if (status == exit_status::bad_parameters && last_was_trouble.load())
            status = exit_status::system_error;
    } catch (const std::bad_alloc&) {
        complain(program, "out of memory");
    } catch (const std::exception& problem) {
        complain(program, problem.what());
    }
    const int error = base::flush_standard_output();
    if (error == 0) return static_cast<int>(status);
    // Whoever read the pipe has seen enough.
    if (error != EPIPE)
        complain(program,
                 fmt::format("cannot write to standard output: {}", base::system_message(error)));
    status = exit_status::system_error;
    return static_cast<int>(status);
}

}  // namespace postal::cli
