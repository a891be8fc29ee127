// SPDX-License-Identifier: GPL-3.0-or-later
// Errors counted by kind, with one sample each: a million rejections are one line.
//
// A kind is (stage, code, detail), and for a server's refusal its text: code is the reply code
// then, and detail the enhanced code ("5.1.1") or empty; of IMAP and POP3, whose replies have no
// codes, code is 0 and detail refused_reason. Texts are the same when they differ in words with
// digits or an @ only. For what went wrong on the way, code is 0 and detail one word of the
// program's own (timeout_reason, "reset"). The first sample of a kind is kept, without the enhanced
// code at its beginning, made printable and cut at 200 octets.
//
// Bounded: after max_texts texts of a code everything new of it is counted under other_texts, after
// max_kinds kinds everything new under {stage "other", code 0, detail "other"}, so no server can
// make it grow, and the total stays exact. add() on a kind that is there costs a comparison or a
// short scan. Nothing here fails.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace postal::stats {

// Words that the tables and the log's columns know; programs use them for their local failures.
inline constexpr std::string_view connect_stage = "connect";
inline constexpr std::string_view timeout_reason = "timeout";
inline constexpr std::string_view refused_reason = "refused";
inline constexpr std::string_view stopped_reason = "stopped";  // by ourselves: the run is over

struct error_entry {
    std::string stage;
    int code = 0;        // 0: not a server's reply
    std::string detail;  // the enhanced code, or for code 0 the reason
    std::uint64_t count = 0;
    std::string sample;
};

// Errors by coarse class; every error is in exactly one.
struct error_classes {
    std::uint64_t connect = 0;    // stage "connect", whatever the reason
    std::uint64_t timeout = 0;    // reason "timeout" in any other stage
    std::uint64_t temporary = 0;  // reply codes 400-499
    std::uint64_t permanent = 0;  // reply codes 500-599
    std::uint64_t other = 0;
};

class error_table {
  public:
    static constexpr std::size_t max_kinds = 256;
    static constexpr std::size_t max_sample = 200;
    static constexpr std::size_t max_texts = 8;
    static constexpr std::string_view other_texts = "other texts";

    // Told of each kind that is new in this table, when its first error has just been counted, and
    // of the peer that it was about. Not of what was counted elsewhere.
    using listener = std::function<void(const error_entry& first, std::string_view peer)>;
    void on_new_kind(listener told) { told_ = std::move(told); }

    // enhanced_or_reason and stage beyond 64 octets are cut; `peer` is for the listener alone.
    void add(std::string_view stage, int code, std::string_view enhanced_or_reason,
             std::string_view sample, std::string_view peer = {});
    // What was counted elsewhere.
    void add(const error_entry& counted);
    void merge(const error_table& other);
    // All but the listener.
    void clear() noexcept;

    [[nodiscard]] std::uint64_t total() const noexcept { return total_; }
    [[nodiscard]] bool empty() const noexcept { return total_ == 0; }
    // In the order in which the kinds first came.
    [[nodiscard]] const std::vector<error_entry>& entries() const noexcept { return entries_; }
    // The most frequent first.
    [[nodiscard]] std::vector<error_entry> by_count() const;
    [[nodiscard]] error_classes classes() const noexcept;

  private:
    struct kind {
        std::string_view stage;
        int code = 0;
        std::string_view detail;
        std::string_view sample{};
    };
    static bool has_text(const kind& one) noexcept;
    static bool matches(const error_entry& entry, const kind& wanted) noexcept;

    error_entry& entry_for(const kind& wanted);

    std::vector<error_entry> entries_;
    std::size_t last_ = 0;  // where the previous add() counted: errors come in runs
    std::uint64_t total_ = 0;
    listener told_;
};

}  // namespace postal::stats
