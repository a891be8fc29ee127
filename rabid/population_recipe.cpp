// SPDX-License-Identifier: GPL-3.0-or-later
#include "rabid/population_recipe.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iterator>
#include <numeric>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/read_file.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "cli/toml.hpp"
#include "rabid/folder_names.hpp"

namespace postal::rabid {
namespace {

using base::expected;

// What a first look at the words has found, until all is known.
struct draft {
    population_recipe made;
    double years = 5;
    std::string until = "2026-01-01";
    std::string size = "lognormal:4K,1,256K";
};

expected<double> share_of(const std::string& text) {
    auto share = text.ends_with('%') ? base::parse_share(text) : base::parse_number(text);
    if (!share) return share;
    if (*share > 1) return base::fail("\"{}\" is no share; give 80% or 0.8", text);
    return share;
}

template <class Value>
expected<void> put(Value& into, expected<Value> read) {
    if (!read) return read.error();
    into = std::move(*read);
    return {};
}

expected<void> read_messages(const std::string& text, draft& into) {
    const auto done = put(into.made.messages, base::parse_count(text));
    if (done && into.made.messages > most_messages_of_account)
        return base::fail("{} are too many; at most {} for an account", text,
                          most_messages_of_account);
    return done;
}

expected<void> take_folders(const std::vector<std::string>& names, draft& into) {
    if (names.empty() || names.size() > most_folders)
        return base::fail("{} folders; give 1 to {}", names.size(), most_folders);
    std::vector<std::string> known;
    for (const std::string& one : names) {
        const auto added = add_folder(one, known);
        if (!added) return added.error();
    }
    into.made.plan.folders = std::move(known);
    return {};
}

// INBOX, then names; every third lies in the one before it that has its level.
expected<void> name_folders(std::uint64_t count, draft& into) {
    constexpr std::string_view words[] = {"Archive", "Projects", "Lists",  "Sent",
                                          "Family",  "Invoices", "Travel", "Reports"};
    std::vector<std::string> names{"INBOX"};
    for (std::uint64_t i = 1; i < count && i < most_folders; ++i) {
        const std::string_view word = words[(i - 1) % std::size(words)];
        const std::uint64_t again = (i - 1) / std::size(words);
        std::string name = again == 0 ? std::string(word) : fmt::format("{} {}", word, again + 1);
        if (i % 3 == 0) name = names[i - 1] + "/" + name;
        names.push_back(std::move(name));
    }
    if (count > most_folders) return base::fail("{}: give 1 to {}", count, most_folders);
    return take_folders(names, into);
}

expected<void> read_folders(const std::string& text, draft& into) {
    const auto count = base::parse_count(text);
    if (!count || *count == 0)
        return base::fail("\"{}\" is no number of folders; give one from 1 on{}",
                          base::printable(text, 80), ", or their names in a file");
    return name_folders(*count, into);
}

expected<void> read_flag(const std::string& flag, const std::string& text, draft& into) {
    const auto share = share_of(text);
    if (!share) return share.error();
    auto& flags = into.made.plan.flags;
    const auto known =
        std::find_if(flags.begin(), flags.end(), [&](const auto& one) { return one.flag == flag; });
    if (known != flags.end()) {
        known->share = *share;
    } else if (flags.size() == mail::most_flags) {
        return base::fail("too many keywords; give at most {}", mail::most_flags - 3);
    } else {
        flags.push_back({flag, *share});
    }
    return {};
}

// RFC 3501 9, flag-keyword: an atom.
expected<void> read_keyword(const std::string& name, const std::string& text, draft& into) {
    constexpr std::string_view specials = "(){%*\"\\] ";
    const bool atom =
        !name.empty() && name.size() <= 64 && std::all_of(name.begin(), name.end(), [&](char c) {
            return c > ' ' && c < 127 && specials.find(c) == specials.npos;
        });
    if (!atom) return base::fail("\"{}\" is no keyword", base::printable(name, 80));
    return read_flag(name, text, into);
}

expected<void> read_number(double& into, const std::string& text, double least, double most) {
    const auto number = base::parse_number(text);
    if (!number) return number.error();
    if (*number < least || *number > most)
        return base::fail("{} is not from {} to {}", text, least, most);
    into = *number;
    return {};
}

expected<void> read_threads(const std::string& text, draft& into) {
    if (text != "on" && text != "off") return base::fail("\"{}\" is neither on nor off", text);
    into.made.plan.threads = text == "on";
    return {};
}

expected<void> read_reply(const std::string& text, draft& into) {
    const auto median = base::parse_duration(text);
    if (!median) return median.error();
    into.made.plan.median_reply_s = base::seconds_of(*median);
    return {};
}

expected<void> read_sizes(const std::string& text, draft& into) {
    into.size = text;
    return {};
}

struct recipe_row {
    std::string_view key;
    expected<void> (*read)(const std::string& text, draft& into);
};

constexpr recipe_row recipe_keys[] = {
    {"messages", read_messages},
    {"spread", [](const std::string& t,
                  draft& d) { return put(d.made.spread, mail::parse_account_weights(t)); }},
    {"folders", read_folders},
    {"zipf", [](const std::string& t, draft& d) { return read_number(d.made.plan.zipf, t, 0, 5); }},
    {"years", [](const std::string& t, draft& d) { return read_number(d.years, t, 0.01, 50); }},
    {"until",
     [](const std::string& t, draft& d) -> expected<void> {
         d.until = t;
         return {};
     }},
    {"threads", read_threads},
    {"reply", read_reply},
    {"seen", [](const std::string& t, draft& d) { return read_flag("\\Seen", t, d); }},
    {"flagged", [](const std::string& t, draft& d) { return read_flag("\\Flagged", t, d); }},
    {"answered", [](const std::string& t, draft& d) { return read_flag("\\Answered", t, d); }},
    {"size", read_sizes},
    {"body",
     [](const std::string& t, draft& d) { return put(d.made.bodies, mail::body_mix::parse(t)); }},
    {"verify", [](const std::string& t, draft& d) { return put(d.made.verify, share_of(t)); }},
};

const recipe_row* recipe_key(std::string_view name) {
    const auto found = std::find_if(std::begin(recipe_keys), std::end(recipe_keys),
                                    [&](const recipe_row& one) { return one.key == name; });
    return found == std::end(recipe_keys) ? nullptr : found;
}

expected<void> read_recipe_key(std::string_view key, const std::string& text, draft& into) {
    const recipe_row* row = recipe_key(key);
    if (row == nullptr) {
        std::vector<std::string> names;
        for (const recipe_row& one : recipe_keys)
            names.emplace_back(one.key);
        return base::fail("{} is no key; there are {}", base::printable(key, 80),
                          base::join(names, ", "));
    }
    const auto done = row->read(text, into);
    if (!done) return base::fail("{}: {}", key, done.error().message);
    return {};
}

// "2026-01-01", the beginning of that day.
expected<std::chrono::sys_seconds> read_day(const std::string& text) {
    using namespace std::chrono;
    const auto number = [&](std::size_t at, std::size_t size) {
        const auto read = base::parse_count(text.substr(at, size));
        return read ? static_cast<int>(*read) : 0;
    };
    const bool form = text.size() == 10 && text[4] == '-' && text[7] == '-';
    if (form) {
        const year_month_day day{year{number(0, 4)}, month{static_cast<unsigned>(number(5, 2))},
                                 std::chrono::day{static_cast<unsigned>(number(8, 2))}};
        if (day.ok() && day >= year_month_day{year{1990}, month{1}, std::chrono::day{1}})
            return sys_seconds(sys_days(day));
    }
    return base::fail("until: \"{}\" is no day from 1990 on; give one such as 2026-01-01",
                      base::printable(text, 80));
}

expected<population_recipe> finish(draft&& of) {
    using namespace std::chrono;
    population_recipe& made = of.made;
    const auto sizes = mail::size_spec::parse(of.size);
    if (!sizes) return base::fail("size: {}", sizes.error().message);
    made.sizes = *sizes;
    const auto until = read_day(of.until);
    if (!until) return until.error();
    made.plan.until = *until;
    made.plan.span = seconds(static_cast<std::int64_t>(of.years * 365.25 * 86'400));
    if (made.plan.until - made.plan.span < sys_days(year{1970} / 1 / 2))
        return base::fail("years: {} before {} is before 1970", of.years, of.until);
    return std::move(made);
}

draft usual(std::uint64_t seed) {
    draft made;
    made.made.plan.seed = seed;
    made.made.plan.flags = {{"\\Seen", 0.8}, {"\\Flagged", 0.03}, {"\\Answered", 0.7}};
    name_folders(8, made);
    return made;
}

expected<population_recipe> parse_words(const std::string& words, std::uint64_t seed) {
    draft made = usual(seed);
    std::vector<std::pair<std::string, std::string>> pairs;
    std::string_view left = words;
    while (!left.empty()) {
        const std::string_view piece = left.substr(0, left.find(','));
        left.remove_prefix(std::min(left.size(), piece.size() + 1));
        const std::size_t equals = piece.find('=');
        const bool key = equals != piece.npos && recipe_key(piece.substr(0, equals)) != nullptr;
        if (!key && !pairs.empty() &&
            (pairs.back().first == "size" || pairs.back().first == "body")) {
            pairs.back().second.append(",").append(piece);
        } else if (equals == piece.npos) {
            return base::fail("\"{}\" has no value; give KEY=VALUE,...",
                              base::printable(piece, 80));
        } else {
            pairs.emplace_back(piece.substr(0, equals), piece.substr(equals + 1));
        }
    }
    for (const auto& [key, text] : pairs) {
        const auto twice = std::count_if(pairs.begin(), pairs.end(),
                                         [&](const auto& one) { return one.first == key; });
        if (twice > 1) return base::fail("{} stands there twice", base::printable(key, 80));
        const auto done = read_recipe_key(key, text, made);
        if (!done) return done.error();
    }
    return finish(std::move(made));
}

expected<std::string> text_of_node(const toml::node& node) {
    if (const auto* text = node.as_string()) return {boost::system::in_place_value, text->get()};
    if (const auto* number = node.as_integer())
        return {boost::system::in_place_value, std::to_string(number->get())};
    if (const auto* number = node.as_floating_point())
        return {boost::system::in_place_value, fmt::format("{:f}", number->get())};
    if (const auto* day = node.as_date()) {
        const toml::date& is = day->get();
        return {boost::system::in_place_value,
                fmt::format("{:04}-{:02}-{:02}", is.year, is.month, is.day)};
    }
    return base::fail("must be a number, or a text in quotes");
}

expected<void> read_folder_list(const toml::array& list, draft& into) {
    std::vector<std::string> names;
    for (const auto& one : list) {
        if (!one.is_string()) return base::fail("folders: must be a list of names, or a number");
        names.push_back(one.as_string()->get());
    }
    const auto done = take_folders(names, into);
    if (!done) return base::fail("folders: {}", done.error().message);
    return {};
}

expected<void> read_node(std::string_view key, const toml::node& node, draft& into) {
    if (key == "folders" && node.is_array()) return read_folder_list(*node.as_array(), into);
    if (key == "keywords") {
        if (!node.is_table()) return base::fail("keywords: must be a table of keywords and shares");
        for (const auto& [name, share] : *node.as_table()) {
            const auto text = text_of_node(share);
            const auto done = text ? read_keyword(std::string(name.str()), *text, into)
                                   : expected<void>(text.error());
            if (!done) return base::fail("keywords: {}: {}", name.str(), done.error().message);
        }
        return {};
    }
    const auto text = text_of_node(node);
    if (!text) return base::fail("{}: {}", base::printable(key, 80), text.error().message);
    return read_recipe_key(key, *text, into);
}

}  // namespace

expected<population_recipe> parse_population_file(std::string_view text, const std::string& name,
                                                  std::uint64_t seed) {
    const auto table = cli::parse_toml(text, name);
    if (!table) return table.error();
    draft made = usual(seed);
    for (const auto& [key, node] : *table) {
        const auto done = read_node(key.str(), node, made);
        if (!done) return cli::at_line(name, node, done.error().message);
    }
    auto recipe = finish(std::move(made));
    if (!recipe) return base::fail("{}: {}", name, recipe.error().message);
    return recipe;
}

expected<population_recipe> read_population(const std::string& words_or_file, std::uint64_t seed) {
    if (words_or_file.find('=') != std::string::npos) return parse_words(words_or_file, seed);
    const auto text = base::read_file(words_or_file);
    if (!text) return text.error();
    return parse_population_file(*text, words_or_file, seed);
}

std::vector<std::uint64_t> population_recipe::messages_of(std::size_t accounts) const {
    std::vector<std::uint64_t> made(accounts, messages);
    if (spread.alike()) return made;
    std::vector<double> weights(accounts);
    for (std::size_t i = 0; i < accounts; ++i)
        weights[i] = std::pow(static_cast<double>(i + 1), -spread.exponent);
    const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
    const double all = static_cast<double>(messages) * static_cast<double>(accounts);
    for (std::size_t i = 0; i < accounts; ++i) {
        const double wanted = std::min(all * weights[i] / sum, 1.0 * most_messages_of_account);
        made[i] = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(std::llround(wanted)));
    }
    return made;
}

// The first number is the version of how messages are made.
std::uint64_t population_recipe::run() const {
    std::string all = fmt::format("1 {} {} {} {} {} {} {}", messages, spread.exponent, plan.zipf,
                                  plan.until.time_since_epoch().count(), plan.span.count(),
                                  plan.threads, plan.median_reply_s);
    all += "|" + bodies.text();
    for (const std::string& one : plan.folders)
        all += "|" + one;
    for (const mail::flag_share& one : plan.flags)
        all += fmt::format("|{} {}", one.flag, one.share);
    std::uint64_t hash = base::mix(plan.seed, sizes.hash(), 0);
    for (const char c : all)
        hash = base::mix(hash, static_cast<unsigned char>(c), 0x7265636970650000U);
    return hash == 0 ? 1 : hash;
}

}  // namespace postal::rabid
