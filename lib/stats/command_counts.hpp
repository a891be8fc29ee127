// SPDX-License-Identifier: GPL-3.0-or-later
// What a client's commands, and the actions of a profile that they make up, came to in one time
// slice.
//
// A part of tally that stays empty for programs that count none. Kinds and verbs are numbers; their
// names stand in run_description. Both are counted when they end: a command when it is answered, or
// when its connection ends before that, an action when its last command does. So in every time
// slice, and in every sum of time slices,
//   sent  = ok + no + bad + unanswered        of each kind, and of all
//   begun = ok + refused + failed + nothing   of each verb, and of all
// Counting a command is two additions. The first action of a verb takes memory, for its times;
// later ones none, also after a clear(). Nothing fails.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "stats/histogram.hpp"

namespace postal::stats {

// RFC 9051 7.1: how a tagged response ends a command.
enum class command_end : std::uint8_t { ok, no, bad, unanswered };

struct command_count {
    std::uint64_t sent = 0;
    std::uint64_t ok = 0;
    std::uint64_t no = 0;
    std::uint64_t bad = 0;
    std::uint64_t unanswered = 0;  // the connection ended first

    void add(command_end how) noexcept;
    void merge(const command_count& other) noexcept;
};

struct command_counts {
    static constexpr std::size_t most_kinds = 40;

    std::array<command_count, most_kinds> kinds{};

    // A kind from most_kinds on is not counted.
    void add(std::size_t kind, command_end how) noexcept;
    void merge(const command_counts& other) noexcept;
    void clear() noexcept { kinds.fill({}); }
    // Of all kinds.
    [[nodiscard]] command_count total() const noexcept;
};

enum class action_end : std::uint8_t {
    ok,
    refused,  // one of its commands was answered with NO or BAD, and the session goes on
    failed,   // the connection ended first
    nothing   // there was nothing to do, such as no message to fetch: no command was sent
};

// Of a mailbox, by how many messages it holds: none, then a class for each power of ten, "1" with 1
// to 9, "10" with 10 to 99, up to "1000000" and more.
inline constexpr std::size_t size_classes = 8;
[[nodiscard]] std::size_t size_class_of(std::uint64_t messages) noexcept;
// The least that is in it, as records call it.
[[nodiscard]] std::uint64_t least_of_size_class(std::size_t index) noexcept;

struct action_count {
    std::uint64_t begun = 0;
    std::uint64_t ok = 0;
    std::uint64_t refused = 0;
    std::uint64_t failed = 0;
    std::uint64_t nothing = 0;
    std::optional<histogram> time{};  // of those that ended well
    // The same by the size of the mailbox.
    std::array<std::optional<histogram>, size_classes> by_size{};

    void add(action_end how, std::chrono::nanoseconds time, std::uint64_t messages);
    void merge(const action_count& other);
    void clear() noexcept;
};

struct action_counts {
    static constexpr std::size_t most_verbs = 64;

    std::vector<action_count> verbs;  // as far as one was counted

    // A verb from most_verbs on is not counted.
    // `messages` lay in the mailbox when it began.
    void add(std::size_t verb, action_end how, std::chrono::nanoseconds time,
             std::uint64_t messages = 0);
    void merge(const action_counts& other);
    // Back to zero, keeping the memory.
    void clear() noexcept;
};

}  // namespace postal::stats
