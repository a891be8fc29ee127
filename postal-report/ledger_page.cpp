// SPDX-License-Identifier: GPL-3.0-or-later
// What of a ledger only a page has room for: the account in large type, when there was what to
// find, the first messages of each kind with what is wrong with them, and whose they were.
//
// A ledger may have been made by anybody, with texts of any length and times of any year: what is
// shown is cut to fit here, and made harmless by the printer.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "base/units.hpp"
#include "postal-report/assets.hpp"
#include "postal-report/chart_data.hpp"
#include "postal-report/figures.hpp"
#include "postal-report/ledger.hpp"
#include "postal-report/ledger_kinds.hpp"

namespace postal::report {

namespace {

using base::format_count;
using ledger::breakdown;
using ledger::counted_place;
using ledger::counted_time;
using ledger::discrepancy;
using ledger::discrepancy_examples;
using ledger::discrepancy_row;
using ledger::summary;

constexpr std::size_t longest_address = 100;
constexpr std::size_t longest_detail = 300;

const discrepancy_examples* examples_of(const breakdown& where, const kind_words& of) {
    const auto found = std::find_if(where.examples.begin(), where.examples.end(),
                                    [&](const auto& each) { return each.what == of.what; });
    return found == where.examples.end() ? nullptr : &*found;
}

std::vector<const kind_words*> kinds_found(const breakdown& where) {
    std::vector<const kind_words*> made;
    for (const kind_words& each : kinds)
        if (examples_of(where, each) != nullptr) made.push_back(&each);
    return made;
}

std::string short_text(const std::string& text, std::size_t longest = longest_address) {
    return base::printable(text, longest);
}

// "0123456789abcdef/3/17"; a copy that belongs to nothing has no such name.
std::string message_name(const discrepancy_row& row) {
    if (row.run.empty()) return "unknown";
    return short_text(fmt::format("{}/{}/{}", row.run, row.session, row.sequence), 60);
}

std::string envelope(const discrepancy_row& row) {
    if (row.outcome.empty()) return {};
    return (row.sender.empty() ? "<>" : short_text(row.sender)) + " → " + short_text(row.recipient);
}

std::string reply(const discrepancy_row& row) {
    std::string made = row.outcome;
    for (const std::string* each : {&row.code, &row.enhanced})
        if (!each->empty()) made += " " + *each;
    return short_text(made, 60);
}

std::string copy(const discrepancy_row& row) {
    if (row.mailbox.empty()) return {};
    std::string how = short_text(row.condition, 40);
    std::replace(how.begin(), how.end(), '_', ' ');
    return fmt::format("{} in {} over {}", how, short_text(row.mailbox), short_text(row.way, 10));
}

table examples_table(const kind_words& kind, const discrepancy_examples& of) {
    table made{"examples-" + std::string(kind.word),
               kind.title,
               {{"message"},
                {"envelope"},
                {"octets", align::right},
                {"reply"},
                {"at"},
                {"found"},
                {"seen"},
                {"what differs"}},
               {}};
    if (kind.what == discrepancy::not_looked_for) made.columns.back().title = "reason";
    if (kind.what == discrepancy::missed) made.columns.back().title = "who was not told";
    if (kind.what == discrepancy::bounced) made.columns.back().title = "notification";
    for (const discrepancy_row& row : of.rows)
        made.rows.push_back({message_name(row), envelope(row), short_text(row.octets, 20),
                             reply(row), show_time(short_text(row.ended, 40)), copy(row),
                             show_time(short_text(row.seen, 40)),
                             short_text(row.detail, longest_detail)});
    // What none of them has, such as copies of what is lost.
    for (std::size_t at = made.columns.size(); at-- > 1;) {
        const bool empty = std::all_of(made.rows.begin(), made.rows.end(),
                                       [at](const auto& row) { return row[at].empty(); });
        if (!empty) continue;
        const auto offset = static_cast<std::ptrdiff_t>(at);
        made.columns.erase(made.columns.begin() + offset);
        for (auto& row : made.rows)
            row.erase(row.begin() + offset);
    }
    if (of.rows.size() < of.count)
        made.note = fmt::format("The first {} of {}; --list {} has all", of.rows.size(),
                                format_count(of.count), kind.word);
    return made;
}

table places_table(table made, const std::vector<counted_place>& places,
                   const std::vector<const kind_words*>& found, const char* nameless) {
    for (const counted_place& each : places) {
        auto& row = made.rows.emplace_back();
        row.push_back(each.name.empty() ? nameless : short_text(each.name));
        add_counts(row, each.found, found);
    }
    return made;
}

table accounts_table(const breakdown& where, const std::vector<const kind_words*>& found) {
    table made = places_table(counted_table("accounts", "By account", "recipient", found),
                              where.accounts, found, "not known");
    if (where.all_accounts > where.accounts.size())
        made.note = fmt::format("Of {} accounts the {} with the gravest, and then the most",
                                format_count(where.all_accounts), where.accounts.size());
    return made;
}

table servers_table(const breakdown& where, const std::vector<const kind_words*>& found) {
    table made =
        counted_table("servers", "By server from which the copy was read", "server", found);
    const bool known = std::any_of(where.servers.begin(), where.servers.end(),
                                   [](const auto& each) { return !each.name.empty(); });
    return known ? places_table(std::move(made), where.servers, found, "no copy, or not read")
                 : made;
}

table times_table(const breakdown& where, const std::vector<const kind_words*>& found) {
    table made = counted_table("times", "By the time of the reply", "from", found);
    if (where.times.size() < 2) return made;
    made.columns.insert(made.columns.begin() + 1, {"acknowledged", align::right});
    for (const counted_time& each : where.times) {
        auto& row = made.rows.emplace_back();
        row = {show_time(each.from), format_count(each.acknowledged)};
        add_counts(row, each.found, found);
    }
    made.note =
        fmt::format("Stretches of {}; what was seen outside of them is in the first or the last",
                    show_seconds(static_cast<double>(where.width_us) / 1e6));
    return made;
}

std::string chart_json(const breakdown& where, const std::vector<const kind_words*>& found) {
    std::vector<std::string> names, times;
    for (const kind_words* each : found)
        names.push_back(object_of({{"label", script_string(name_of(*each))}}));
    for (const counted_time& each : where.times) {
        std::vector<std::string> counts;
        for (const kind_words* kind : found)
            counts.push_back(std::to_string(count_of(each.found, *kind)));
        times.push_back(object_of(
            {{"acknowledged", std::to_string(each.acknowledged)}, {"found", list_of(counts)}}));
    }
    const double width_s = static_cast<double>(where.width_us) / 1e6;
    return object_of(
        {{"longest_s", fmt::format("{:.0f}", width_s * static_cast<double>(where.times.size()))},
         {"warmup_s", "0"},
         {"series", list_of({})},
         {"width_s", fmt::format("{:.0f}", width_s)},
         {"kinds", list_of(names)},
         {"times", list_of(times)}});
}

bool has_course(const breakdown& where) {
    return !where.examples.empty() && where.times.size() > 1;
}

result_card ledger_card(const ledger_report& one) {
    const summary& of = one.found.totals;
    result_card made{format_count(of.acknowledged()),
                     of.acknowledged() == 1 ? "message acknowledged" : "messages acknowledged",
                     fmt::format("each recipient's for itself; {} seen",
                                 plural(of.sightings, "copy was", "copies were"))};
    const auto add = [&](const char* name, std::uint64_t count, bool grave) {
        made.tiles.push_back({name, format_count(count), grave && count > 0});
    };
    add("lost", of.lost, true);
    add("vanished", of.vanished, true);
    add("corrupt", of.all_corrupt(), true);
    add("misplaced", of.misplaced, true);
    add("duplicated", of.duplicated, false);
    add("out of order", of.out_of_order, false);
    // They add up to what was acknowledged.
    made.parts = {{"found", of.found, 0},
                  {"lost", of.lost, 1},
                  {"vanished", of.vanished, 5},
                  {"misplaced", of.misplaced, 3},
                  {"bounced", of.bounced, 2},
                  {"not looked for", of.not_looked_for, 4},
                  {"not known yet", of.not_known, 6}};
    return made;
}

}  // namespace

void add_ledger_page(document& to, const ledger_report& one, const std::string& result) {
    const breakdown& where = one.found.where;
    const std::vector<const kind_words*> found = kinds_found(where);
    to.page = {.title = short_text(one.file),
               .subtitle = {"What became of each message that was sent or seen"},
               .kind = "ledger",
               .footnote =
                   "Lost, vanished, misplaced, or corrupt: what the server has acknowledged is "
                   "not there as it should be."};
    if (one.found.totals.broken_promise())
        to.add(remark{"bad", result, true});
    else
        to.add(report::findings{.id = "said", .sentences = {result}});
    to.add(ledger_card(one));
    if (has_course(where)) {
        to.page.chart_data = chart_json(where, found);
        to.page.script = ledger_script;
        to.add(chart{"chart-times", "When it was acknowledged, and what was found wrong",
                     "Bars: messages of each kind, by the time of the reply. Line: all that were "
                     "acknowledged. The numbers stand in the table of times."});
    }
    for (const kind_words* each : found) {
        const discrepancy_examples& of = *examples_of(where, *each);
        to.add(placed_table{examples_table(*each, of), each->grave ? place::open : place::folded,
                            fmt::format("{} ({})", each->title, format_count(of.count))});
    }
    to.add_tables({accounts_table(where, found), servers_table(where, found)});
    to.add_tables({times_table(where, found)}, place::folded);
    if (one.announced.all().messages > 0)
        to.add_tables({one.announced.by_account()}, place::folded);
}

}  // namespace postal::report
