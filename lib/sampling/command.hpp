// SPDX-License-Identifier: GPL-3.0-or-later
// A command that is run again and again for what it prints, within limits.
//
// It gets /dev/null as its input, this process's environment and folder, a process group of its own
// and no controlling terminal. What it writes to standard output and standard error goes to a file
// in memory, of which most_output octets may be used; no file that it writes may be larger than
// most_file. Once it has ended, or has taken longer than it may, which is longest_at_end once
// somebody is in a hurry, all that is left of its group is killed (SIGKILL); what has left the
// group is not known to us.
//
// run() fails with one line: a status other than 0, a signal, too much output, too long. Used by
// one thread, which is the one that made it.
#pragma once

#include "base/result.hpp"
#include "os/child.hpp"
#include "os/printing_child.hpp"

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace postal::sampling {

class command {
  public:
    static constexpr std::chrono::nanoseconds longest_at_end = std::chrono::seconds(1);
    static constexpr std::uint64_t most_output = std::uint64_t{64} << 10U;
    static constexpr std::uint64_t most_file = std::uint64_t{1} << 20U;

    // `words` is not empty; fails where its first names no program.
    [[nodiscard]] static base::expected<command> make(std::vector<std::string> words);

    command(command&&) noexcept = default;
    command& operator=(command&&) = delete;
    ~command();

    // All that it printed. `hurry`: a descriptor that becomes readable, and stays so, when it is to
    // end soon.
    [[nodiscard]] base::expected<std::string> run(std::chrono::nanoseconds limit, int hurry = -1);

  private:
    explicit command(os::spawner children) : children_(std::move(children)) {}

    [[nodiscard]] base::expected<std::string> output_after(const os::child_end& end) const;

    os::spawner children_;
    std::vector<std::string> words_;
    std::string program_;
    os::printing_child last_;  // its `ended` is open until it is reaped
};

}  // namespace postal::sampling
