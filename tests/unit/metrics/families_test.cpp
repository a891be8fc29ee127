// SPDX-License-Identifier: GPL-3.0-or-later
// What is shown to scrapers: every counter that means something, distributions, bounded labels.
#include "metrics/families.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>

using namespace postal;
using namespace std::chrono_literals;
using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;

namespace {

stats::run_description sender() {
    stats::run_description run;
    run.program = "postal";
    run.version = "1.0.0";
    run.phases = {"connect", "message"};
    run.message_phase = 1;
    return run;
}

stats::time_slice one_second() {
    stats::time_slice made(2);
    made.end_s = 1;
    made.counts.started = 5;
    made.counts.messages = 3;
    made.counts.rejected = 2;
    made.counts.latency[1].record(80us);
    made.counts.latency[1].record(3ms);
    made.counts.latency[1].record(20min);
    for (const char* enhanced : {"5.1.1", "5.7.1"})
        made.counts.errors.add("rcpt", 550, enhanced, "refused by <evil>");
    made.counts.errors.add("connect", 0, "timeout", "");
    return made;
}

const MetricFamily* find(const metrics::exposition& in, const std::string& name) {
    const auto& all = in.families;
    const auto found =
        std::find_if(all.begin(), all.end(), [&](const auto& one) { return one.name == name; });
    return found == all.end() ? nullptr : &*found;
}

std::string label_of(const ClientMetric& of, const std::string& name) {
    for (const auto& one : of.label)
        if (one.name == name) return one.value;
    return {};
}

}  // namespace

TEST_CASE("metrics: counters of the run are there, and no others") {
    stats::run_report report(sender());
    report.add_time_slice(one_second());
    const auto all = metrics::families_of(report, {});
    const MetricFamily* messages = find(all, "postal_messages_total");
    REQUIRE(messages != nullptr);
    CHECK(messages->type == MetricType::Counter);
    CHECK(messages->metric.front().counter.value == 3);
    CHECK(label_of(messages->metric.front(), "program") == "postal");
    REQUIRE(find(all, "postal_rejected_total") != nullptr);
    CHECK(find(all, "postal_deleted_total") == nullptr);  // a reader's
    CHECK(find(all, "postal_due_total") == nullptr);      // an open loop's
    for (const MetricFamily& one : all.families)
        CHECK(std::count_if(all.families.begin(), all.families.end(),
                            [&](const auto& other) { return other.name == one.name; }) == 1);
}

TEST_CASE("metrics: figures of the whole run are there once they are known") {
    stats::run_report report(sender());
    CHECK(find(metrics::families_of(report, {}), "postal_first_accepted_seconds") == nullptr);
    stats::time_slice first = one_second();
    first.counts.first_accepted = 250ms;
    report.add_time_slice(first);
    const auto all = metrics::families_of(report, {});
    const MetricFamily* known = find(all, "postal_first_accepted_seconds");
    REQUIRE(known != nullptr);
    CHECK(known->type == MetricType::Gauge);
    CHECK(known->metric.front().gauge.value == Approx(0.25));
}

TEST_CASE("metrics: errors by stage and code, without a peer's words") {
    stats::run_report report(sender());
    report.add_time_slice(one_second());
    const auto all = metrics::families_of(report, {});
    const MetricFamily* errors = find(all, "postal_errors_total");
    REQUIRE(errors != nullptr);
    REQUIRE(errors->metric.size() == 2);
    CHECK(label_of(errors->metric[0], "stage") == "connect");
    CHECK(label_of(errors->metric[0], "code") == "timeout");
    CHECK(label_of(errors->metric[1], "code") == "550");
    CHECK(errors->metric[1].counter.value == 2);
}

