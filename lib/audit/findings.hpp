// SPDX-License-Identifier: GPL-3.0-or-later
// What an audit found, in figures, words and tables.
//
// The unit is the cut: it harmed where at least one draw of what survived lost acknowledged mail,
// damaged it, or left it out of reach. The cuts are at random entries of one recorded run of a
// variant; a share of them is about cuts of that run, and other runs are other samples.
//
// The controls come first. Where one of them did not come out as it must the audit is blind or
// wrong: then there is no verdict on anything, only what the counts were. The speed of an audit's
// load is nowhere shown: the log was in its way.
//
// Texts hold names from the record as they are; each renderer makes them harmless.
#pragma once

#include "audit/record.hpp"
#include "experiment/findings.hpp"
#include "report/document.hpp"
#include "stats/experiment/share.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace postal::audit {

using experiment::remark;

// Below it, "few cuts" stands by a verdict: the bound of none in so many is 5 %.
inline constexpr std::size_t enough_cuts = 60;

// The least and the most over images; nothing without one.
struct count_range {
    std::optional<std::uint64_t> least{};
    std::uint64_t most = 0;
    void add(std::uint64_t value);
};

// One cut of a variant, over its draws.
struct cut_result {
    std::size_t first = 0;  // its images in audited_variant::images, one behind the other
    std::size_t images = 0;
    std::array<count_range, 3> gone_by{};  // of gone_of(), by survival
    std::optional<std::size_t>
        worst{};  // the image at which most is gone; empty: it harmed nothing
};

struct variant_result {
    std::vector<cut_result> cuts{};
    std::size_t images = 0;
    // Cuts that count: something had been acknowledged before them, and all their draws were looked
    // at, or one that harmed. The others below are of these.
    std::size_t counted = 0;
    std::size_t before_mail = 0;   // cuts before which nothing had been acknowledged
    std::size_t harmed = 0;        // cuts
    std::size_t lost_at = 0;       // cuts at which a message was lost or out of reach
    std::size_t damaged_at = 0;    // cuts at which one was misplaced, cut short or changed
    std::size_t out_of_reach = 0;  // cuts at which a draw failed
    // Of harmed among cuts. Empty where the audit ended early and went through the log in its
    // order: then the cuts that it made are no sample.
    std::optional<stats::share_bounds> share{};
    count_range gone{};                    // messages an image, see gone_of()
    std::array<count_range, 3> gone_by{};  // the same by survival
    count_range lost{}, misplaced{}, duplicated{}, truncated{}, changed{}, unopened{};
    std::size_t failed = 0;            // images
    std::size_t fsck_complained = 0;   // images
    std::optional<double> window_s{};  // the longest
    std::optional<double> flushes{};   // a message
    std::optional<double> writes{};    // a message
    std::string failure{};             // the first of them
};

enum class audit_state : std::uint8_t {
    good,       // the controls came out as they must
    unchecked,  // a control is missing or has not come so far
    blind,      // what has to lose mail lost none
    wrong,      // what has to keep mail lost some
};

struct audit_analysis {
    audit_state state = audit_state::unchecked;
    std::string why{};  // a sentence without its full stop; empty when good
    std::vector<variant_result> variants{};
    [[nodiscard]] bool counts() const noexcept {
        return state == audit_state::good || state == audit_state::unchecked;
    }
};

[[nodiscard]] audit_analysis analyse(const audit_record& of);

// Messages of an image that are not what and where they were: lost, misplaced, cut short or
// changed; all that was acknowledged where it failed.
[[nodiscard]] std::uint64_t gone_of(const audited_image& one);

// One sentence for each variant that is no control; none where the audit has no verdict.
[[nodiscard]] std::vector<std::string> verdict_sentences(const audit_record& of,
                                                         const audit_analysis& found);

// What must not be overlooked, gravest first; the first one is "bad" where there is no verdict.
[[nodiscard]] std::vector<remark> remarks(const audit_record& of, const audit_analysis& found);
[[nodiscard]] std::string describe(const audit_record& of);

// "71 of 100 cuts, 0 to 60 messages of the last 4.8 s", "none in 100 cuts (at most 3 %)",
// "none in 50 cuts (at most 5.8 %); interrupted after 50 of 100 cuts", "no verdict", or "not
// audited" where there is no such variant.
[[nodiscard]] std::string lost_by_power_cut(std::string_view name, const audit_record& of,
                                            const audit_analysis& found);
inline constexpr const char* lost_by_power_cut_title = "acknowledged mail lost by a power cut";

// How often and how much, of each variant; what the draws left; the cuts that took most, of which
// there are at most `most_worst_cuts`; how to repeat it.
inline constexpr std::size_t most_worst_cuts = 20;
[[nodiscard]] report::table loss_table(const audit_record& of, const audit_analysis& found);
[[nodiscard]] report::table draw_table(const audit_record& of, const audit_analysis& found);
[[nodiscard]] report::table worst_table(const audit_record& of, const audit_analysis& found);
[[nodiscard]] report::table setting_table(const audit_record& of);
// A row for each variant: held, lost or out of reach at each place of its log.
[[nodiscard]] report::marks cut_marks(const audit_record& of, const audit_analysis& found);
// All of these but empty ones, in this order.
[[nodiscard]] std::vector<report::table> tables(const audit_record& of,
                                                const audit_analysis& found);

// Verdicts first.
[[nodiscard]] report::document document_of(const audit_record& of, const audit_analysis& found,
                                           report::medium wanted);

// "0 to 60", "3"
[[nodiscard]] std::string show_range(const count_range& one);

}  // namespace postal::audit
