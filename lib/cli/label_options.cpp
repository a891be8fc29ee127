// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli/label_options.hpp"

#include "base/text.hpp"

#include <algorithm>

namespace postal::cli {

namespace {

constexpr std::size_t most_title = 200;
constexpr std::size_t most_note = 1000;
constexpr std::size_t most_tags = 32;
constexpr std::size_t most_key = 64;
constexpr std::size_t most_value = 200;

base::expected<void> check_text(std::string_view text, std::size_t most) {
    if (text.empty()) return base::fail("is empty; give a text");
    if (text.size() > most) return base::fail("{} octets; give at most {}", text.size(), most);
    if (!base::is_valid_utf8(text)) return base::fail("is not UTF-8");
    const bool control = std::any_of(text.begin(), text.end(), [](char c) {
        return static_cast<unsigned char>(c) < ' ' || c == 127;
    });
    if (control)
        return base::fail("\"{}\" has a control character; give one line of text",
                          base::printable(text, 80));
    return {};
}

bool is_key(std::string_view text) {
    const auto fits = [](char c) {
        const char lower = base::ascii_lower(c);
        return (lower >= 'a' && lower <= 'z') || base::is_digit(c) || c == '_';
    };
    return !text.empty() && text.size() <= most_key && !base::is_digit(text.front()) &&
           std::all_of(text.begin(), text.end(), fits);
}

setter text_of(std::string& target, std::size_t most) {
    return [&target, most](const std::string& given) -> base::expected<void> {
        if (auto fits = check_text(given, most); !fits) return fits;
        target = given;
        return {};
    };
}

base::expected<void> add_tag(stats::run_labels& to, const std::string& given) {
    const std::size_t equals = given.find('=');
    const std::string key = given.substr(0, equals);
    if (equals == std::string::npos || !is_key(key))
        return base::fail(
            "\"{}\": want KEY=VALUE, with a key of letters, digits and underscores that does not "
            "begin with a digit",
            base::printable(given, 80));
    const std::string value = given.substr(equals + 1);
    if (auto fits = check_text(value, most_value); !fits) return base::at(key, fits.error());
    const bool twice = std::any_of(to.tags.begin(), to.tags.end(),
                                   [&](const auto& one) { return one.first == key; });
    if (twice) return base::fail("{} is given twice; leave one of the two out", key);
    if (to.tags.size() == most_tags) return base::fail("give at most {}", most_tags);
    to.tags.emplace_back(key, value);
    return {};
}

}  // namespace

std::vector<option> label_rows(stats::run_labels& labels) {
    return {
        {"--title", "TEXT", "", "what the run is called in its record and reports",
         text_of(labels.title, most_title)},
        {"--note", "TEXT", "", "what there is to say about it", text_of(labels.note, most_note)},
        {"--tag", "KEY=VALUE", "", "what tells it apart, for scripts and Prometheus",
         [&labels](const std::string& given) { return add_tag(labels, given); }, true}};
}

}  // namespace postal::cli
