// SPDX-License-Identifier: GPL-3.0-or-later
#include "postal-list/conversions.hpp"

#include <utility>

#include "base/read_file.hpp"
#include "base/text.hpp"

namespace postal::list {
namespace {

using base::expected;

std::string regex_message(int error, const regex_t& compiled) {
    char text[200];
    ::regerror(error, &compiled, text, sizeof text);
    return text;
}

expected<std::vector<std::optional<alternatives>>> parse_replacement(std::string_view text) {
    std::vector<std::optional<alternatives>> places;
    for (std::size_t at = 0; at < text.size(); ++at) {
        if (text[at] == '.') {
            places.emplace_back();
            continue;
        }
        const std::size_t close = text.find(']', at);
        if (text[at] != '[' || close == std::string_view::npos) {
            return base::fail(
                "column {} of the replacement \"{}\" is neither a dot nor [set]; write one such as "
                ".[0-9abc][xyz]",
                at + 1, base::printable(text, 80));
        }
        auto set = parse_octets(text.substr(at + 1, close - at - 1), at + 2);
        if (!set) {
            return base::at(fmt::format("replacement \"{}\"", base::printable(text, 80)),
                            set.error());
        }
        places.emplace_back(std::move(*set));
        at = close;
    }
    return places;
}

}  // namespace

void conversions::freed::operator()(regex_t* compiled) const noexcept {
    ::regfree(compiled);
    delete compiled;
}

expected<conversions> conversions::load(const std::string& path) {
    const auto text = base::read_file(path);
    if (!text) return text.error();
    return parse(*text, path);
}

expected<conversions> conversions::parse(std::string_view text, std::string_view name) {
    conversions made;
    std::size_t number = 0;
    for (const std::string_view each : base::split(text, '\n')) {
        const std::string_view line = base::trim(each);
        ++number;
        if (line.empty() || line.front() == '#') continue;
        const std::string where = fmt::format("{}:{}", name, number);
        auto one = parse_line(line);
        if (!one) return base::at(where, one.error());
        one->where = where;
        made.all_.push_back(std::move(*one));
    }
    if (made.all_.empty()) {
        return base::fail(
            "{}: no conversion in it; want lines of a regular expression and a replacement, such "
            "as \"^a .[0-9]\"",
            name);
    }
    return made;
}

expected<conversions::conversion> conversions::parse_line(std::string_view line) {
    const auto words = base::fields(line);
    if (words.size() != 2) {
        return base::fail(
            "{} {}, want a regular expression and a replacement, such as \"^a .[0-9]\"",
            words.size(), words.size() == 1 ? "word" : "words");
    }
    const std::string expression(words[0]);
    conversion made;
    auto compiled = std::make_unique<regex_t>();
    const int error = ::regcomp(compiled.get(), expression.c_str(), REG_NOSUB);
    if (error != 0) {
        return base::fail("\"{}\" is no basic regular expression: {}",
                          base::printable(expression, 80), regex_message(error, *compiled));
    }
    made.found.reset(compiled.release());
    auto places = parse_replacement(words[1]);
    if (!places) return places.error();
    made.places = std::move(*places);
    return made;
}

expected<std::optional<address_pattern>> conversions::expand(const std::string& address) const {
    for (const conversion& one : all_) {
        if (::regexec(one.found.get(), address.c_str(), 0, nullptr, 0) != 0) continue;
        if (one.places.size() > address.size()) {
            return base::fail(
                "\"{}\" has {} octets, and the replacement at {} is for {}; write a shorter one",
                base::printable(address, 80), address.size(), one.where, one.places.size());
        }
        address_pattern made;
        for (std::size_t at = 0; at < address.size(); ++at) {
            if (at < one.places.size() && one.places[at]) {
                made.add(*one.places[at]);
            } else {
                made.add(address[at]);
            }
        }
        if (!made.size()) {
            return base::fail("\"{}\" stands for more than 2^64 addresses by {}",
                              base::printable(address, 80), one.where);
        }
        return std::optional(std::move(made));
    }
    return std::optional<address_pattern>();
}

}  // namespace postal::list
