// SPDX-License-Identifier: GPL-3.0-or-later
// What was found of a ledger's messages by their sizes, each class twice as wide as the one before.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "base/units.hpp"
#include "postal-report/ledger.hpp"
#include "postal-report/ledger_kinds.hpp"

namespace postal::report {

namespace {

using ledger::counted_size;
using ledger::discrepancy;

std::string short_size(std::uint64_t octets) {
    const std::uint64_t kilobytes = octets / 1024;
    return kilobytes % 1024 == 0 && kilobytes > 0 ? fmt::format("{}M", kilobytes / 1024)
                                                  : fmt::format("{}K", kilobytes);
}

std::string name_of_class(std::size_t which) {
    if (which == ledger::class_of_no_size) return "not recorded";
    const std::string next = short_size(ledger::least_octets(which + 1));
    if (which == 0) return "below " + next;
    const std::string least = short_size(ledger::least_octets(which));
    if (which + 1 == ledger::class_of_no_size) return least + " or more";
    return least + " to " + next;
}

bool is_empty(const counted_size& of) {
    return of.acknowledged == 0 && std::all_of(of.found.begin(), of.found.end(),
                                               [](std::uint64_t count) { return count == 0; });
}

// What adds up to the acknowledged ones.
std::uint64_t found_of(const counted_size& of) {
    std::uint64_t missing = 0;
    for (const discrepancy each :
         {discrepancy::vanished, discrepancy::lost, discrepancy::not_looked_for,
          discrepancy::misplaced, discrepancy::bounced, discrepancy::not_known})
        missing += of.found[static_cast<std::size_t>(each)];
    return of.acknowledged - std::min(missing, of.acknowledged);
}

// Of a sheet whose columns are called as discrepancies, but for "found" and copies too many.
std::string cell_of(const counted_size& of, const std::string& column) {
    if (column == "acknowledged") return std::to_string(of.acknowledged);
    if (column == "found") return std::to_string(found_of(of));
    for (const kind_words& each : kinds) {
        std::string name = each.what == discrepancy::duplicated ? "extra copies" : name_of(each);
        std::replace(name.begin(), name.end(), ' ', '_');
        if (name == column) return std::to_string(count_of(of.found, each));
    }
    return {};
}

}  // namespace

table sizes_table(const ledger::summary& of) {
    found_kinds found;
    for (const kind_words& kind : kinds) {
        const bool is_found = std::any_of(of.sizes.begin(), of.sizes.end(), [&](const auto& each) {
            return count_of(each.found, kind) > 0;
        });
        if (is_found) found.push_back(&kind);
    }
    table made = counted_table("sizes", "By size of the message", "size", found);
    if (found.empty()) return made;
    made.columns.insert(made.columns.begin() + 1, {"acknowledged", align::right});
    for (std::size_t which = 0; which < of.sizes.size(); ++which) {
        const counted_size& each = of.sizes[which];
        if (is_empty(each)) continue;
        auto& row = made.rows.emplace_back();
        row = {name_of_class(which), base::format_count(each.acknowledged)};
        add_counts(row, each.found, found);
    }
    if (!is_empty(of.sizes[ledger::class_of_no_size]))
        made.note =
            "Size not recorded: of messages that only copies tell of, or from ledgers of older "
            "versions";
    return made;
}

void add_sizes(sheet& to, const std::string& file, const ledger::summary& of) {
    to.columns.emplace_back("size");
    for (auto& row : to.rows)
        row.emplace_back();
    for (std::size_t which = 0; which < of.sizes.size(); ++which) {
        if (is_empty(of.sizes[which])) continue;
        auto& row = to.rows.emplace_back();
        for (const std::string& column : to.columns)
            row.push_back(cell_of(of.sizes[which], column));
        row.front() = file;
        row.back() = name_of_class(which);
    }
}

}  // namespace postal::report
