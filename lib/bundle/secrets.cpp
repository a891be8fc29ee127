// SPDX-License-Identifier: GPL-3.0-or-later
#include "bundle/secrets.hpp"

#include "base/text.hpp"
#include "stats/foreign_json.hpp"

#include <algorithm>
#include <array>

namespace postal::bundle {
namespace {

constexpr std::string_view in_its_place = "(left out)";

bool is_of_name(char c) {
    const char lower = base::ascii_lower(c);
    return (lower >= 'a' && lower <= 'z') || base::is_digit(c) || c == '_' || c == '-';
}

bool is_quote(char c) {
    return c == '"' || c == '\'';
}

std::size_t behind(std::string_view text, std::size_t at, bool (*is)(char)) {
    while (at < text.size() && is(text[at]))
        ++at;
    return at;
}

// Where the value of the name that ends at `at` begins; npos: none follows.
std::size_t value_behind(std::string_view text, std::size_t at, bool is_option) {
    const auto is_room = [](char c) { return base::is_blank(c); };
    std::size_t next = at < text.size() && is_quote(text[at]) ? at + 1 : at;  // of the name
    next = behind(text, next, is_room);
    if (next < text.size() && (text[next] == '=' || text[next] == ':'))
        return behind(text, next + 1, is_room);
    const bool next_word = next < text.size() && (next > at || text[next] == ',');
    if (!is_option || !next_word) return std::string_view::npos;
    return behind(text, next, [](char c) { return base::is_blank(c) || c == ','; });
}

// [from, to) of the value itself, without its quotes.
std::pair<std::size_t, std::size_t> value_at(std::string_view text, std::size_t from) {
    if (from >= text.size()) return {from, from};
    const char first = text[from];
    if (is_quote(first) || first == '[') {
        const std::size_t to = text.find(first == '[' ? ']' : first, from + 1);
        return {from + 1, to == text.npos ? text.size() : to};
    }
    const std::size_t to = text.find_first_of(" \t\r\n,\"'])}", from);
    return {from, to == text.npos ? text.size() : to};
}

class cleaner {
  public:
    explicit cleaner(std::string_view text) : text_(text) {}

    cleaned run() {
        while (at_ < text_.size()) {
            if (text_.substr(at_).starts_with("://")) {
                take_url();
            } else if (is_of_name(text_[at_])) {
                take_name();
            } else {
                keep_until(at_ + 1);
            }
        }
        return std::move(made_);
    }

  private:
    void keep_until(std::size_t to) {
        made_.text += text_.substr(at_, to - at_);
        at_ = to;
    }
    void leave_out(std::size_t from, std::size_t to) {
        if (text_.substr(from).starts_with(in_its_place))
            return keep_until(from + in_its_place.size());
        if (from >= to) return keep_until(to);
        keep_until(from);
        made_.text += in_its_place;
        ++made_.removed;
        at_ = to;
    }
    void take_name() {
        const std::size_t end = behind(text_, at_, is_of_name);
        const std::string_view name = text_.substr(at_, end - at_);
        const bool is_secret = is_secret_name(name);
        const bool is_option = name.starts_with('-');
        keep_until(end);
        const std::size_t value = is_secret ? value_behind(text_, end, is_option) : text_.npos;
        if (value == text_.npos) return;
        const auto [from, to] = value_at(text_, value);
        leave_out(from, to);
    }
    // scheme://user:password@host
    void take_url() {
        const std::size_t host = at_ + 3;
        const std::size_t end = std::min(text_.find_first_of("/ \t\r\n\"'", host), text_.size());
        const std::string_view authority = text_.substr(host, end - host);
        const std::size_t user = authority.find(':');
        const std::size_t password = authority.rfind('@');
        keep_until(host);
        if (user == authority.npos || password == authority.npos || password < user) return;
        leave_out(host + user + 1, host + password);
    }

    std::string_view text_;
    std::size_t at_ = 0;
    cleaned made_;
};

std::size_t clean(stats::json& one);

void replace(stats::json& text, std::size_t& removed) {
    if (!text.is_string() || text.get_ref<const std::string&>() == in_its_place ||
        text.get_ref<const std::string&>().empty())
        return;
    text = in_its_place;
    ++removed;
}

// A word that is an option, and the word behind it.
std::size_t clean_list(stats::json& list) {
    std::size_t removed = 0;
    bool value_follows = false;
    for (stats::json& one : list) {
        if (value_follows) replace(one, removed);
        value_follows = one.is_string() && one.get_ref<const std::string&>().starts_with('-') &&
                        is_secret_name(one.get_ref<const std::string&>());
        removed += clean(one);
    }
    return removed;
}

std::size_t clean(stats::json& one) {
    std::size_t removed = 0;
    if (one.is_array()) return clean_list(one);
    if (one.is_object()) {
        for (auto& [name, value] : one.get_ref<stats::json::object_t&>()) {
            if (is_secret_name(name)) replace(value, removed);
            removed += clean(value);
        }
    } else if (one.is_string()) {
        cleaned made = without_secrets(one.get_ref<const std::string&>());
        if (made.removed > 0) one = std::move(made.text);
        removed += made.removed;
    }
    return removed;
}

}  // namespace

bool is_secret_name(std::string_view name) noexcept {
    constexpr std::array<std::string_view, 9> words{"password", "passwd",  "passphrase",
                                                    "secret",   "token",   "credential",
                                                    "apikey",   "api_key", "api-key"};
    constexpr std::array<std::string_view, 4> places{"file", "path", "command", "scheme"};
    const auto ends = [&](std::string_view with) {
        return name.size() >= with.size() &&
               base::iequals(name.substr(name.size() - with.size()), with);
    };
    if (std::any_of(places.begin(), places.end(), ends)) return false;
    const auto has = [&](std::string_view word) {
        for (std::size_t at = 0; at + word.size() <= name.size(); ++at)
            if (base::iequals(name.substr(at, word.size()), word)) return true;
        return false;
    };
    // Dovecot's, which says that there is none.
    if (has("nopassword")) return false;
    return name.size() <= 200 && std::any_of(words.begin(), words.end(), has);
}

cleaned without_secrets(std::string_view text) {
    return cleaner(text).run();
}

base::expected<cleaned> json_without_secrets(std::string_view document) {
    auto parsed = stats::parse_foreign(document);
    if (!parsed) return parsed.error();
    const std::size_t removed = clean(*parsed);
    return cleaned{removed > 0 ? parsed->dump(1) + "\n" : std::string(document), removed};
}

}  // namespace postal::bundle
