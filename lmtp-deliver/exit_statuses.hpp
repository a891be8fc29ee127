// SPDX-License-Identifier: GPL-3.0-or-later
// exit_statuses: what a client is told about a delivery when its agent has ended.
//
// The defaults are those of sysexits.h as MTAs read them: what Postfix's pipe(8) defers is 451,
// what it bounces 554, each with Postfix's enhanced code (RFC 3463). Only an agent that ended by
// itself with a status can have delivered. A TOML file can override single ends, see
// conf/exit-statuses.toml:
//
//   [exit]
//   75 = "451 4.3.0 Try again"       # CODE ENHANCED [TEXT], also for signal, timeout,
//   other = "451 4.3.0"              # "not started" and other; without a TEXT ours is said
//
// load() and parse() fail with "FILE:LINE: reason". They want a code of class 2, 4 or 5 between 200
// and 599, the same class in the enhanced code, at most 200 octets of printable ASCII, and class 2
// only for a status by its number.
#pragma once

#include "base/result.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace postal::lmtp_deliver {

enum class agent_fate : std::uint8_t { exited, signalled, timed_out, not_started };

struct agent_end {
    agent_fate fate = agent_fate::exited;
    int number = 0;  // the exit status, the signal, or the errno of the start
};

struct delivery_reply {
    std::uint16_t code = 0;
    std::string enhanced{};
    std::string text{};
    std::string_view limit{};  // the option whose limit was struck; empty: none
    bool operator==(const delivery_reply&) const = default;
};

class exit_statuses {
  public:
    exit_statuses();  // the defaults
    [[nodiscard]] static base::expected<exit_statuses> load(const std::string& path);
    // The same from text; name stands for the file in failures.
    [[nodiscard]] static base::expected<exit_statuses> parse(std::string_view text,
                                                             const std::string& name);

    // The reply; its text is "SENTENCE" or "SENTENCE: FIRST LINE", below 450 octets.
    // output: what the agent printed, or the beginning of it.
    [[nodiscard]] delivery_reply judge(const agent_end& end, std::string_view output) const;

  private:
    base::expected<void> set(std::string_view key, std::string_view value);
    const delivery_reply& rule_of(const agent_end& end) const noexcept;

    std::array<std::optional<delivery_reply>, 256> numbered_{};  // without a text: our own sentence
    std::array<delivery_reply, 4> others_;  // by agent_fate; exited: with another status
};

// "user unknown" for 67, the meaning in sysexits.h; empty for a status without one.
[[nodiscard]] std::string_view sysexits_meaning(int status) noexcept;

// The first line that is not blank, as printable ASCII (a tab is a blank, anything else "?"),
// without blanks around it, at most 200 octets. May be empty.
[[nodiscard]] std::string first_line(std::string_view output);

}  // namespace postal::lmtp_deliver
