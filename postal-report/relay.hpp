// SPDX-License-Identifier: GPL-3.0-or-later
// What a relay between postal and bhm did: how much mail it had at each moment, how long it took to
// get rid of it, and how long messages were on their way.
//
// From a ledger that both wrote all is known, of each recipient's message, and apart for the
// domains with most of it. From the two records only how many were accepted and delivered in each
// interval is. Times are those of the hosts' clocks. Nothing is kept of single messages, so that
// memory does not depend on how many there are.
//
// Fails with one line that names the file.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "postal-report/csv.hpp"
#include "postal-report/record.hpp"
#include "postal-report/relay_flow.hpp"
#include "report/document.hpp"

namespace postal::report {

// All mail, or that of one domain.
struct relay_part {
    std::string name;
    relay_counts counts;  // of records accepted and delivered only
    relay_curve curve;
    relay_backlog backlog;
    std::optional<double> drain_s;
    transit_times transit;  // of a ledger

    // Of that share of what was accepted; nothing where it lies among what never arrived.
    [[nodiscard]] std::optional<double> transit_us(double q) const noexcept;
    // Of what arrived; nothing when that is nothing.
    [[nodiscard]] std::optional<double> mean_transit_us() const noexcept;
    [[nodiscard]] std::optional<double> longest_transit_us() const noexcept;
};

struct relay_report {
    std::string source;                // the file or files
    std::vector<std::string> domains;  // of which parts tell; "" stands for addresses without one
    double began_s = 0;                // since the epoch: where the curves begin
    double resolution_s = 1;           // of the curves
    std::vector<relay_part> parts = std::vector<relay_part>(1);  // all mail, then domains
    std::optional<phase> transit;                                // the receiver's, of records
    std::vector<std::string> remarks;
    bool from_ledger = false;
    bool one_host = false;  // its records are known to be of one clock
    bool kept_word = true;  // see ledger.hpp

    [[nodiscard]] const relay_part& all() const noexcept { return parts.front(); }
};

// With `domains` those are told apart, else the 20 with most mail; the others are one part.
base::expected<relay_report> read_relay_ledger(
    const std::vector<std::string>& files,
    const std::optional<std::vector<std::string>>& domains = {});

// One record of postal and one of bhm, in either order.
base::expected<relay_report> read_relay_records(const std::vector<std::string>& files);

// What --relay shows: a report, and another one that it is held against.
struct shown_relay {
    relay_report here;
    std::optional<relay_report> against;
};

document document_of(const shown_relay& one, medium wanted);
// One line for each part, of both reports.
sheet sheet_of(const shown_relay& one);

// That of a name; nullptr when there is none.
const relay_part* find_part(const relay_report& one, const std::string& name) noexcept;

// Of both reports; those of the other one begin with its file.
std::vector<std::string> relay_remarks(const shown_relay& one);

// The result in one sentence without a full stop, and the tables but for the one over time.
std::string relay_result(const relay_report& one);
std::vector<table> relay_tables(const shown_relay& one);
// All mail, at most that many rows.
table relay_course_table(const relay_report& one, std::size_t most_rows);

// What the page's charts draw, as JSON; see chart_data.hpp.
std::string relay_chart_data(const shown_relay& one);
// The parts that have a chart of their own: the domains, where there are several.
std::vector<const relay_part*> drawn_parts(const relay_report& one);

}  // namespace postal::report
