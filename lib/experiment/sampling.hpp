// SPDX-License-Identifier: GPL-3.0-or-later
// The samples of one run: of this machine, or of another one where a command fetches them.
//
// Flow: create(); watch() the servers; begin() right before the loads start; take() each second;
// finish() when they have ended. What cannot be sampled is a note, not an end.
#pragma once

#include "experiment/costs.hpp"
#include "experiment/supervisor.hpp"

#include "base/result.hpp"
#include "testbed/remote_sampler.hpp"
#include "testbed/system_sample.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace postal::experiment {

class sampling {
  public:
    // `remote`: the words of the command; none samples this machine. `by` must outlive this.
    [[nodiscard]] static base::expected<std::unique_ptr<sampling>> create(
        const std::vector<std::string>& devices, std::vector<std::string> remote, supervisor& by);

    // Of another machine nothing is watched.
    void watch(pid_t root);

    void begin();
    void take();
    // With memory and descriptors, however many processes there are.
    void take_all();
    void finish();

    [[nodiscard]] const cost_log& log() const noexcept { return log_; }
    // What was not to be seen, one line each.
    [[nodiscard]] std::vector<std::string> notes() const;

  private:
    explicit sampling(supervisor& by) : by_(&by) {}

    void take_and_wait();

    supervisor* by_;
    std::vector<std::string> devices_;
    std::optional<testbed::system_sampler> here_;
    std::optional<testbed::remote_sampler> elsewhere_;
    std::vector<std::string> notes_;
    cost_log log_;
};

}  // namespace postal::experiment
