// SPDX-License-Identifier: GPL-3.0-or-later
#include "program/joined_search.hpp"

#include "base/text.hpp"
#include "base/units.hpp"
#include "base/version.hpp"
#include "program/waiting.hpp"

#include <fmt/format.h>

#include <optional>
#include <utility>
#include <variant>

namespace postal::program {

namespace {

using base::expected;
using std::chrono::steady_clock;

constexpr auto hearing_period = std::chrono::milliseconds(5);

// A start that our clock cannot mean.
bool is_of_this_clock(load::steady_time start) {
    const auto ahead = start - steady_clock::now();
    return ahead > -std::chrono::seconds(60) && ahead < std::chrono::hours(24 * 400);
}

}  // namespace

expected<std::unique_ptr<joined_search>> joined_search::join(const std::string& path,
                                                             const cluster::joins& mine,
                                                             std::chrono::nanoseconds patience) {
    std::optional<net::parcel_line> line;
    std::optional<cluster::start> start;
    std::string why;
    const auto hear_start = [&](const std::string& octets) {
        const auto said = cluster::decode(octets, 0);
        if (!said) why = "it said " + said.error().message;
        if (!said) return;
        if (const auto* const welcome = std::get_if<cluster::welcome>(&*said)) {
            line->send(cluster::encode(mine));
            if (welcome->version != base::build_version)
                why = fmt::format("it is version {}, this is {}; both need the same",
                                  base::printable(welcome->version, 100), base::build_version);
        }
        if (const auto* const when = std::get_if<cluster::start>(&*said)) start = *when;
    };
    // Until it has begun to wait nobody is there, which may be soon.
    const waited how = wait_for_other(patience, [&] {
        if (!line) {
            auto connected = net::parcel_line::connect(path);
            if (!connected) why = connected.error().message;
            if (!connected) return true;
            line = std::move(*connected);
        }
        while (line && why.empty() && !start) {
            const auto octets = line->receive();
            if (!octets) break;
            hear_start(*octets);
        }
        if (line && line->gone() && why.empty() && !start)
            why = "it " + *line->gone() + " before the search began";
        return !why.empty() || start.has_value();
    });
    if (why.empty() && how == waited::interrupted) why = interrupted_before;
    if (why.empty() && how == waited::too_long)
        why = fmt::format("{} within {}", line ? "it did not begin" : "nobody searches there",
                          base::format_duration(patience));
    if (why.empty() && !is_of_this_clock(load::steady_time(start->at)))
        why = "it goes by another clock";
    if (!why.empty()) return base::fail("--join-search {}: {}", base::printable(path, 100), why);
    return std::unique_ptr<joined_search>(
        new joined_search(std::move(*line), load::steady_time(start->at)));
}

load::run_watcher& joined_search::attend(load::worker_pool& pool, load::run_watcher& own,
                                         std::function<void(const std::string&)> say) {
    pool_ = &pool;
    own_ = &own;
    say_ = std::move(say);
    pool.every(hearing_period, [this] { poll(); });
    return *this;
}

void joined_search::on_time_slice(const stats::time_slice& slice) {
    own_->on_time_slice(slice);
    if (over_) return;
    cluster::counted said(0);
    said.slice = slice;
    line_.send(cluster::encode(said));
}

void joined_search::hear(const std::string& octets) {
    const auto said = cluster::decode(octets, 0);
    if (!said) return lose("it said " + said.error().message);
    if (const auto* const next = std::get_if<cluster::next_trial>(&*said)) {
        pool_->begin_trial(next->what);
    } else if (const auto* const stop = std::get_if<cluster::stop>(&*said)) {
        over_ = true;
        using load::run_ending;
        pool_->stop(stop->now ? load::stop_kind::now : load::stop_kind::gently,
                    stop->why == run_ending::unknown ? run_ending::complete : stop->why,
                    stop->when);
    }
}

void joined_search::lose(const std::string& why) {
    if (over_) return;
    over_ = failed_ = true;
    say_("the program that searches is lost: " + why + "; the run ends");
    pool_->stop(load::stop_kind::gently, load::run_ending::failure,
                steady_clock::now() - pool_->times().start);
}

void joined_search::poll() {
    if (pool_->stopping()) return end();
    while (!over_) {
        const auto octets = line_.receive();
        if (!octets) break;
        hear(*octets);
    }
    if (!over_ && line_.gone()) lose("it " + *line_.gone());
}

void joined_search::end() {
    if (std::exchange(over_, true)) return;
    line_.send(cluster::encode(cluster::stop{.why = pool_->ended_by()}));
}

}  // namespace postal::program
