// SPDX-License-Identifier: GPL-3.0-or-later
#include "postal-report/announced.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "base/text.hpp"
#include "base/units.hpp"
#include "postal-report/figures.hpp"

namespace postal::report {

namespace {

using base::format_count;
using ledger::waiting;

constexpr std::size_t longest_name = 100;

std::string words_of(waiting how) {
    if (how == waiting::notified) return "sessions that use NOTIFY";
    if (how == waiting::polling) return "sessions that ask with NOOP";
    return how == waiting::visiting ? "visits over POP3" : "sessions that use IDLE";
}

std::vector<std::string> announced_row(std::string name, const announced_times& of) {
    std::vector<std::string> row{std::move(name), format_count(of.messages),
                                 format_count(of.never())};
    for (const double quantile : {0.5, 0.9, 0.99, 0.999}) {
        const auto us = of.us(quantile);
        row.push_back(us ? show_latency(us) : "never");
    }
    const std::uint64_t known = of.times.count();
    row.push_back(known == 0 ? unknown : show_latency(of.times.at_rank_us(known)));
    return row;
}

}  // namespace

void announced_times::add(std::optional<std::int64_t> after_us) noexcept {
    ++messages;
    if (after_us) times.record(*after_us);
}

void announced_report::add(const ledger::told_of& one) {
    all_.add(one.after_us);
    for (const ledger::told_part& each : one.parts) {
        const part which{each.server, each.how};
        const bool known = parts_.size() < most_parts || parts_.contains(which);
        (known ? parts_[which] : others_).add(each.after_us);
    }
    announced_account& account = counted_[one.mailbox];
    ++account.messages;
    account.never += one.after_us ? 0 : 1;
    account.longest_us = std::max(account.longest_us, one.after_us.value_or(0));
}

base::expected<void> announced_report::name(ledger::reader& book) {
    std::vector<std::int64_t> servers;
    for (const auto& [which, times] : parts_)
        servers.push_back(which.first);
    auto names = book.addresses(servers);
    if (!names) return names.error();
    for (std::size_t each = 0; each < servers.size(); ++each)
        servers_[servers[each]] = base::printable((*names)[each], longest_name);
    std::vector<std::pair<std::int64_t, announced_account>> all(counted_.begin(), counted_.end());
    const auto most = std::min(all.size(), most_accounts);
    std::partial_sort(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(most), all.end(),
                      [](const auto& a, const auto& b) {
                          return std::tie(b.second.never, b.second.longest_us, a.first) <
                                 std::tie(a.second.never, a.second.longest_us, b.first);
                      });
    std::vector<std::int64_t> accounts;
    for (std::size_t each = 0; each < most; ++each) {
        accounts.push_back(all[each].first);
        worst_.push_back(std::move(all[each].second));
    }
    names = book.addresses(accounts);
    if (!names) return names.error();
    for (std::size_t each = 0; each < most; ++each)
        worst_[each].name = base::printable((*names)[each], longest_name);
    return {};
}

table announced_report::by_way() const {
    table made{"announced",
               "From the reply that accepted a message to when a reader was told of it",
               {{""},
                {"messages", align::right},
                {"never announced", align::right},
                {"p50", align::right},
                {"p90", align::right},
                {"p99", align::right},
                {"p99.9", align::right},
                {"longest", align::right}},
               {}};
    if (all_.messages == 0) return made;
    made.rows.push_back(announced_row("all", all_));
    for (const auto& [which, times] : parts_) {
        const bool several = servers_.size() > 1;
        const auto server = servers_.find(which.first);
        const std::string name = several && server != servers_.end() ? server->second : "";
        made.rows.push_back(
            announced_row(words_of(which.second) + (name.empty() ? "" : " of " + name), times));
    }
    if (others_.messages > 0) made.rows.push_back(announced_row("others", others_));
    made.note =
        "Of all that was accepted and looked for while a reader waited; what was never announced "
        "lies above all that was. Compares the clocks of sender and reader";
    return made;
}

table announced_report::by_account() const {
    table made{"announced-accounts",
               "By account, when readers were told",
               {{"recipient"},
                {"messages", align::right},
                {"never announced", align::right},
                {"longest", align::right}},
               {}};
    for (const announced_account& each : worst_) {
        const bool none = each.never == each.messages;
        made.rows.push_back({each.name, format_count(each.messages),
                             each.never == 0 ? "" : format_count(each.never),
                             none ? unknown : show_latency(static_cast<double>(each.longest_us))});
    }
    if (counted_.size() > worst_.size())
        made.note = fmt::format(
            "Of {} accounts the {} with most that was never announced, and "
            "then with the longest time",
            format_count(counted_.size()), worst_.size());
    return made;
}

}  // namespace postal::report
