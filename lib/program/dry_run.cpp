// SPDX-License-Identifier: GPL-3.0-or-later
#include "program/dry_run.hpp"

#include <algorithm>

#include <unistd.h>

#include <fmt/format.h>

#include "base/text.hpp"
#include "base/units.hpp"
#include "base/write_file.hpp"
#include "cli/binders.hpp"
#include "ledger/schema.hpp"
#include "metrics/scrape_endpoint.hpp"
#include "net/endpoint.hpp"
#include "net/ip_address.hpp"
#include "os/terminal_size.hpp"
#include "program/run_ledger.hpp"
#include "program/start_time.hpp"

namespace postal::program {

namespace {

constexpr std::size_t most_servers = 20;

std::string rate_text(double per_second) {
    return per_second < 1 ? fmt::format("{:g}/min", per_second * 60)
                          : fmt::format("{:g}/s", per_second);
}

std::string addresses_of(const client::target& server) {
    if (server.where.fresh_lookup) return "looked up anew for each connection";
    if (server.where.is_unix() && server.addresses.empty()) return "nothing is there yet";
    if (server.addresses.empty()) return "neither looked up nor checked (--resolve does both)";
    std::vector<std::string> texts;
    for (const net::address& one : server.addresses)
        texts.push_back(net::to_text(one));
    return base::join(texts, ", ");
}

std::string tls_text(const client::security& tls) {
    if (tls.percent == 0) return "none";
    return fmt::format(
        "on {} % of connections, {}", tls.percent,
        tls.mode == client::tls_mode::implicit ? "from the first octet" : "with STARTTLS or STLS");
}

// "searched from 10/s on: the highest rate that keeps p99(message)<1s".
std::string search_text(const search_choice& chosen) {
    std::string text = fmt::format("searched from {} on", rate_text(search_start(chosen)));
    if (chosen.most) text += fmt::format(", up to {}", rate_text(chosen.most->per_second));
    text += ": the highest that keeps " + base::join(promises_of(chosen), ", ");
    if (!chosen.sockets.empty())
        text += fmt::format("; beside what joins at {}", base::join(chosen.sockets, ", "));
    return text;
}

// "20 for each 100 of the search at run/search.sock, which is to keep p99(session)<1s".
std::string joined_text(const search_choice& chosen) {
    return fmt::format("{:g} for each 100 messages of the search at {}, which is to keep {}",
                       chosen.share * 100, chosen.joins, base::join(promises_of(chosen), ", "));
}

std::string pace_text(const client_options& chosen, std::string_view units) {
    if (chosen.search.wanted) return search_text(chosen.search);
    if (!chosen.search.joins.empty()) return joined_text(chosen.search);
    if (!chosen.rate && chosen.stages.empty()) return "as fast as the servers answer";
    const double start = chosen.rate ? chosen.rate->per_second : 0;
    std::string text = fmt::format("{}: {}", units, rate_text(start));
    for (const load::ramp_stage& one : chosen.stages)
        text += fmt::format(", to {} within {}", rate_text(one.target.per_second),
                            base::format_duration(one.lasts));
    if (!chosen.open_loop) return text + "; at most (closed loop)";
    text += "; whether the servers keep up or not (open loop)";
    return text + (chosen.arrival == load::arrival::poisson ? ", scattered (poisson)" : "");
}

std::string end_text(const client_options& chosen, const counted_units& counted) {
    std::vector<std::string> ends;
    if (chosen.search.wanted)
        return "when the rate is found, or after " +
               base::format_duration(longest_search(chosen.search));
    if (!chosen.search.joins.empty()) return "with the search";
    if (counted.most)
        ends.push_back(fmt::format(
            "after {} {} ({})", *counted.most,
            counted.units.substr(0, counted.units.size() - (*counted.most == 1 ? 1 : 0)),
            counted.option));
    if (chosen.run.duration.count() > 0)
        ends.push_back("after " + base::format_duration(chosen.run.duration));
    if (chosen.fail_fast) ends.emplace_back("at the first error (--fail-fast)");
    const bool endless = !counted.most && chosen.run.duration.count() == 0;
    if (endless) ends.emplace_back("when it is interrupted");
    return base::join(ends, ", or ");
}

}  // namespace

cli::option dry_run_option(bool& target) {
    return {"--dry-run", "", "", "say what a run would do, and connect to nothing",
            cli::flag(target)};
}

cli::option resolve_option(bool& target) {
    return {"--resolve", "", "", "look names up in a dry run, too", cli::flag(target)};
}

base::expected<void> check_files(
    std::initializer_list<std::pair<std::string_view, const std::string&>> files) {
    for (const auto& [option, file] : files) {
        if (file.empty()) continue;
        const auto writable = base::check_writable(file);
        if (!writable) return base::at(option, writable.error());
    }
    return {};
}

namespace {

base::expected<void> check_place(const client_options& chosen) {
    const auto where = net::parse_endpoint(chosen.run.metrics, 0);
    if (!where) return where.error();
    if (!chosen.resolve && !where->is_unix() && !net::parse_ip(where->host)) return {};
    const auto place = metrics::parse_place(chosen.run.metrics);
    if (!place) return place.error();
    const auto opened = metrics::scrape_endpoint::open(*place);
    if (!opened) return opened.error();
    return {};
}

}  // namespace

base::expected<void> check_reports(const client_options& chosen) {
    const auto record = check_files({{"--record", chosen.run.record}});
    if (!record) return record;
    if (!chosen.ledger.empty()) {
        const auto book = ledger::check_to_write(chosen.ledger);
        if (!book) return base::at("--ledger", book.error());
    }
    return {};
}

base::expected<void> check_metrics(const client_options& chosen) {
    if (chosen.run.metrics.empty()) return {};
    const auto place = check_place(chosen);
    if (!place) return base::at("--metrics", place.error());
    return {};
}

std::string format_rows(const dry_run_rows& rows) {
    std::size_t width = 0;
    for (const auto& row : rows)
        width = std::max(width, row.first.size());
    std::string text;
    for (const auto& [label, what] : rows)
        text += fmt::format("{:<{}}  {}\n", label, width, what);
    return os::fitted(std::move(text), STDOUT_FILENO);
}

void add_servers(dry_run_rows& to, std::string_view label,
                 const std::vector<client::target>& servers) {
    for (std::size_t i = 0; i < std::min(servers.size(), most_servers); ++i) {
        const std::string found = addresses_of(servers[i]);
        const std::string name = base::printable(servers[i].where.text, 200);
        to.emplace_back(i == 0 ? label : "", name == found ? name : name + ": " + found);
    }
    if (servers.size() > most_servers)
        to.emplace_back("", "and " + base::format_amount(servers.size() - most_servers, "other"));
}

void add_load(dry_run_rows& to, const client::load_plan& plan, const client_options& chosen,
              const counted_units& counted) {
    to.emplace_back("TLS", tls_text(plan.tls));
    if (plan.auth.chosen.wanted()) {
        to.emplace_back("login", plan.auth.chosen.way == client::auth_way::named
                                     ? std::string(sasl::name_of(plan.auth.chosen.named))
                                     : "the strongest mechanism that both sides have");
    }
    to.emplace_back("pace", pace_text(chosen, counted.units));
    if (chosen.start_at) to.emplace_back("starts", format_start(*chosen.start_at));
    to.emplace_back("ends", end_text(chosen, counted));
    if (plan.give_up.count() > 0)
        to.emplace_back("gives up",
                        "after " + base::format_duration(plan.give_up) + " without any progress");
    to.emplace_back("seed", std::to_string(plan.seed));
    if (!chosen.sampler) return;
    std::string_view label = "samples";
    for (std::string& one : chosen.sampler->describe())
        to.emplace_back(std::exchange(label, ""), std::move(one));
}

}  // namespace postal::program
