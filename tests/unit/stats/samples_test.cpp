// SPDX-License-Identifier: GPL-3.0-or-later
#include "stats/samples.hpp"

#include "stats/sample_words.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <string>

using namespace postal;
using history = stats::sample_history;

namespace {

stats::sampled_value figure(const std::string& name, double value, bool waiting = false) {
    return {name, waiting ? "messages" : "", value, waiting};
}

void add(history& to, double t_s, double value) {
    const std::array one{figure("n", value)};
    REQUIRE(to.add(t_s, 0.001, one).has_value());
}

// A queue as deep as depth_of(t_s), each second.
template <class Depth>
stats::sampled_source queue_of(double length_s, Depth depth_of) {
    history made("postfix:/q", "postfix", 1);
    for (double t_s = 0; t_s <= length_s; t_s += 1) {
        const std::array one{figure("postfix", depth_of(t_s), true)};
        REQUIRE(made.add(t_s, 0.001, one).has_value());
    }
    return std::move(made).take(0);
}

}  // namespace

TEST_CASE("samples: each has its moment, and what it lacks is null") {
    history made("x=y", "x", 1);
    REQUIRE(made.add(0, 0.1, std::array{figure("a", 1)}).has_value());
    REQUIRE(made.add(1, 0.3, std::array{figure("b", 5), figure("a", 4)}).has_value());
    REQUIRE(made.add(2, 0.1, std::array{figure("b", 2)}).has_value());
    CHECK(made.miss(5, "slow"));
    CHECK_FALSE(made.miss(5, "slow"));
    CHECK(made.miss(1, "other"));
    const auto all = std::move(made).take(0.5);
    CHECK(all.taken == 3);
    CHECK(all.missed == 3);
    CHECK(all.missed_why == "slow");
    CHECK(all.longest_s == 5);
    CHECK(all.took_s == Approx(11.5));
    CHECK(all.t_s == std::vector<double>{0, 0.5, 1.5});
    REQUIRE(all.series.size() == 2);
    using values = std::vector<std::optional<double>>;
    CHECK(all.series[0].values == values{1, 4, std::nullopt});
    CHECK(all.series[1].values == values{std::nullopt, 5, 2});
    CHECK(all.series[0].highest == 4);
    CHECK(all.series[0].highest_at_s == 0.5);
    CHECK_FALSE(all.series[0].last().has_value());
    CHECK(all.waiting() == nullptr);
}

TEST_CASE("samples: however many there are, their memory is bounded, and no highest is lost") {
    history made("x=y", "x", 1);
    const std::size_t all_of_them = history::most_kept * 11 + 7;
    for (std::size_t i = 0; i < all_of_them; ++i) {
        add(made, static_cast<double>(i), i == 4001 ? 1e6 : static_cast<double>(i % 10));
        REQUIRE(made.so_far().t_s.size() <= history::most_kept);
    }
    const auto kept = std::move(made).take(0);
    CHECK(kept.taken == all_of_them);
    CHECK(kept.together == 16);
    CHECK(kept.t_s.size() > history::most_kept / 2);
    const auto& one = kept.series.front();
    REQUIRE(one.values.size() == kept.t_s.size());
    REQUIRE(one.most);
    REQUIRE(one.most->size() == kept.t_s.size());
    CHECK(kept.t_s.back() == static_cast<double>(all_of_them - 1));
    CHECK(one.last() == static_cast<double>((all_of_them - 1) % 10));
    CHECK(one.highest == 1e6);
    CHECK(one.highest_at_s == 4001);
    for (std::size_t i = 0; i + 1 < kept.t_s.size(); ++i) {
        const auto t = static_cast<std::size_t>(kept.t_s[i]);
        CHECK(t % 16 == 15);
        CHECK(one.values[i] == static_cast<double>(t % 10));  // the last of its sixteen
        CHECK((*one.most)[i] == (t / 16 == 4001 / 16 ? 1e6 : 9));
    }
}

