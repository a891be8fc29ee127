#include "cli/main.hpp"

#include "base/result.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <exception>

namespace postal::cli {

void complain(std::string_view program, std::string_view message) {
    // One write, so that the line stays whole when several processes share the terminal.
    const std::string line = fmt::format("{}: {}\n", program, message);
    std::fwrite(line.data(), 1, line.size(), stderr);
}

int run_main(std::string_view program, const std::function<exit_status()>& body) {
    auto status = exit_status::system_error;
    // A pipe that nobody reads any more is an error of a write, not the end before the record is
    // written.
    std::signal(SIGPIPE, SIG_IGN);
    std::signal(SIGXFSZ, SIG_IGN);  // a limit of file sizes, too
    try {
        status = body();
    } catch (const std::exception& problem) {
        complain(program, problem.what());
    }
    if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
        complain(program,
                 fmt::format("cannot write to standard output: {}", base::system_message(errno)));
        status = exit_status::system_error;
    }
    return static_cast<int>(status);
}

}  // namespace postal::cli
