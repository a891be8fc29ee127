// SPDX-License-Identifier: GPL-3.0-or-later
#include "postal-report/recomputed.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <map>
#include <string_view>
#include <utility>

#include "base/text.hpp"
#include "base/units.hpp"
#include "bundle/temporary_folder.hpp"
#include "postal-report/folder.hpp"
#include "postal-report/ledger.hpp"
#include "postal-report/run.hpp"
#include "stats/record_reader.hpp"

namespace postal::report {

namespace {

constexpr std::size_t most_differences = 20;
constexpr std::size_t most_more = std::size_t{1}
                                  << 20U;  // octets that are worth a look at each line

base::expected<recomputed> records_printed(const std::vector<std::string>& names,
                                           const bundle::files& all) {
    std::vector<record> records;
    for (const std::string& name : names) {
        const auto found = all.find(name);
        if (found == all.end()) return base::fail("{}: is not there", name);
        auto parsed = stats::parse_record(found->second);
        if (!parsed)
            return base::fail("{}: {}", name, base::printable(parsed.error().message, 300));
        records.push_back({std::move(*parsed), {}, name});
    }
    label(records);
    recomputed to;
    to.add("printed/records", document_of(records, medium::text), sheet_of(records));
    return to;
}

// SQLite reads files, so they lie in a folder of ours meanwhile, under names of ours.
base::expected<recomputed> ledgers_printed(const bundle::manifest& of, const bundle::files& all) {
    const auto folder = bundle::temporary_folder::make();
    if (!folder) return folder.error();
    options wanted;
    wanted.one_store = of.one_store;
    for (std::size_t i = 0; i < of.ledgers.size(); ++i) {
        const auto found = all.find(of.ledgers[i]);
        if (found == all.end()) return base::fail("{}: is not there", of.ledgers[i]);
        const auto path = folder->keep(fmt::format("{}.ledger", i + 1), found->second);
        if (!path) return path.error();
        if (i == 0)
            wanted.ledger = *path;
        else
            wanted.records.push_back(*path);
    }
    auto read = read_ledger(wanted);
    if (!read) return base::at(of.ledgers.front(), read.error());
    read->file = of.ledgers.size() == 1 ? "ledger" : "ledgers";
    recomputed to;
    to.add("printed/ledgers", document_of(*read, medium::text), sheet_of(*read));
    return to;
}

// Files that nothing printed was made from would be in a bundle for its looks.
void name_unused(const bundle::manifest& of, const bundle::files& all, recomputed& to) {
    for (const auto& [name, content] : all) {
        const auto begins = [&, &name = name](std::string_view with) {
            return name.starts_with(with);
        };
        const auto is_in = [&, &name = name](const std::vector<std::string>& list) {
            return std::find(list.begin(), list.end(), name) != list.end();
        };
        const bool used = begins("printed/") || name == bundle::manifest_name ||
                          name == bundle::signature_name ||
                          (begins("records/") && is_in(of.records)) ||
                          (begins("ledgers/") && is_in(of.ledgers)) ||
                          (begins("results/") && !of.results.empty());
        if (!used) to.found.push_back(name + ": is in the bundle, and nothing is made from it");
    }
}

// ---- differences ----

class said_lines {
  public:
    void add(std::string line) {
        if (++count_ <= most_differences) lines_.push_back(std::move(line));
    }
    std::vector<std::string> take(const std::string& name) && {
        if (count_ > most_differences)
            lines_.push_back(
                fmt::format("{}: {} differ", name,
                            base::format_amount(count_ - most_differences, "more place")));
        return std::move(lines_);
    }

