// SPDX-License-Identifier: GPL-3.0-or-later
// The tables of rabid's IMAP sessions: commands by kind, and what became of a profile's verbs.
#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/text.hpp"
#include "base/units.hpp"
#include "postal-report/compared_rows.hpp"
#include "postal-report/figures.hpp"
#include "postal-report/run.hpp"

namespace postal::report {

namespace {

using command_count = stats::command_count;
using stats::action_count;
using stats::command_figures;
using stats::profile_summary;
using stats::verb_figures;

// Those of `named` that are not 0: "3 NO, 1 unanswered".
using named_count = std::pair<std::uint64_t, const char*>;
std::vector<std::string> pieces_of(std::initializer_list<named_count> named) {
    std::vector<std::string> pieces;
    for (const auto& [count, name] : named)
        if (count > 0) pieces.push_back(fmt::format("{} {}", base::format_count(count), name));
    return pieces;
}

// "1,234 sent, all OK", "1,234 sent: 1,230 OK, 4 NO"
std::string show_count(const command_count& of) {
    const std::string sent = base::format_count(of.sent) + " sent";
    if (of.ok == of.sent) return sent + ", all OK";
    const auto pieces =
        pieces_of({{of.ok, "OK"}, {of.no, "NO"}, {of.bad, "BAD"}, {of.unanswered, "unanswered"}});
    return fmt::format("{}: {}", sent, base::join(pieces, ", "));
}

template <class Named, class Owner>
void add_names(std::vector<std::string>& names, const std::vector<Named>& of,
               std::string Owner::*name) {
    for (const Named& one : of)
        if (std::find(names.begin(), names.end(), one.*name) == names.end())
            names.push_back(one.*name);
}

compared_row kind_row(const std::string& kind) {
    return {kind, [kind](const record& one) {
                if (!one.commands) return std::string{unknown};
                for (const command_figures& each : one.commands->by_kind)
                    if (each.name == kind) return show_count(each);
                return std::string{"0"};
            }};
}

// How many actions of a session are on average of this verb.
double wanted_of(const profile_summary& profile, const verb_figures& verb) {
    double weights = 0;
    for (const verb_figures& one : profile.verbs)
        weights += one.weight;
    const double drawn =
        (static_cast<double>(profile.least_actions) + static_cast<double>(profile.most_actions)) /
        2;
    const double fixed = static_cast<double>(verb.first) + static_cast<double>(verb.last);
    return fixed + (weights > 0 ? drawn * verb.weight / weights : 0);
}

double wanted_of(const profile_summary& profile) {
    double sum = 0;
    for (const verb_figures& one : profile.verbs)
        sum += wanted_of(profile, one);
    return sum;
}

std::vector<std::string> endings(const action_count& of) {
    return pieces_of(
        {{of.refused, "refused"}, {of.failed, "failed"}, {of.nothing, "without work"}});
}

// "205 done, 3 refused"
std::string show_all(const action_count& of) {
    auto pieces = endings(of);
    pieces.insert(pieces.begin(), base::format_count(of.ok) + " done");
    return base::join(pieces, ", ");
}

// "205 done, 3 refused; 40.00 %, wanted 41.67 %; p50 3.10 ms, p99 8.00 ms, max 9.00 ms"
std::string show_verb(const profile_summary& profile, const verb_figures& verb) {
    std::string text =
        fmt::format("{}; {}, wanted {}", show_all(verb),
                    show_share(static_cast<double>(verb.begun), static_cast<double>(profile.begun)),
                    show_share(wanted_of(profile, verb), wanted_of(profile)));
    std::vector<std::string> times;
    const stats::time_figures& took = verb.latency;
    if (took.p50) times.push_back("p50 " + show_latency(took.p50));
    if (took.p99) times.push_back("p99 " + show_latency(took.p99));
    if (took.max) times.push_back("max " + show_latency(took.max));
    if (!times.empty()) text += "; " + base::join(times, ", ");
    return text;
}

compared_row verb_row(const std::string& name) {
    return {name, [name](const record& one) {
                if (!one.profile) return std::string{unknown};
                for (const verb_figures& each : one.profile->verbs)
                    if (each.verb == name) return show_verb(*one.profile, each);
                return std::string{"0"};
            }};
}

template <class Part, class Show>
compared_row row_of(std::string name, std::optional<Part> stats::run_record::*part, Show show) {
    return {std::move(name), [part, show](const record& one) {
                return one.*part ? show(*(one.*part)) : std::string{unknown};
            }};
}

// "0", "1 to 9", "1,000 to 9,999"; the last class has no end.
std::string size_words(const std::string& least) {
    const auto from = base::parse_count(least);
    if (!from || *from == 0) return least;
    const std::string first = base::format_count(*from);
    if (*from >= stats::least_of_size_class(stats::size_classes - 1)) return first + " and more";
    return first + " to " + base::format_count(*from * 10 - 1);
}

// "p50 3.10 ms, p99 8.00 ms of 205"
std::string show_sized(const stats::phase_figures& of) {
    std::vector<std::string> times;
    if (of.p50) times.push_back("p50 " + show_latency(of.p50));
    if (of.p99) times.push_back("p99 " + show_latency(of.p99));
    if (times.empty() && of.max) times.push_back("max " + show_latency(of.max));
    return base::join(times, ", ") + " of " + base::format_count(of.count);
}

// Of one verb and one class of sizes.
compared_row sized_row(const std::string& verb, const std::string& least) {
    return {verb + ", " + size_words(least), [verb, least](const record& one) {
                if (!one.profile) return std::string{unknown};
                for (const verb_figures& each : one.profile->verbs)
                    for (const stats::phase_figures& sized : each.by_size)
                        if (each.verb == verb && sized.name == least) return show_sized(sized);
                return std::string{"0"};
            }};
}

std::vector<std::string> reader_cells(const std::string& kind, const command_count& of) {
    std::vector<std::string> cells{kind};
    for (const std::uint64_t count : {of.sent, of.ok, of.no, of.bad, of.unanswered})
        cells.push_back(base::format_count(count));
    return cells;
}

std::vector<std::string> reader_cells(const profile_summary& profile, const verb_figures& verb) {
    return {verb.verb,
            base::format_count(verb.ok),
            base::join(endings(verb), ", "),
            show_share(static_cast<double>(verb.begun), static_cast<double>(profile.begun)),
            show_share(wanted_of(profile, verb), wanted_of(profile)),
            show_latency(verb.latency.p50),
            show_latency(verb.latency.p99),
            show_latency(verb.latency.max)};
}

void add_commands_of_one(table& to, const stats::command_summary& of) {
    to.columns = {{"command"},          {"sent", align::right}, {"OK", align::right},
                  {"NO", align::right}, {"BAD", align::right},  {"unanswered", align::right}};
    to.rows.push_back(reader_cells("all", of));
    for (const command_figures& one : of.by_kind)
        to.rows.push_back(reader_cells(one.name, one));
}

void add_actions_of_one(table& to, const profile_summary& of) {
    to.title += " " + of.name;
    to.columns = {{"action"},
                  {"done", align::right},
                  {"not done", align::right},
                  {"share", align::right},
                  {"wanted", align::right},
                  {"p50", align::right},
                  {"p99", align::right},
                  {"highest", align::right}};
    to.rows.push_back(
        {"all", base::format_count(of.ok), base::join(endings(of), ", "), "", "", "", "", ""});
    for (const verb_figures& one : of.verbs)
        to.rows.push_back(reader_cells(of, one));
}

}  // namespace

table command_table(const std::vector<record>& records) {
    table made{"commands", "IMAP commands", record_columns(records), {}};
    std::vector<std::string> names;
    for (const record& one : records)
        if (one.commands) add_names(names, one.commands->by_kind, &command_figures::name);
    if (names.empty()) return made;
    made.note =
        "from logging in to LOGOUT, UID forms with their kind; unanswered: the connection ended "
        "first";
    if (records.size() == 1) {
        add_commands_of_one(made, *records.front().commands);
        return made;
    }
    add_rows(made, records,
             {row_of("all", &record::commands, [](const auto& of) { return show_count(of); })});
    std::vector<compared_row> rows;
    for (const std::string& name : names)
        rows.push_back(kind_row(name));
    add_rows(made, records, rows);
    return made;
}

table size_table(const std::vector<record>& records) {
    table made{"sizes", "Actions by size of the mailbox", record_columns(records), {}};
    std::vector<std::pair<std::string, std::string>> known;  // verb, least messages
    std::vector<std::string> sizes;
    for (const record& one : records) {
        if (!one.profile) continue;
        for (const verb_figures& verb : one.profile->verbs) {
            add_names(sizes, verb.by_size, &stats::phase_figures::name);
            for (const stats::phase_figures& each : verb.by_size)
                known.emplace_back(verb.verb, each.name);
        }
    }
    if (sizes.size() < 2) return made;  // what the table of actions has
    made.note = "messages in the mailbox when the action began, by powers of ten; of those done";
    std::stable_sort(known.begin(), known.end(), [](const auto& a, const auto& b) {
        return std::tuple(a.first, a.second.size(), a.second) <
               std::tuple(b.first, b.second.size(), b.second);
    });
    known.erase(std::unique(known.begin(), known.end()), known.end());
    std::vector<compared_row> rows;
    for (const auto& [verb, least] : known)
        rows.push_back(sized_row(verb, least));
    add_rows(made, records, rows);
    return made;
}

table profile_table(const std::vector<record>& records) {
    table made{"profile", "Actions of the profile", record_columns(records), {}};
    std::vector<std::string> names;
    for (const record& one : records)
        if (one.profile && one.profile->begun > 0)
            add_names(names, one.profile->verbs, &verb_figures::verb);
    if (names.empty()) return made;
    made.note =
        "share of the actions, and what the profile wants of it on average; times are of those "
        "done";
    if (records.size() == 1) {
        add_actions_of_one(made, *records.front().profile);
        return made;
    }
    add_rows(made, records,
             {row_of("profile", &record::profile, [](const auto& of) { return of.name; }),
              row_of("all actions", &record::profile, show_all)});
    std::vector<compared_row> rows;
    for (const std::string& name : names)
        rows.push_back(verb_row(name));
    add_rows(made, records, rows);
    return made;
}

}  // namespace postal::report
