// SPDX-License-Identifier: GPL-3.0-or-later
#include "postal-report/relay.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "base/text.hpp"
#include "ledger/reader.hpp"
#include "postal-report/figures.hpp"
#include "postal-report/ledger.hpp"

namespace postal::report {

namespace {

constexpr std::size_t most_domains = 20;
constexpr const char* all_mail = "all mail";

relay_end end_of(const ledger::judgement& one) {
    switch (one.what) {
        case ledger::finding::found:
        case ledger::finding::vanished:
            return relay_end::delivered;
        case ledger::finding::misplaced:
            return relay_end::elsewhere;
        case ledger::finding::bounced:
            return is_given_up(*one.back) ? relay_end::given_up : relay_end::refused;
        case ledger::finding::not_known:
            return relay_end::not_known;
        case ledger::finding::not_looked_for:
            return relay_end::not_looked_for;
        case ledger::finding::lost:
            break;
    }
    return relay_end::still_owed;
}

relayed_message relayed(const ledger::judgement& one) {
    relayed_message result;
    if (one.sent->what == ledger::outcome::accepted) result.accepted_us = one.sent->time_us;
    if (one.first != nullptr) {
        result.delivered_us = one.first->time_us;
        if (one.first->sent_us > 0) result.sent_us = one.first->sent_us;
    }
    if (one.back != nullptr) result.returned_us = one.back->time_us;
    result.end = end_of(one);
    result.copies = one.copies;
    return result;
}

relay_part part_of(std::string name, const relay_flow& flow, const relay_flow& frame) {
    relay_part result;
    result.name = std::move(name);
    result.counts = flow.counts();
    result.curve = flow.curve_in(frame);
    result.backlog = measure_backlog(result.curve);
    result.drain_s = flow.drain_s();
    result.transit = flow.transit();
    return result;
}

void add_clock_remark(relay_report& to) {
    const transit_times& times = to.all().transit;
    if (times.before_sent() == 0) return;
    to.remarks.push_back(fmt::format(
        "{} received before being sent, by up to {}: the clocks of the hosts differ, and transit "
        "times and backlogs are wrong by as much; a transit below 0 counts as 0",
        plural(times.before_sent(), "message was", "messages were"),
        show_latency(static_cast<double>(times.furthest_before_us()))));
}

void add_unacknowledged_remark(relay_report& to) {
    const std::uint64_t count = to.all().counts.unacknowledged;
    if (count == 0) return;
    to.remarks.push_back(fmt::format(
        "{} delivered that the relay is not known to have accepted; backlog and transit leave "
        "them out",
        plural(count, "message was", "messages were")));
}

// ---- records ----

enum class side { sender, receiver };

struct placed_record {
    record of;
    side is = side::sender;
    double began_s = 0;
};

base::expected<placed_record> read_placed(const std::string& file) {
    auto read = read_record(file);
    if (!read) return read.error();
    placed_record result;
    result.of = std::move(*read);
    const std::string name = base::printable(file, 300);
    const std::string& program = result.of.program;
    if (program != "postal" && program != "bhm") {
        return base::fail("{}: is a record of {}; --relay takes one of postal and one of bhm", name,
                          base::printable(program, 80));
    }
    result.is = program == "postal" ? side::sender : side::receiver;
    const auto began = stats::seconds_of_timestamp(result.of.started);
    if (!began) {
        return base::fail("{}: started is \"{}\"; --relay needs a time such as {}", name,
                          base::printable(result.of.started, 80), "2026-01-01T00:00:00.000Z");
    }
    result.began_s = *began;
    if (result.of.intervals.empty()) {
        return base::fail("{}: has no intervals, from which --relay takes the course", name);
    }
    return result;
}

std::vector<relay_interval> intervals_of(const placed_record& one) {
    std::vector<relay_interval> result;
    for (const interval& each : one.of.intervals) {
        result.push_back({.start_s = one.began_s + each.start_s,
                          .end_s = one.began_s + each.end_s,
                          .count = static_cast<double>(each.recipients)});
    }
    return result;
}

std::uint64_t sum_of(const record& one) {
    std::uint64_t sum = 0;
    for (const interval& each : one.intervals)
        sum += each.recipients;
    return sum;
}

std::string clock_text(const base::host_info& of) {
    if (!of.clock) return fmt::format("of that of {} nothing is known", of.name);
    if (!of.clock->synchronised) return fmt::format("that of {} was not synchronised", of.name);
    return fmt::format("that of {} was synchronised (estimated error {}, at most {})", of.name,
                       show_latency(static_cast<double>(of.clock->estimated_error_us)),
                       show_latency(static_cast<double>(of.clock->most_error_us)));
}

// Containers on one kernel have its clock, whatever they are called.
void compare_hosts(relay_report& to, const base::host_info& sender,
                   const base::host_info& receiver) {
    const bool told = !sender.boot_id.empty() && !receiver.boot_id.empty();
    if (told ? sender.boot_id != receiver.boot_id : sender.name != receiver.name) {
        to.remarks.push_back(fmt::format(
            "the records are of two hosts, {} and {}: their courses are laid over each other by "
            "the clocks of these, and transit compares them; {}, {}",
            sender.name, receiver.name, clock_text(sender), clock_text(receiver)));
    }
    to.one_host = told && sender.boot_id == receiver.boot_id;
}

// The receiver has timed what came; what did not come lies above all of that. It counts messages,
// of which the shares are thought to be those of their recipients.
phase among_all_accepted(phase timed, std::uint64_t accepted, std::uint64_t delivered) {
    if (delivered == 0 || delivered >= accepted || timed.count <= timed.not_accepted) return timed;
    const std::uint64_t known = timed.count - timed.not_accepted;
    const double all =
        static_cast<double>(known) * static_cast<double>(accepted) / static_cast<double>(delivered);
    timed.not_accepted = std::max<std::uint64_t>(
        1, static_cast<std::uint64_t>(std::llround(std::min(all, 1e18))) - known);
    timed.count = known + timed.not_accepted;
    const auto ranked = [&](double q) -> std::optional<std::chrono::nanoseconds> {
        const std::uint64_t rank = stats::histogram::rank_of(q, timed.count);
        if (!timed.distribution || rank > timed.distribution->count()) return std::nullopt;
        return timed.distribution->at_rank(rank);
    };
    timed.p50 = ranked(0.5);
    timed.p90 = ranked(0.9);
    timed.p99 = ranked(0.99);
    timed.p999 = ranked(0.999);
    return timed;
}

relay_report report_of(const placed_record& sender, const placed_record& receiver) {
    relay_report result;
    result.source = sender.of.file + ", " + receiver.of.file;
    placed_curve placed = curve_of(intervals_of(sender), intervals_of(receiver));
    result.began_s = placed.began_s;
    result.resolution_s = std::max(sender.of.interval_s, receiver.of.interval_s);
    relay_part& all = result.parts.front();
    all.name = all_mail;
    all.counts.accepted = sum_of(sender.of);
    all.counts.delivered = sum_of(receiver.of);
    all.backlog = measure_backlog(placed.curve);
    all.curve = std::move(placed.curve);
    all.drain_s = placed.drain_s;
    if (const phase* transit = receiver.of.find_phase("transit"); transit != nullptr) {
        result.transit = among_all_accepted(*transit, all.counts.accepted, all.counts.delivered);
    }
    compare_hosts(result, sender.of.host, receiver.of.host);
    return result;
}

}  // namespace

std::optional<double> relay_part::transit_us(double q) const noexcept {
    return transit.quantile_us(q, counts.accepted);
}

std::optional<double> relay_part::mean_transit_us() const noexcept {
    if (transit.count() == 0) return std::nullopt;
    return transit.mean_us();
}

std::optional<double> relay_part::longest_transit_us() const noexcept {
    if (transit.count() == 0) return std::nullopt;
    return transit.at_rank_us(transit.count());
}

base::expected<relay_report> read_relay_ledger(
    const std::vector<std::string>& files, const std::optional<std::vector<std::string>>& domains) {
    auto book = ledger::reader::open(files);
    if (!book) return book.error();
    auto names = domains ? base::expected<std::vector<std::string>>(*domains)
                         : book->largest_domains(most_domains);
    if (!names) return names.error();
    relay_flow all;
    std::vector<relay_flow> flows(names->size() + 1);
    ledger::questions questions;
    questions.domains = *names;
    questions.on_judged = [&](const ledger::judgement& one, std::size_t domain) {
        const relayed_message message = relayed(one);
        all.add(message);
        flows[domain].add(message);
    };
    const auto found = book->reconcile(questions);
    if (!found) return found.error();

    relay_report result;
    result.source = base::join(files, ", ");
    result.from_ledger = true;
    result.kept_word = !found->totals.broken_promise();
    result.began_s = static_cast<double>(all.bins().start_s());
    result.resolution_s = static_cast<double>(all.bins().width_s());
    result.parts.front() = part_of(all_mail, all, all);
    for (std::size_t each = 0; each < names->size(); ++each) {
        const std::string& name = (*names)[each];
        result.parts.push_back(part_of(name.empty() ? "(no domain)" : name, flows[each], all));
    }
    const relay_counts& others = flows.back().counts();
    if (others.accepted + others.unacknowledged > 0) {
        result.parts.push_back(part_of("other domains", flows.back(), all));
    }
    result.domains = std::move(*names);
    result.remarks = ledger_remarks(*found);
    add_clock_remark(result);
    add_unacknowledged_remark(result);
    return result;
}

base::expected<relay_report> read_relay_records(const std::vector<std::string>& files) {
    std::array<std::optional<placed_record>, 2> sides;
    for (const std::string& file : files) {
        auto read = read_placed(file);
        if (!read) return read.error();
        std::optional<placed_record>& place = sides[static_cast<std::size_t>(read->is)];
        if (place) {
            return base::fail(
                "{}: is a second record of {}; --relay takes one of postal and one of bhm",
                base::printable(file, 300), read->of.program);
        }
        place = std::move(*read);
    }
    return report_of(*sides[0], *sides[1]);
}

}  // namespace postal::report
