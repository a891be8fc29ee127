// SPDX-License-Identifier: GPL-3.0-or-later
#include "bundle/secrets.hpp"

#include <nlohmann/json.hpp>

#include "base/text.hpp"
#include "stats/foreign_json.hpp"

#include <algorithm>
#include <array>
#include <optional>

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

bool ends_with_api(std::string_view name) {
    return name.size() >= 3 && base::iequals(name.substr(name.size() - 3), "api");
}

std::size_t behind(std::string_view text, std::size_t at, bool (*is)(char)) {
    while (at < text.size() && is(text[at]))
        ++at;
    return at;
}

bool is_room(char c) {
    return base::is_blank(c);
}

bool is_room_or_line_end(char c) {
    return base::is_blank(c) || c == '\r' || c == '\n';
}

// Behind what may stand between two elements of a list; `at` where no comma does.
std::size_t behind_comma(std::string_view text, std::size_t at) {
    bool any = false;
    std::size_t next = at;
    while (next < text.size()) {
        if (text[next] == '#') {
            next = std::min(text.find('\n', next), text.size());
        } else if (text[next] == ',' || is_room_or_line_end(text[next])) {
            any = any || text[next] == ',';
            ++next;
        } else {
            break;
        }
    }
    return any ? next : at;
}

// Behind blanks, and line ends that a shell is told to overlook.
std::size_t behind_room_of_shell(std::string_view text, std::size_t at) {
    while (true) {
        at = behind(text, at, is_room);
        const std::string_view rest = text.substr(at);
        if (!rest.starts_with("\\\n") && !rest.starts_with("\\\r\n")) return at;
        at = text.find('\n', at) + 1;
    }
}

// Where the value of the name that ends at `at` begins; npos: none follows.
std::size_t value_behind(std::string_view text, std::size_t at, bool is_option) {
    const bool is_quoted = at < text.size() && is_quote(text[at]);
    const std::size_t end = is_quoted ? at + 1 : at;
    std::size_t next = behind(text, end, is_room);
    if (next < text.size() && (text[next] == '=' || text[next] == ':'))
        return behind(text, next + 1, is_quoted ? is_room_or_line_end : is_room);
    if (!is_option) return std::string_view::npos;
    // In quotes it is an element of a list, which may go over several lines.
    const auto is_room_or_comma = [](char c) { return is_room(c) || c == ','; };
    next = is_quoted ? behind_comma(text, end) : behind(text, end, is_room_or_comma);
    next = behind_room_of_shell(text, next);
    return next > at && next < text.size() ? next : std::string_view::npos;
}

using span = std::pair<std::size_t, std::size_t>;  // [from, to)

// Where a text that began with this quote ends; its length where it does not. Only double quotes
// know escapes (TOML, JSON).
std::size_t closing(std::string_view text, std::size_t from, std::string_view quote) {
    for (std::size_t at = from; at < text.size(); ++at) {
        if (text.substr(at).starts_with(quote)) return at;
        if (text[at] == '\\' && quote.front() == '"') ++at;
    }
    return text.size();
}

// Behind a key of TOML with dots of which a part ends at `at`, where an equals sign follows; else
// `at`.
std::size_t end_of_key(std::string_view text, std::size_t at) {
    std::size_t end = at < text.size() && is_quote(text[at]) ? at + 1 : at;
    for (bool has_dot = false;; has_dot = true) {
        const std::size_t dot = behind(text, end, is_room);
        if (dot == text.size() || text[dot] != '.')
            return has_dot && text.substr(dot, 1) == "=" ? end : at;
        const std::size_t part = behind(text, dot + 1, is_room);
        const bool is_quoted = part < text.size() && is_quote(text[part]);
        const std::size_t next =
            is_quoted ? std::min(closing(text, part + 1, text.substr(part, 1)) + 1, text.size())
                      : behind(text, part, is_of_name);
        if (next == part) return at;
        end = next;
    }
}

