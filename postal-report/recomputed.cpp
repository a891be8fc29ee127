// SPDX-License-Identifier: GPL-3.0-or-later
#include "postal-report/recomputed.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "base/text.hpp"
#include "base/units.hpp"
#include "os/temporary_folder.hpp"
#include "postal-report/figures.hpp"
#include "postal-report/folder.hpp"
#include "postal-report/ledger.hpp"
#include "postal-report/run.hpp"
#include "stats/record_reader.hpp"

namespace postal::report {

namespace {

constexpr std::size_t most_differences = 20;
constexpr std::size_t most_more = std::size_t{1}
                                  << 20U;    // octets that are worth a look at each line
constexpr std::size_t most_cells = 1000000;  // of a table of records side by side
constexpr std::size_t most_names = 10000;    // of one record's list
constexpr std::size_t most_further_columns = 100;

// Records stand side by side: each name that one of them has is a row with a cell for each.
template <class List, class Name>
base::expected<void> check_names(const std::vector<record>& records, List list,
                                 std::string_view what, Name name) {
    std::unordered_set<std::string> names;
    for (const record& one : records) {
        if ((one.*list).size() > most_names)
            return base::fail("{}: has {} {}, and at most {} are shown", one.file,
                              (one.*list).size(), what, most_names);
        for (const auto& each : one.*list)
            names.insert(name(each));
        if (names.size() * (records.size() + 1) > most_cells)
            return base::fail("{} records side by side have more {} than a table of {} cells holds",
                              records.size(), what, most_cells);
    }
    return {};
}

base::expected<void> check_names(const std::vector<record>& records) {
    const auto options = check_names(records, &record::options, "options",
                                     [](const auto& each) { return each.first; });
    if (!options) return options.error();
    const auto errors =
        check_names(records, &record::errors, "kinds of errors",
                    [](const error_entry& each) { return each.stage + " " + show_code(each); });
    if (!errors) return errors.error();
    return check_names(records, &record::phases, "phases",
                       [](const phase& each) { return each.name; });
}

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
    if (const auto fits = check_names(records); !fits) return fits.error();
    label(records);
    recomputed to;
    to.used.insert(names.begin(), names.end());
    to.add("printed/records", document_of(records, medium::text), sheet_of(records));
    return to;
}

std::string with_names(std::string text, const std::vector<std::string>& paths,
                       const std::vector<std::string>& names) {
    for (std::size_t i = 0; i < paths.size(); ++i)
        for (std::size_t at = text.find(paths[i]); at != text.npos;
             at = text.find(paths[i], at + names[i].size()))
            text.replace(at, paths[i].size(), names[i]);
    return text;
}

// SQLite reads files, so they lie in a folder of ours meanwhile, under names of ours.
base::expected<recomputed> ledgers_printed(const bundle::manifest& of, const bundle::files& all) {
    recomputed to;
    const auto folder = os::temporary_folder::make();
    if (!folder) {
        to.not_here.push_back("the ledgers: " + folder.error().message);
        return to;
    }
    std::vector<std::string> paths;
    for (const std::string& name : of.ledgers) {
        const auto found = all.find(name);
        if (found == all.end()) return base::fail("{}: is not there", name);
        const auto path = folder->keep(fmt::format("{}.ledger", paths.size() + 1), found->second);
        if (!path) {
            to.not_here.push_back(name + ": there is no room for it: " + path.error().message);
            return to;
        }
        paths.push_back(*path);
        to.used.insert(name);
    }
    options wanted;
    wanted.one_store = of.one_store;
    wanted.ledger = paths.front();
    wanted.records.assign(paths.begin() + 1, paths.end());
    auto read = read_ledger(wanted);
    if (!read) return base::failure{with_names(read.error().message, paths, of.ledgers)};
    read->file = of.ledgers.size() == 1 ? "ledger" : "ledgers";
    to.add("printed/ledgers", document_of(*read, medium::text), sheet_of(*read));
    return to;
}

// Files that nothing printed was made from would be in a bundle for its looks.
void name_unused(const bundle::files& all, recomputed& to) {
    for (const auto& [name, content] : all)
        if (!name.starts_with("printed/") && name != bundle::manifest_name &&
            name != bundle::signature_name && !to.used.contains(name))
            to.found.push_back(name + ": is in the bundle, and nothing is made from it");
}

// ---- differences ----

class said_lines {
  public:
    void add(std::string line) {
        if (!is_full())
            lines_.push_back(std::move(line));
        else
            is_more_ = true;
    }
    // Nobody reads further ones.
    [[nodiscard]] bool is_full() const { return lines_.size() >= most_differences; }
    std::vector<std::string> take(const std::string& name) && {
        if (is_more_) lines_.push_back(name + ": more places differ");
        return std::move(lines_);
    }
    [[nodiscard]] bool is_more() const { return is_more_; }

