// SPDX-License-Identifier: GPL-3.0-or-later
// What is to be sampled beside a run, as its options say: mail queues, and commands that print
// numbers.
//
//   queue   = ( "postfix" / "exim" / "opensmtpd" / "chasquid" / "courier" ) [ ":" directory ]
//   sample  = name "=" command          ; name: 1 to 40 letters, digits, blanks, "-", "_" and "."
//
// A command is split as base/shell_words.hpp says; no shell runs it. Each fails with one line that
// says what is wrong and what would be right, without the option's name.
#pragma once

#include "base/result.hpp"
#include "base/words.hpp"

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace postal::sampling {

enum class queue_kind : std::uint8_t { postfix, exim, opensmtpd, chasquid, courier };
inline constexpr std::array<std::string_view, 5> queue_kinds{"postfix", "exim", "opensmtpd",
                                                             "chasquid", "courier"};

struct queue_choice {
    queue_kind kind = queue_kind::postfix;
    std::string directory;  // empty: where the server usually has it
    std::string text;       // as it was given

    [[nodiscard]] std::string_view server() const noexcept {
        return queue_kinds[static_cast<std::size_t>(kind)];
    }
};

struct command_choice {
    std::string name;
    std::vector<std::string> words;
    std::string text;
};

struct choice {
    static constexpr std::size_t most_sources = 8;
    static constexpr std::chrono::nanoseconds usual = std::chrono::seconds(1);
    // Beside a search of the highest rate, whose trials begin and end with what a queue holds.
    static constexpr std::chrono::nanoseconds usual_in_search = std::chrono::milliseconds(250);

    std::vector<queue_choice> queues;
    std::vector<command_choice> commands;
    std::optional<std::chrono::nanoseconds> every;  // between the beginnings of two samples

    [[nodiscard]] bool any() const noexcept { return !queues.empty() || !commands.empty(); }
    [[nodiscard]] bool full() const noexcept {
        return queues.size() + commands.size() == most_sources;
    }
    [[nodiscard]] std::chrono::nanoseconds period() const noexcept { return every.value_or(usual); }
};

[[nodiscard]] base::expected<queue_choice> parse_queue(std::string_view text);
[[nodiscard]] base::expected<command_choice> parse_sample(std::string_view text);

// Add what was parsed; fail for one too many, and for a second one of the same name or place.
[[nodiscard]] base::expected<void> add(choice& to, queue_choice one);
[[nodiscard]] base::expected<void> add(choice& to, command_choice one);

}  // namespace postal::sampling
