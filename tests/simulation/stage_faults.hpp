// SPDX-License-Identifier: GPL-3.0-or-later
// What the scenario has for the stages of one connection, each at its time: what the server's
// machine is told when it asks.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "proto/smtp/server.hpp"
#include "scenario.hpp"
#include "voice.hpp"

namespace simulation {

// The server's own reply where the scenario has one.
[[nodiscard]] postal::proto::server_reply reply_of(std::uint16_t code);

class stage_faults {
  public:
    // All must outlive it.
    stage_faults(const scenario& of, const line_number& where, voice& said)
        : of_(of), where_(where), voice_(said) {}

    // A stage is come to once more.
    const server_fault* next(postal::proto::server_stage stage);
    // The reply that it has, if any; what else there is holds for the reply that is to be written.
    // Throws std::bad_alloc where there is no memory.
    std::optional<postal::proto::server_reply> obey(const server_fault* what, bool answered);

  private:
    const scenario& of_;
    const line_number where_;
    voice& voice_;
    std::array<std::uint32_t, postal::proto::server_stage_count> asked_{};  // so often, by stage
};

}  // namespace simulation