std::string_view quote_at(std::string_view text, std::size_t at) {
    const std::string_view three = text.substr(at, 3);
    return three == R"(""")" || three == "'''" ? three : text.substr(at, 1);
}

// Behind the bracket that closes the one before `from`: those in quotes and comments count for
// nothing.
std::size_t closing_bracket(std::string_view text, std::size_t from) {
    std::size_t open = 1;
    for (std::size_t at = from; at < text.size(); ++at) {
        const char c = text[at];
        if (is_quote(c)) {
            const std::string_view quote = quote_at(text, at);
            at = closing(text, at + quote.size(), quote) + quote.size() - 1;
        } else if (c == '#') {
            at = std::min(text.find('\n', at), text.size());
        } else if (c == '[' || c == '{') {
            ++open;
        } else if ((c == ']' || c == '}') && --open == 0) {
            return at;
        }
    }
    return text.size();
}

// A word as a shell takes it, without what closes something around it.
std::size_t end_of_word(std::string_view text, std::size_t from) {
    constexpr std::string_view around = ",])}";
    std::size_t at = from;
    for (; at < text.size() && !base::is_blank(text[at]) && text[at] != '\r' && text[at] != '\n';
         ++at) {
        if (!is_quote(text[at])) continue;
        const char next = at + 1 < text.size() ? text[at + 1] : ' ';
        if (at > from && (base::is_blank(next) || next == '\r' || next == '\n' ||
                          around.find(next) != around.npos))
            break;
        at = std::min(closing(text, at + 1, text.substr(at, 1)), text.size() - 1);
    }
    while (at > from && around.find(text[at - 1]) != around.npos)
        --at;
    return at;
}

std::size_t end_of_line(std::string_view text, std::size_t from) {
    std::size_t at = std::min(text.find_first_of("\r\n", from), text.size());
    while (at > from && std::string_view(" \t,])}").find(text[at - 1]) != std::string_view::npos)
        --at;
    return at;
}

// Of the value itself, without its quotes. `to_line_end`: where it has none, all of the line.
span value_at(std::string_view text, std::size_t from, bool to_line_end) {
    if (from >= text.size()) return {from, from};
    const char first = text[from];
    if (first == '[' || first == '{') return {from + 1, closing_bracket(text, from + 1)};
    if (is_quote(first)) {
        const std::string_view quote = quote_at(text, from);
        if (quote.size() == 1 && text.substr(from + 1).starts_with(quote)) return {from, from};
        const std::size_t begins = from + quote.size();
        return {begins, closing(text, begins, quote)};
    }
    return {from, to_line_end ? end_of_line(text, from) : end_of_word(text, from)};
}

// "[server.credentials]" on a line of its own: what TOML has below it is there.
std::optional<std::string_view> table_name(std::string_view line) {
    line = base::trim(line.substr(0, line.find('#')));
    while (line.starts_with('[') && line.ends_with(']'))
        line = base::trim(line.substr(1, line.size() - 2));
    const bool is_name = !line.empty() && std::all_of(line.begin(), line.end(), [](char c) {
        return is_of_name(c) || is_quote(c) || c == '.' || base::is_blank(c);
    });
    return is_name ? std::optional(line) : std::nullopt;
}

class cleaner {
  public:
    explicit cleaner(std::string_view text) : text_(text) {}

    cleaned run() {
        while (at_ < text_.size()) {
            if (text_[at_] == '[') look_for_table();
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
    [[nodiscard]] bool begins_line() const {
        std::size_t at = at_;
        while (at > 0 && base::is_blank(text_[at - 1]))
            --at;
        return at == 0 || text_[at - 1] == '\n';
    }
    void look_for_table() {
        if (!begins_line()) return;
        const std::size_t end = std::min(text_.find('\n', at_), text_.size());
        const auto name = table_name(text_.substr(at_, end - at_));
        if (name)
            in_secret_table_ = is_secret_name(name->substr(0, name->find_last_not_of("\"' ") + 1));
    }
    void take_name() {
        const bool first = begins_line();
        const std::size_t begin = at_;
        std::size_t end = behind(text_, at_, is_of_name);
        if (ends_with_api(text_.substr(begin, end - begin)) && text_.substr(end, 1) == " " &&
            base::iequals(text_.substr(end + 1, 3), "key"))
            end = behind(text_, end + 1, is_of_name);
        end = end_of_key(text_, end);
        const std::string_view name = text_.substr(begin, end - begin);
        const bool is_secret = in_secret_table_ || is_secret_name(name);
        const bool is_option = name.starts_with('-');
        keep_until(end);
        const std::size_t value = is_secret ? value_behind(text_, end, is_option) : text_.npos;
        if (value == text_.npos) return;
        // "--password=two words" between quotes, as one element of a list.
        if (begin > 0 && is_quote(text_[begin - 1]) && end < value && text_[end] == '=')
            return leave_out(end + 1, closing(text_, end + 1, text_.substr(begin - 1, 1)));
        const auto [from, to] = value_at(text_, value, first && !is_option);
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
        // It has a space, where an authority ends.
        const std::size_t begins = host + user + 1;
        if (user != authority.npos && text_.substr(begins).starts_with(in_its_place))
            return keep_until(begins + in_its_place.size());
        if (user == authority.npos || password == authority.npos || password < user) return;
        leave_out(begins, host + password);
    }

    std::string_view text_;
    std::size_t at_ = 0;
    bool in_secret_table_ = false;
    cleaned made_;
};

std::size_t clean(stats::json& one);

// What is under a secret's name, however deep. Neither true nor null is a secret.
void replace(stats::json& value, std::size_t& removed) {
    if (value.is_structured()) {
        for (stats::json& one : value)
            replace(one, removed);
        return;
    }
    const bool is_text = value.is_string();
    if (is_text && (value.get_ref<const std::string&>() == in_its_place ||
                    value.get_ref<const std::string&>().empty()))
        return;
    if (!is_text && !value.is_number()) return;
    value = in_its_place;
    ++removed;
}

// A word "--password=..." or "password=...": all behind the sign is the value.
bool replace_in_word(std::string& word, std::size_t& removed) {
    const std::size_t end = behind(word, 0, is_of_name);
    if (end >= word.size() || !is_secret_name(std::string_view(word).substr(0, end))) return false;
    const bool is_value = word[end] == '=' || (word[end] == ' ' && word.starts_with('-'));
    if (!is_value) return false;
    if (end + 1 == word.size() || std::string_view(word).substr(end + 1) == in_its_place)
        return true;
    word.replace(end + 1, std::string::npos, in_its_place);
    ++removed;
    return true;
}

// A word that is an option, and the word behind it.
std::size_t clean_list(stats::json& list) {
    std::size_t removed = 0;
    bool value_follows = false;
    for (stats::json& one : list) {
        if (value_follows) replace(one, removed);
        value_follows = false;
        if (one.is_string()) {
            auto& word = one.get_ref<std::string&>();
            if (replace_in_word(word, removed)) continue;
            value_follows = word.starts_with('-') && behind(word, 0, is_of_name) == word.size() &&
                            is_secret_name(word);
        }
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
    constexpr std::array<std::string_view, 10> words{
        "password",   "passwd", "passphrase", "secret",  "token",
        "credential", "apikey", "api_key",    "api-key", "api key"};
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