  private:
    std::vector<std::string> lines_;
    std::size_t count_ = 0;
};

std::vector<std::string> differing_lines(const std::string& name, const std::string& said,
                                         const std::string& made) {
    const auto then = base::split(said, '\n');
    const auto now = base::split(made, '\n');
    said_lines to;
    for (std::size_t i = 0; i < std::max(then.size(), now.size()); ++i) {
        const std::string_view was = i < then.size() ? then[i] : "nothing more";
        const std::string_view is = i < now.size() ? now[i] : "nothing more";
        if (i < then.size() && i < now.size() && was == is) continue;
        to.add(fmt::format("{}:{}: says \"{}\"; what follows is \"{}\"", name, i + 1,
                           base::trim(was), base::trim(is)));
    }
    return std::move(to).take(name);
}

// RFC 4180, as csv.cpp writes it.
std::vector<std::vector<std::string>> cells_of(std::string_view text) {
    std::vector<std::vector<std::string>> rows;
    bool quoted = false;
    bool begun = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (!begun) rows.emplace_back().emplace_back();
        begun = true;
        const char c = text[i];
        std::string& cell = rows.back().back();
        if (quoted) {
            const bool twice = c == '"' && i + 1 < text.size() && text[i + 1] == '"';
            if (c != '"' || twice) cell += c;
            if (twice) ++i;
            if (c == '"' && !twice) quoted = false;
        } else if (c == '"') {
            quoted = true;
        } else if (c == ',') {
            rows.back().emplace_back();
        } else if (c == '\n') {
            begun = false;
        } else {
            cell += c;
        }
    }
    return rows;
}

bool is_same_cell(const std::string& one, const std::string& other) {
    if (one == other) return true;
    const auto a = base::parse_number(one);
    const auto b = base::parse_number(other);
    constexpr double relative = 1e-9;
    return a && b && std::abs(*a - *b) <= relative * std::max(std::abs(*a), std::abs(*b));
}

std::vector<std::string> differing_cells(const std::string& name, const std::string& said,
                                         const std::string& made) {
    const auto then = cells_of(said);
    const auto now = cells_of(made);
    if (then.empty() || now.empty())
        return {name + ": has no figures, or none follow from the files"};
    said_lines to;
    if (then.size() != now.size())
        to.add(fmt::format("{}: has {} lines; {} follow", name, then.size(), now.size()));
    std::map<std::string_view, std::size_t> columns;
    for (std::size_t i = 0; i < now.front().size(); ++i)
        columns.emplace(now.front()[i], i);
    for (std::size_t column = 0; column < then.front().size(); ++column) {
        const auto at = columns.find(then.front()[column]);
        if (at == columns.end()) {
            to.add(fmt::format("{}: has a column {}; none follows", name, then.front()[column]));
            continue;
        }
        for (std::size_t row = 1; row < std::min(then.size(), now.size()); ++row) {
            const auto cell = [&](const std::vector<std::string>& of, std::size_t index) {
                return index < of.size() ? of[index] : std::string();
            };
            const std::string was = cell(then[row], column);
            const std::string is = cell(now[row], at->second);
            if (!is_same_cell(was, is))
                to.add(fmt::format("{}: line {}, {}: says {}; what follows is {}", name, row + 1,
                                   at->first, was.empty() ? "nothing" : was,
                                   is.empty() ? "nothing" : is));
        }
    }
    return std::move(to).take(name);
}

}  // namespace

void recomputed::add(const std::string& name, const document& text, const sheet& figures) {
    printed[name + ".txt"] = render_text(text);
    printed[name + ".csv"] = render_csv(figures);
}

void recomputed::add(recomputed&& other) {
    printed.merge(other.printed);
    std::move(other.found.begin(), other.found.end(), std::back_inserter(found));
    std::move(other.noted.begin(), other.noted.end(), std::back_inserter(noted));
}

base::expected<recomputed> recompute(const bundle::manifest& of, const bundle::files& all) {
    recomputed to;
    if (!of.records.empty()) {
        auto made = records_printed(of.records, all);
        if (!made) return made.error();
        to.add(std::move(*made));
    }
    if (!of.results.empty()) {
        auto made = results_printed(all);
        if (!made) return made.error();
        to.add(std::move(*made));
    }
    if (!of.ledgers.empty()) {
        auto made = ledgers_printed(of, all);
        if (!made) return made.error();
        to.add(std::move(*made));
    }
    if (of.account && of.ledgers.empty())
        to.noted.emplace_back(
            "the ledgers are not in it: what is said of them is as it was "
            "printed, and cannot be recomputed");
    name_unused(of, all, to);
    return to;
}

std::vector<std::string> differences(const std::string& name, const std::string& said,
                                     const std::string& made) {
    if (said.size() > 2 * made.size() + most_more)
        return {fmt::format("{}: is {} long, and what follows is {}", name,
                            base::format_size(said.size()), base::format_size(made.size()))};
    return name.ends_with(".csv") ? differing_cells(name, said, made)
                                  : differing_lines(name, said, made);
}

}  // namespace postal::report