TEST_CASE("metrics: a phase's distribution ends with all of its values") {
    stats::run_report report(sender());
    report.add_time_slice(one_second());
    const auto all = metrics::families_of(report, {});
    const MetricFamily* phases = find(all, "postal_phase_seconds");
    REQUIRE(phases != nullptr);
    REQUIRE(phases->metric.size() == 2);
    CHECK(label_of(phases->metric[1], "phase") == "message");
    const auto& of = phases->metric[1].histogram;
    CHECK(of.sample_count == 3);
    CHECK(of.sample_sum == Approx(1200.00308));
    std::uint64_t before = 0;
    for (const auto& bucket : of.bucket) {
        CHECK(bucket.cumulative_count >= before);
        before = bucket.cumulative_count;
    }
    const auto within = [&](double seconds) {
        const auto found = std::find_if(of.bucket.begin(), of.bucket.end(), [&](const auto& one) {
            return one.upper_bound == seconds;
        });
        REQUIRE(found != of.bucket.end());
        return found->cumulative_count;
    };
    CHECK(of.bucket.front().cumulative_count == 0);
    CHECK(within(0.0001) == 1);  // 80 us
    CHECK(within(0.005) == 2);
    CHECK(within(300) == 2);
    CHECK(of.bucket.back().upper_bound == std::numeric_limits<double>::infinity());
    CHECK(of.bucket.back().cumulative_count == 3);
    CHECK(of.bucket[of.bucket.size() - 2].upper_bound == Approx(1200).epsilon(0.02));
    CHECK(of.bucket[of.bucket.size() - 2].cumulative_count == 3);
}

TEST_CASE("metrics: limits are shown before anybody strikes one") {
    stats::run_description server = sender();
    server.program = "bhm";
    server.serves = true;
    server.limits = {"max-held", "sessions"};
    server.held = [] { return std::uint64_t{7}; };
    server.most_held = 100;
    stats::run_report report(server);
    stats::time_slice first(2);
    first.end_s = 1;
    first.counts.limits.add("sessions", 3);
    report.add_time_slice(first);
    const auto all = metrics::families_of(report, {});
    const MetricFamily* struck = find(all, "postal_limit_strikes_total");
    REQUIRE(struck != nullptr);
    REQUIRE(struck->metric.size() == 2);
    CHECK(struck->metric.front().label.back().value == "max-held");
    CHECK(struck->metric.front().counter.value == 0);
    CHECK(struck->metric.back().counter.value == 3);
    REQUIRE(find(all, "postal_held_octets") != nullptr);
    CHECK(find(all, "postal_held_octets")->metric.front().gauge.value == 7);
    CHECK(find(all, "postal_held_octets_limit")->metric.front().gauge.value == 100);
    server.held = nullptr;
    const auto without = metrics::families_of(stats::run_report(server), {});
    CHECK(find(without, "postal_held_octets") == nullptr);
}

TEST_CASE("metrics: what waits is a gauge, for it becomes less") {
    stats::run_description server = sender();
    server.program = "bhm";
    server.serves = server.defers = true;
    stats::run_report report(server);
    stats::time_slice first(2);
    first.end_s = 1;
    first.counts.deferred_recipients = first.counts.not_retried = 2;
    report.add_time_slice(first);
    const auto all = metrics::families_of(report, {});
    REQUIRE(find(all, "postal_not_retried") != nullptr);
    CHECK(find(all, "postal_not_retried")->type == MetricType::Gauge);
    CHECK(find(all, "postal_not_retried")->metric.front().gauge.value == 2);
    CHECK(find(all, "postal_not_retried_total") == nullptr);
}

TEST_CASE("metrics: the newest samples, queues and others apart") {
    stats::run_report report(sender());
    CHECK(find(metrics::families_of(report, {}), "postal_queue_messages") == nullptr);
    report.latest_samples = {{"postfix", "messages", 12, true},
                             {"postfix active", "messages", 12, false},
                             {"load", "", 0.5, false}};
    const auto all = metrics::families_of(report, {});
    const MetricFamily* const queue = find(all, "postal_queue_messages");
    REQUIRE(queue != nullptr);
    CHECK(queue->type == MetricType::Gauge);
    REQUIRE(queue->metric.size() == 2);
    CHECK(label_of(queue->metric[1], "name") == "postfix active");
    CHECK(queue->metric[1].gauge.value == 12);
    const MetricFamily* const other = find(all, "postal_sample");
    REQUIRE(other != nullptr);
    REQUIRE(other->metric.size() == 1);
    CHECK(label_of(other->metric[0], "name") == "load");
    CHECK(other->metric[0].gauge.value == 0.5);
}