TEST_CASE("samples: a source that prints ever new names is refused") {
    history made("x=y", "x", 1);
    for (std::size_t i = 0; i < history::most_figures; ++i)
        REQUIRE(made.add(static_cast<double>(i), 0, std::array{figure(fmt::format("n{}", i), 1)})
                    .has_value());
    const auto refused = made.add(100, 0, std::array{figure("one more", 1)});
    REQUIRE(refused.has_error());
    CHECK_THAT(refused.error().message, Catch::Contains("more than 32"));
    CHECK(made.so_far().taken == history::most_figures);
    CHECK(made.add(101, 0, std::array{figure("n3", 2)}).has_value());
}

TEST_CASE("samples: a queue grows when each third of the time has more than the one before") {
    CHECK(stats::growth_of(queue_of(60, [](double t) { return 10 * t; }), 0, 60));
    CHECK_FALSE(stats::growth_of(queue_of(60, [](double) { return 500.0; }), 0, 60));
    CHECK_FALSE(stats::growth_of(queue_of(60, [](double t) { return 600 - 10 * t; }), 0, 60));
    CHECK_FALSE(stats::growth_of(
        queue_of(60, [](double t) { return t < 30 ? 10 * t : 600 - 10 * t; }), 0, 60));
    CHECK_FALSE(stats::growth_of(
        queue_of(60, [](double t) { return t < 30 ? 20 * t : 750 - 5 * t; }), 0, 60));
    CHECK_FALSE(
        stats::growth_of(queue_of(60, [](double t) { return 10 * std::min(t, 25.0); }), 0, 60));
    CHECK_FALSE(stats::growth_of(queue_of(60, [](double t) { return t / 10; }), 0, 60));
    CHECK_FALSE(stats::growth_of(queue_of(60, [](double t) { return 1000 + t; }), 0, 60));
    CHECK_FALSE(stats::growth_of(queue_of(4, [](double t) { return 100 * t; }), 0, 4));
    CHECK_FALSE(stats::growth_of(queue_of(60, [](double t) { return 10 * t; }), 60, 60));
    // Of the measured time alone.
    const auto late = queue_of(90, [](double t) { return t < 30 ? 900 : 1000.0; });
    CHECK_FALSE(stats::growth_of(late, 30, 90));
    const auto grown = stats::growth_of(queue_of(60, [](double t) { return 10 * t; }), 0, 60);
    CHECK(grown->first == Approx(95).margin(6));
    CHECK(grown->last == Approx(500).margin(6));
    CHECK(grown->per_minute == Approx(600).margin(20));
}

TEST_CASE("samples: in words") {
    const auto queue = queue_of(60, [](double t) { return t < 41 ? 57 * t : 2100.0; });
    CHECK(stats::waiting_sentence(queue, "21,000", "accepted") ==
          "21,000 messages a minute were accepted while up to 2,280 waited in the queue of postfix "
          "(2,100 when the run ended)");
    CHECK(stats::figure_text(queue.series.front()) ==
          "2,100 messages at the end, at most 2,280 after 40s");
    CHECK_THAT(stats::growth_sentence(queue, 0, 60),
               Catch::StartsWith("The queue of postfix grew: ") &&
                   Catch::EndsWith("more than it handed on"));
    history command("x=y", "x", 1);
    command.miss(1, "it printed nothing");
    const auto missed = std::move(command).take(0);
    CHECK(stats::waiting_sentence(missed, "1", "accepted").empty());
    CHECK(stats::growth_sentence(missed, 0, 60).empty());
    CHECK(stats::missed_text(missed) == "1 of 1 sample missed: it printed nothing");
    const auto lines = stats::sample_lines({queue, missed});
    REQUIRE(lines.size() == 2);
    CHECK(lines[0].name == "postfix");
    CHECK(lines[1].text == stats::missed_text(missed));
}
