// SPDX-License-Identifier: GPL-3.0-or-later
// Samples of another machine, which a command such as "/usr/bin/ssh HOST cat" fetches.
//
// Flow: take() each second. It starts the command, with the files of /proc behind its arguments,
// and has the sample at a later call, once the command has ended: it never waits. What the command
// prints goes to a file in memory, whose time of writing is the sample's, however late it is
// collected.
//
// A command that fails, prints nothing of use or takes too long (then it is killed with its process
// group) gives no sample and is tried again; problem() keeps what it said first. Processes are not
// watched there. Limits: the kernel stamps writing to some 4 ms, and what the way from the other
// machine takes is not known; a command that leaves 16 MiB is killed by the kernel.
#pragma once

#include "base/file_descriptor.hpp"
#include "os/child.hpp"
#include "os/printing_child.hpp"
#include "testbed/system_sample.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace postal::testbed {

struct remote_plan {
    std::vector<std::string> command;  // a path first; PATH is not searched
    std::vector<std::string> devices;  // as device_finder::elsewhere() takes them
    std::chrono::nanoseconds time_limit = std::chrono::seconds{10};
};

class remote_sampler {
  public:
    // `children` must outlive this, and belongs to the same thread. The command gets this process's
    // environment.
    remote_sampler(os::spawner& children, const remote_plan& plan);
    remote_sampler(remote_sampler&&) = delete;
    ~remote_sampler();  // kills a command that runs

    // collect(), and the command once more unless it runs.
    [[nodiscard]] std::optional<system_sample> take();

    // The sample of a command that has ended since the last call.
    [[nodiscard]] std::optional<system_sample> collect();

    // Readable once the command has ended; -1: none runs.
    [[nodiscard]] int descriptor() const noexcept { return last_.ended.get(); }

    // The first failure, in one line that is fit for a terminal.
    [[nodiscard]] const std::optional<std::string>& problem() const noexcept { return problem_; }

  private:
    using clock = std::chrono::steady_clock;

    void start();
    std::optional<system_sample> sample_of(const os::child_end& end);
    [[nodiscard]] clock::time_point written_at() const;
    void note(std::string_view what);

    os::spawner* children_;
    std::vector<std::string> command_;
    std::chrono::nanoseconds time_limit_;
    device_finder devices_;
    os::printing_child last_;  // its `ended` is open while it runs
    clock::time_point started_;
    std::optional<std::string> problem_;
};

}  // namespace postal::testbed
