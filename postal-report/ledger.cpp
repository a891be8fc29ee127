// SPDX-License-Identifier: GPL-3.0-or-later
#include "postal-report/ledger.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <utility>

#include <unistd.h>

#include "base/standard_output.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "os/terminal_size.hpp"
#include "postal-report/csv.hpp"
#include "postal-report/figures.hpp"
#include "report/document.hpp"

namespace postal::report {

namespace {

using base::format_count;
using ledger::condition;
using ledger::outcome;
using ledger::summary;

constexpr std::uint64_t examples_of_page = 20;  // of each kind

// What is odd, but breaks no promise.
std::string oddities(const summary& of) {
    const std::pair<std::uint64_t, std::string_view> kinds[] = {
        {of.all_unacknowledged(), "delivered without being acknowledged"},
        {of.duplicated, "duplicated"},
        {of.all_corrupt() - of.corrupt_acknowledged, "corrupt and not known to be acknowledged"},
        {of.misdelivered, "misdelivered"},
        {of.out_of_order, "out of order"},
        {of.missed, of.missed == 1 ? "missed notification" : "missed notifications"}};
    std::string result;
    for (const auto& [count, name] : kinds) {
        if (count > 0) result += fmt::format("; {} {}", format_count(count), name);
    }
    return result;
}

std::string result_of(const summary& of) {
    std::string result = "no message was acknowledged";
    if (of.acknowledged() > 0) {
        result = plural(of.acknowledged(), "acknowledged message: ", "acknowledged messages: ");
        // That nothing is lost can be said when it was looked for.
        if (of.broken_promise() || of.not_looked_for > 0) {
            result += fmt::format("{} lost, {} corrupt", format_count(of.lost),
                                  format_count(of.corrupt_acknowledged));
        } else {
            result += "nothing lost, nothing corrupt";
        }
        if (of.vanished > 0) result += fmt::format(", {} vanished", format_count(of.vanished));
        if (of.misplaced > 0) {
            result += fmt::format(", {} in another's mailbox", format_count(of.misplaced));
        }
        if (of.bounced > 0) result += fmt::format(", {} bounced", format_count(of.bounced));
        if (of.not_known > 0) {
            result += fmt::format(", {} not known yet", format_count(of.not_known));
        }
        if (of.not_looked_for > 0) {
            result += fmt::format(", {} not looked for", format_count(of.not_looked_for));
        }
    }
    return result + oddities(of);
}

std::vector<std::string> remarks_on(const ledger_report& one) {
    const summary& of = one.found.totals;
    std::vector<std::string> result = ledger_remarks(one.found);
    if (of.seen_before_sent > 0) {
        result.push_back(
            fmt::format("{} seen before being sent: the clocks of the hosts differ, and "
                        "delivery times mean little",
                        plural(of.seen_before_sent, "message was", "messages were")));
    }
    const transit_times& told = one.announced.all().times;
    if (told.before_sent() > 0) {
        result.push_back(fmt::format(
            "{} announced before the reply that accepted {}, by up to {}: the server tells before "
            "it replies, or the clocks of the hosts differ; such a time counts as 0",
            plural(told.before_sent(), "message was", "messages were"),
            told.before_sent() == 1 ? "it" : "them",
            show_latency(static_cast<double>(told.furthest_before_us()))));
    }
    if (of.order_unknown > 0) {
        result.push_back(
            fmt::format("the order of {} is not known: POP3 visits read only a part of the mailbox",
                        plural(of.order_unknown, "message", "messages")));
    }
    if (!of.order_is_whole) {
        result.emplace_back(
            "the order of messages was checked for a part of them only: too many "
            "different senders and recipients in one session");
    }
    return result;
}

// "in doubt" for what is in_doubt in files.
template <class Kind>
std::string name_of(Kind what) {
    std::string name(to_text(what));
    std::replace(name.begin(), name.end(), '_', ' ');
    return name;
}

// "in doubt 3, failed 1" of those that are not 0.
std::string by_outcome(const std::array<std::uint64_t, 5>& counts) {
    std::string result;
    for (std::size_t each = counts.size(); each-- > 0;) {
        if (counts[each] == 0) continue;
        result += fmt::format("{}{} {}", result.empty() ? "" : ", ", format_count(counts[each]),
                              name_of(static_cast<outcome>(each)));
    }
    return result;
}

table messages_table(const ledger_report& one) {
    const summary& of = one.found.totals;
    const auto share = [&](std::uint64_t part) {
        if (of.acknowledged() == 0) return std::string();
        return show_share(static_cast<double>(part), static_cast<double>(of.acknowledged()));
    };
    table result{"messages",
                 "Messages, each recipient's for itself",
                 {{""}, {"messages", align::right}, {"share", align::right}, {""}},
                 {}};
    const auto add = [&](const std::string& name, std::uint64_t count, const std::string& part,
                         const std::string& note) {
        result.rows.push_back({name, format_count(count), part, note});
    };
    add("acknowledged", of.acknowledged(), share(of.acknowledged()), "");
    add("found", of.found, share(of.found), "in the recipient's mailbox");
    add("vanished", of.vanished, share(of.vanished),
        "seen before, and missing in a later complete reading");
    add("lost", of.lost, share(of.lost), "acknowledged, looked for, and seen nowhere");
    add("not looked for", of.not_looked_for, share(of.not_looked_for),
        "acknowledged, and no reader has read all of the mailbox since");
    add("misplaced", of.misplaced, share(of.misplaced), "acknowledged, in another's mailbox only");
    add("bounced", of.bounced, share(of.bounced),
        "acknowledged, not there, and a notification of failure came back");
    add("not known yet", of.not_known, share(of.not_known),
        of.not_known > 0 ? "an observer that has no end may have seen it" : "");
    add("unacknowledged but delivered", of.all_unacknowledged(), "", by_outcome(of.unacknowledged));
    add("duplicated", of.duplicated, "",
        of.duplicated > 0 ? plural(of.extra_copies, "copy too many", "copies too many") : "");
    add("corrupt", of.all_corrupt(), "", "");
    for (std::size_t kind = 0; kind < of.corrupt.size(); ++kind) {
        if (of.corrupt[kind] == 0) continue;
        add("  " + name_of(static_cast<condition>(kind)), of.corrupt[kind], "", "");
    }
    add("misdelivered", of.misdelivered, "", "in a mailbox of none of its recipients");
    add("out of order", of.out_of_order, "", "seen after one that was accepted later");
    if (one.announced.all().messages > 0 || of.missed > 0)
        add("missed notifications", of.missed, "",
            "there, and a session that stayed in IDLE was not told; each session counts");
    return result;
}

table unread_table(const ledger::answers& found) {
    table result{"unread",
                 "Mailboxes that were not read since messages to them were accepted",
                 {{"mailbox"}, {"not looked for", align::right}, {"reason"}},
                 {}};
    for (const ledger::unread_mailbox& each : found.unread)
        result.rows.push_back({each.address, format_count(each.messages), each.reason});
    if (found.unread_mailboxes > found.unread.size()) {
        result.note = fmt::format("of {} mailboxes the {} with most such messages",
                                  format_count(found.unread_mailboxes), found.unread.size());
    }
    return result;
}

table ledger_counts_table(const summary& of) {
    table result{"counts", "Rows", {{""}, {"rows", align::right}}, {}};
    for (std::size_t each = 0; each < of.sent.size(); ++each) {
        result.rows.push_back(
            {"sent: " + name_of(static_cast<outcome>(each)), format_count(of.sent[each])});
    }
    result.rows.push_back({"seen: ours", format_count(of.sightings)});
    result.rows.push_back({"seen: foreign", format_count(of.foreign)});
    result.rows.push_back({"seen: of the original postal", format_count(of.original)});
    return result;
}

table delivery_table(const stats::histogram& times) {
    table result{"delivery",
                 "Delivery time, from the time in the message to being seen",
                 numbers({"messages", "mean", "p50", "p90", "p99", "p99.9", "max"}),
                 {}};
    auto& row = result.rows.emplace_back();
    row = {format_count(times.count()), base::format_latency(times.mean())};
    for (const double quantile : {0.5, 0.9, 0.99, 0.999, 1.0})
        row.push_back(base::format_latency(times.quantile(quantile)));
    return result;
}

table runs_table(const ledger_report& one) {
    table result{"runs",
                 "Runs",
                 {{"run"},
                  {"program"},
                  {"started"},
                  {"ended"},
                  {"sent", align::right},
                  {"seen", align::right}},
                 {}};
    for (const ledger::run_row& run : one.found.runs) {
        result.rows.push_back({run.run, run.program, show_time(run.started),
                               run.ended.empty() ? "not known" : show_time(run.ended),
                               format_count(run.sent), format_count(run.seen)});
    }
    return result;
}

std::vector<table> tables_of_ledger(const ledger_report& one) {
    std::vector<table> result{messages_table(one)};
    table sizes = sizes_table(one.found.totals);
    if (!sizes.rows.empty()) result.push_back(std::move(sizes));
    if (!one.found.unread.empty()) result.push_back(unread_table(one.found));
    if (!one.delivery.empty()) result.push_back(delivery_table(one.delivery));
    if (one.announced.all().messages > 0) result.push_back(one.announced.by_way());
    result.push_back(ledger_counts_table(one.found.totals));
    result.push_back(runs_table(one));
    return result;
}

}  // namespace

sheet sheet_of(const ledger_report& one) {
    const summary& of = one.found.totals;
    sheet made{{"ledger"}, {{csv_cell(one.file)}}};
    std::vector<std::string>& names = made.columns;
    std::vector<std::string>& cells = made.rows.front();
    const auto add = [&](const std::string& name, std::uint64_t count) {
        names.push_back(name);
        cells.push_back(std::to_string(count));
    };
    add("acknowledged", of.acknowledged());
    add("found", of.found);
    add("vanished", of.vanished);
    add("lost", of.lost);
    add("not_looked_for", of.not_looked_for);
    add("misplaced", of.misplaced);
    add("bounced", of.bounced);
    add("not_known", of.not_known);
    add("unacknowledged", of.all_unacknowledged());
    add("duplicated", of.duplicated);
    add("extra_copies", of.extra_copies);
    add("corrupt", of.all_corrupt());
    add("corrupt_acknowledged", of.corrupt_acknowledged);
    add("misdelivered", of.misdelivered);
    add("out_of_order", of.out_of_order);
    for (std::size_t each = 1; each < of.sent.size(); ++each) {
        add("sent_" + std::string(to_text(static_cast<outcome>(each))), of.sent[each]);
    }
    add("seen", of.sightings);
    add("foreign", of.foreign);
    add("original", of.original);
    add("unknown", of.unknown);
    add("unwritten", of.unwritten);
    for (std::size_t kind = 0; kind < of.corrupt.size(); ++kind) {
        const auto what = static_cast<condition>(kind);
        if (is_corrupt(what)) add("corrupt_" + std::string(to_text(what)), of.corrupt[kind]);
    }
    for (const auto& [name, quantile] :
         {std::pair{"p50", 0.5}, {"p90", 0.9}, {"p99", 0.99}, {"p999", 0.999}, {"max", 1.0}}) {
        names.push_back(fmt::format("delivery_{}_us", name));
        const auto time = one.delivery.quantile(quantile);
        const auto us = std::chrono::duration_cast<std::chrono::microseconds>(time).count();
        cells.push_back(one.delivery.empty() ? "" : std::to_string(us));
    }
    const announced_times& announced = one.announced.all();
    add("missed_notification", of.missed);
    add("announced_messages", announced.messages);
    add("announced_never", announced.never());
    for (const auto& [name, quantile] :
         {std::pair{"p50", 0.5}, {"p90", 0.9}, {"p99", 0.99}, {"p999", 0.999}, {"max", 1.0}}) {
        names.push_back(fmt::format("announced_{}_us", name));
        const auto us = announced.messages == 0 ? std::nullopt : announced.us(quantile);
        cells.push_back(us ? fmt::format("{:.0f}", *us) : "");
    }
    add_sizes(made, csv_cell(one.file), of);
    return made;
}

document document_of(const ledger_report& one, medium wanted) {
    document made{"Ledger"};
    const std::string result = result_of(one.found.totals);
    made.add(statement{one.file + ": " + result});
    if (wanted == medium::page) add_ledger_page(made, one, result);
    for (std::string& each : remarks_on(one))
        made.add(remark{"limit", std::move(each)});
    made.add_tables(tables_of_ledger(one));
    return made;
}

namespace {

// One behind the other, for people.
std::string name_of(const options& wanted) {
    const std::size_t more = wanted.records.size();
    return more == 0 ? wanted.ledger : fmt::format("{} and {} more", wanted.ledger, more);
}

}  // namespace

base::expected<ledger_report> read_ledger(const options& wanted) {
    auto book = ledger::reader::open(wanted.ledgers());
    if (!book) return book.error();
    ledger_report one;
    one.file = name_of(wanted);
    ledger::questions questions;
    questions.on_delivery = [&](std::int64_t us) {
        // Times of a file may be any; a histogram ends far before the clock does.
        constexpr std::int64_t longest_us = std::numeric_limits<std::int64_t>::max() / 1000;
        one.delivery.record(std::chrono::microseconds(std::clamp<std::int64_t>(us, 0, longest_us)));
    };
    questions.on_told = [&](const ledger::told_of& of) { one.announced.add(of); };
    questions.one_store = wanted.one_store;
    questions.examples = wanted.html.empty() ? 0 : examples_of_page;
    auto found = book->reconcile(questions);
    if (!found) return found.error();
    one.found = std::move(*found);
    const auto named = one.announced.name(*book);
    if (!named) return named.error();
    return one;
}

base::expected<bool> print_list(const options& wanted) {
    auto book = ledger::reader::open(wanted.ledgers());
    if (!book) return book.error();
    const output kind = wanted.printed();
    ledger::questions questions;
    questions.list = wanted.list->only;
    questions.list_all = !wanted.list->only;
    questions.one_store = wanted.one_store;
    bool first = true;
    questions.on_row = [&](const ledger::discrepancy_row& row) {
        if (first) base::print(discrepancy_header(kind));
        first = false;
        std::string line = render_discrepancy(row, kind);
        base::print(kind == output::text ? os::fitted(std::move(line), STDOUT_FILENO) : line);
    };
    const auto found = book->reconcile(questions);
    if (!found) return found.error();
    if (first && kind != output::text) base::print(discrepancy_header(kind));
    return !found->totals.broken_promise();
}

}  // namespace postal::report