  private:
    std::vector<std::string> lines_;
    bool is_more_ = false;
};

std::vector<std::string> differing_lines(const std::string& name, const std::string& said,
                                         const std::string& made) {
    const auto then = base::split(said, '\n');
    const auto now = base::split(made, '\n');
    said_lines to;
    for (std::size_t i = 0; i < std::max(then.size(), now.size()) && !to.is_more(); ++i) {
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

using cell_row = std::vector<std::string>;

// What a table's first line cannot be; empty where it can.
std::string bad_columns(const cell_row& said, const cell_row& made) {
    if (said.size() > made.size() + most_further_columns)
        return fmt::format("has {} columns; {} follow", said.size(), made.size());
    std::unordered_set<std::string_view> names;
    for (const std::string& one : said)
        if (!names.insert(one).second) return fmt::format("has the column {} twice", one);
    return {};
}

void compare_columns(const std::string& name, const cell_row& said, const cell_row& made,
                     said_lines& to) {
    for (std::size_t i = 0; i < std::max(said.size(), made.size()); ++i) {
        if (i < said.size() && i < made.size() && said[i] == made[i]) continue;
        to.add(fmt::format("{}: column {} is {}; what follows is {}", name, i + 1,
                           i < said.size() ? said[i] : "nothing",
                           i < made.size() ? made[i] : "nothing"));
        return;
    }
}

// The cells of one line of both, by the names of `columns`: what was said, and its place in what
// was made.
void compare_row(const std::string& where, const cell_row& said, const cell_row& made,
                 const std::vector<std::optional<std::size_t>>& columns, const cell_row& names,
                 said_lines& to) {
    for (std::size_t i = 0; i < columns.size() && i < said.size() && !to.is_more(); ++i) {
        if (!columns[i]) continue;
        const std::string is = *columns[i] < made.size() ? made[*columns[i]] : std::string();
        if (!is_same_cell(said[i], is))
            to.add(fmt::format("{}, {}: says {}; what follows is {}", where, names[i],
                               said[i].empty() ? "nothing" : said[i], is.empty() ? "nothing" : is));
    }
}

std::vector<std::string> differing_cells(const std::string& name, const std::string& said,
                                         const std::string& made, maker of) {
    const auto then = cells_of(said);
    const auto now = cells_of(made);
    if (then.empty() || now.empty())
        return {name + ": has no figures, or none follow from the files"};
    const cell_row& names = then.front();
    if (const std::string bad = bad_columns(names, now.front()); !bad.empty())
        return {fmt::format("{}: {}", name, bad)};
    said_lines to;
    if (of == maker::this_version) compare_columns(name, names, now.front(), to);
    if (then.size() != now.size())
        to.add(fmt::format("{}: has {} lines; {} follow", name, then.size(), now.size()));
    std::unordered_map<std::string_view, std::size_t> places;
    for (std::size_t i = 0; i < now.front().size(); ++i)
        places.emplace(now.front()[i], i);
    std::vector<std::optional<std::size_t>> columns;
    for (const std::string& one : names) {
        const auto at = places.find(one);
        columns.push_back(at == places.end() ? std::nullopt : std::optional(at->second));
        if (at == places.end() && of == maker::another)
            to.add(fmt::format("{}: has a column {}; none follows", name, one));
    }
    for (std::size_t row = 1; row < then.size() && !to.is_more(); ++row) {
        const std::string where = fmt::format("{}: line {}", name, row + 1);
        if (then[row].size() != names.size())
            to.add(fmt::format("{} has {} cells, and the first line {}", where, then[row].size(),
                               names.size()));
        if (row < now.size()) compare_row(where, then[row], now[row], columns, names, to);
    }
    return std::move(to).take(name);
}

}  // namespace

void recomputed::add(const std::string& name, const document& text, const sheet& figures) {
    printed[name + ".txt"] = render_text(text);
    printed[name + ".csv"] = render_csv(figures);
}

void recomputed::add(recomputed&& other) {
    const auto append = [](std::vector<std::string>& these, std::vector<std::string>& those) {
        std::move(those.begin(), those.end(), std::back_inserter(these));
    };
    printed.merge(other.printed);
    used.merge(other.used);
    append(found, other.found);
    append(differs, other.differs);
    append(unchecked, other.unchecked);
    append(not_here, other.not_here);
    append(noted, other.noted);
    held += other.held;
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
        to.unchecked.emplace_back(
            "the ledgers are not in it: what is said of them is as it was printed, and cannot be "
            "recomputed");
    // What cannot be computed here may have used anything.
    if (to.not_here.empty()) name_unused(all, to);
    return to;
}

std::vector<std::string> differences(const std::string& name, const std::string& said,
                                     const std::string& made, maker of) {
    if (said == made) return {};
    if (said.size() > 2 * made.size() + most_more)
        return {fmt::format("{}: is {} long, and what follows is {}", name,
                            base::format_size(said.size()), base::format_size(made.size()))};
    return name.ends_with(".csv") ? differing_cells(name, said, made, of)
                                  : differing_lines(name, said, made);
}

std::size_t amount_in(const std::string& name, const std::string& text) {
    std::size_t amount = 0;
    if (name.ends_with(".csv")) {
        const auto rows = cells_of(text);
        for (std::size_t i = 1; i < rows.size(); ++i)
            amount += static_cast<std::size_t>(std::count_if(
                rows[i].begin(), rows[i].end(),
                [](const std::string& one) { return base::parse_number(one).has_value(); }));
        return amount;
    }
    for (const std::string_view line : base::split(text, '\n'))
        amount += base::trim(line).empty() ? 0 : 1;
    return amount;
}

}  // namespace postal::report
