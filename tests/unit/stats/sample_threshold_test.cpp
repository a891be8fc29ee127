// SPDX-License-Identifier: GPL-3.0-or-later
// What a threshold can ask of what was sampled beside a run.
#include "stats/sample_threshold.hpp"

#include "stats/threshold.hpp"

#include "support.hpp"

#include <catch2/catch.hpp>

using namespace postal::stats;

namespace {

// A queue of Postfix each second from 0 to 4 s, and a command that printed once; two samples of a
// moment were put together.
run_report sampled_run() {
    run_report report(test::description());
    sampled_source queue;
    queue.name = "postfix";
    queue.t_s = {0, 1, 2, 3, 4};
    sample_series all;
    all.name = "postfix";
    all.waiting = true;
    all.highest = 90;
    all.values = {80, 10, 20, 30, 0};
    all.most = {90, 10, 25, 30, 0};
    sample_series active;
    active.name = "postfix active";
    active.values = {std::nullopt, 4, 6, std::nullopt, std::nullopt};
    queue.series = {all, active};
    sampled_source command;
    command.name = "it";
    command.t_s = {2};
    sample_series only;
    only.name = "it";
    only.values = {2.5};
    command.series = {only};
    report.samples = {queue, command};
    return report;
}

}  // namespace

TEST_CASE("threshold: what was sampled after the warm-up is judged") {
    const run_report report = sampled_run();
    const struct {
        const char* name;
        sample_statistic what;
        double from_s;
        std::optional<double> value;
    } rows[]{{"postfix", sample_statistic::max, 0, 90},
             {"queue", sample_statistic::max, 0, 90},
             {"queue", sample_statistic::max, 0.5, 30},
             {"postfix", sample_statistic::mean, 0.5, 15},
             {"postfix", sample_statistic::last, 0, 0},
             {"postfix active", sample_statistic::last, 0, 6},
             {"postfix active", sample_statistic::mean, 0, 5},
             {"postfix active", sample_statistic::max, 2.5, std::nullopt},
             {"postfix deferred", sample_statistic::max, 0, std::nullopt},
             {"it", sample_statistic::max, 0, 2.5}};
    for (const auto& row : rows) {
        INFO(row.name << " from " << row.from_s);
        CHECK(measure(report.samples, row.name, row.what, row.from_s) == row.value);
    }
    for (const auto& [text, passed] :
         std::initializer_list<std::pair<const char*, bool>>{{"max(queue)<90", false},
                                                             {"max(queue)<=90", true},
                                                             {"mean( postfix active )==5", true},
                                                             {"last(it) > 2.4", true},
                                                             {"last(it other)<1", false}}) {
        INFO(text);
        const auto parsed = threshold::parse(text, {"message"});
        REQUIRE(parsed.has_value());
        CHECK(parsed->evaluate(report).passed == passed);
        CHECK_FALSE(parsed->sampled().empty());
        CHECK_FALSE(parsed->allows());
    }
}

TEST_CASE("threshold: what is not sampled is refused with what is") {
    run_description run = test::description();
    const auto refusal = [&](const char* text) {
        const auto parsed = parse_thresholds({text}, run);
        return parsed ? std::string() : parsed.error().message;
    };
    CHECK(refusal("max(queue)<5").find("'queue' is no phase, and nothing is sampled") !=
          std::string::npos);
    run.sampled = {{"queue", false}, {"postfix", false}, {"postfix active", false}, {"it", true}};
    CHECK(refusal("max(queue)<5").empty());
    CHECK(refusal("max(it)<5").empty());
    CHECK(refusal("max(it anything)<5").empty());
    for (const char* text : {"max(item)<5", "max(postfix hold)<5", "last(other)<5"})
        CHECK(
            refusal(text).find("what is sampled: queue, postfix, postfix active, it, it FIGURE") !=
            std::string::npos);
    CHECK(refusal("p99(it)<5").find("there are max, mean and last, not 'p99'") !=
          std::string::npos);
    CHECK(refusal("max(it)<5s").find("there is no phase 'it'") != std::string::npos);
    CHECK(refusal("last(it)<5s").find("not a number") != std::string::npos);
    CHECK(refusal("max(it)<5;abort").find("judged at the end") != std::string::npos);
}
