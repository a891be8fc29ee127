// SPDX-License-Identifier: GPL-3.0-or-later
// What an audit found, DIR/audit.json, schema "postal-audit/1": of each variant one recorded run,
// and for each place at which the power was cut and each draw of what survived, what was left of
// the mail that had been acknowledged.
//
// It stands in the same folder as postal-compare's experiment.json, which may be missing, and is
// written anew after each cut, so that it is true whenever somebody looks. What follows from it is
// findings.hpp's business, and what it consists of is in record_fields.hpp.
// parse_audit_record() refuses, with one line that names the key, what is no such record. Keys that
// are not known are ignored.
#pragma once

#include "base/host.hpp"
#include "base/result.hpp"
#include "base/words.hpp"
#include "experiment/record.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace postal::audit {

inline constexpr const char* audit_name = "audit.json";

// Why an audit, or that of a variant, ended, where it was not cut short.
inline constexpr const char* all_cuts_done = "all cuts done";

// What became of the writes since the last flush before the cut.
enum class survival : std::uint8_t {
    none,
    all,
    some,  // a random subset
};
constexpr auto words_of(survival) {
    return std::to_array<std::string_view>({"none", "all", "some"});
}

// What a variant is in the audit for.
enum class control : std::uint8_t {
    no,         // it is what the audit is about
    must_lose,  // a server whose flushes do nothing
    must_keep,  // a writer that flushes file and folder
};
constexpr auto words_of(control) {
    return std::to_array<std::string_view>({"no", "must_lose", "must_keep"});
}

// Of the cuts. In a random one, the first of them are a sample of all.
enum class cut_order : std::uint8_t { log, random };
constexpr auto words_of(cut_order) {
    return std::to_array<std::string_view>({"log", "random"});
}

using base::name_of;

// As the sender's ledger has it.
struct lost_message {
    std::string run{};
    std::string session{};
    std::string sequence{};
    std::string recipient{};
    std::string acknowledged{};  // when, RFC 3339
    bool operator==(const lost_message&) const = default;
};

// The disk after one cut and one draw.
struct audited_image {
    std::uint64_t cut = 0;    // entries of the log that had been written
    double at_s = 0;          // since the load began: when the log was last seen that short
    std::uint64_t draw = 0;   // its number at this cut
    std::uint64_t draws = 0;  // of this cut; 0 where that was not recorded
    std::uint64_t seed = 0;   // of the draw, to have it again
    survival what = survival::none;
    std::uint64_t at_risk = 0;   // writes since the last flush
    std::uint64_t survived = 0;  // of these, torn ones too
    std::uint64_t torn = 0;      // of which only some sectors survived

    // Messages. One that was acknowledged after the cut, or never, is in none of these.
    std::uint64_t acknowledged = 0;  // before the cut; the others are of these
    std::uint64_t found = 0;
    std::uint64_t lost = 0;
    std::uint64_t misplaced = 0;   // in somebody else's mailbox
    std::uint64_t duplicated = 0;  // there more than once
    std::uint64_t truncated = 0;   // cut short
    std::uint64_t changed = 0;     // corrupt in another way

    std::uint64_t unopened = 0;  // mailboxes, or messages' files, that could not be read
    // How long before the cut the oldest of those lost had been acknowledged.
    std::optional<double> lost_window_s{};
    std::vector<lost_message> first_lost{};  // a few, in the sender's order
    // The file system did not mount, the server did not start, reading failed: everything that was
    // acknowledged is out of reach, and the counts above, but `acknowledged`, say nothing.
    std::string failure{};
    std::uint64_t fsck_status = 0;  // that it exited with; 128 and more: its signal
    std::string fsck{};             // the first line that complains; empty: clean, or not run
    double seconds = 0;             // that the audit took for it
};

struct audited_variant {
    std::string name{};
    control as = control::no;
    std::string started{};           // ISO 8601, UTC
    std::string mounted{};           // the line of /proc/mounts while it was recorded
    std::uint64_t acknowledged = 0;  // messages, in all
    std::uint64_t entries = 0;       // of the log, while the load ran
    std::uint64_t writes = 0;
    std::uint64_t flushes = 0;
    std::uint64_t octets = 0;  // written
    double recording_s = 0;    // how long the load ran
    double longest_gap_s = 0;  // between two looks at the log's length
    std::uint64_t cuts = 0;    // wanted
    std::string end{};         // why it ended; empty: it was not reached, or is under way
    std::vector<audited_image> images{};  // the draws of a cut one behind the other
    [[nodiscard]] bool ended_whole() const { return end == all_cuts_done; }
};

struct audit_record {
    std::string version{};  // of postal-audit
    std::vector<std::string> argv{};
    std::string title{};
    std::string file{};  // the experiment's
    std::string text{};  // the whole of it
    std::uint64_t seed = 0;
    std::uint64_t cuts = 0;  // wanted of each variant
    cut_order order = cut_order::log;
    std::uint64_t draws = 0;         // of each cut, at most
    std::uint64_t torn_percent = 0;  // of the surviving writes of a draw
    // --cut-at and --draw: the audit is about this cut alone, and of that about this draw.
    std::optional<std::uint64_t> cut_at{};
    std::optional<std::uint64_t> draw{};
    std::uint64_t messages = 0;  // that each load was to send
    std::string started{};
    std::string ended{};  // empty while it runs
    std::string end{};    // why it ended: "all cuts done", "interrupted", ...
    base::host_info host{};
    std::vector<std::pair<std::string, std::string>> versions{};  // program, its --version's line
    // The values of all the experiment's variants; older records have none.
    std::vector<experiment::recorded_variant> settings{};
    std::vector<audited_variant> variants{};
};

[[nodiscard]] std::string audit_text(const audit_record& record);
[[nodiscard]] base::expected<audit_record> parse_audit_record(std::string_view text);

// Whether the folder holds an audit's record, and that record; the failure names the file.
[[nodiscard]] bool is_audited_folder(const std::string& path);
[[nodiscard]] base::expected<audit_record> read_audit(const std::string& folder);

}  // namespace postal::audit
