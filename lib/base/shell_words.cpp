// SPDX-License-Identifier: GPL-3.0-or-later
// See shell_words.hpp. One pass; what a shell would do with an octet, and where, is a table.
#include "base/shell_words.hpp"

#include "base/text.hpp"

#include <cstdint>
#include <utility>

namespace postal::base {
namespace {

// Where an octet is more than itself to a shell.
enum special_place : std::uint8_t {
    unquoted = 1,
    in_double_quotes = 2,
    word_start = 4,
    behind_assignment = 8,  // right behind = or :, where bash expands ~ too
    program_start = 16
};

struct special {
    char octet;
    std::uint8_t places;
    std::string_view meaning;
};

constexpr special specials[]{
    {'$', unquoted | in_double_quotes, "a variable or a substitution"},
    {'`', unquoted | in_double_quotes, "a command substitution"},
    {'|', unquoted, "a pipe"},
    {'&', unquoted, "a command in the background"},
    {';', unquoted, "the end of a command"},
    {'<', unquoted, "a redirection"},
    {'>', unquoted, "a redirection"},
    {'(', unquoted, "a subshell"},
    {')', unquoted, "a subshell"},
    {'*', unquoted, "a pattern for file names"},
    {'?', unquoted, "a pattern for file names"},
    {'[', unquoted, "a pattern for file names"},
    {'{', unquoted, "a list in braces"},
    {'~', word_start | behind_assignment, "a home directory"},
    {'#', word_start, "a comment"},
    {'!', program_start, "a negation"},
};

bool is_control(char c) noexcept {
    return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
}

class splitter {
  public:
    explicit splitter(std::string_view text) noexcept : text_(text) {}

    expected<std::vector<shell_word>> run() {
        while (at_ < text_.size()) {
            const auto read = step();
            if (!read) return read.error();
        }
        return std::move(words_);
    }

  private:
    expected<void> step() {
        const char c = text_[at_];
        if (is_blank(c)) {
            in_word_ = false;
            ++at_;
            return {};
        }
        const auto plain = refuse_special(places_here());
        if (!plain) return plain;
        begin_word();
        if (c == '\'') return single_quoted();
        if (c == '"') return double_quoted();
        if (c == '\\') return escaped();
        take();
        return {};
    }

    expected<void> single_quoted() {
        const std::size_t open = at_++;
        while (at_ < text_.size() && text_[at_] != '\'')
            take();
        return close(open, "single", '\'');
    }

    expected<void> double_quoted() {
        constexpr std::string_view escapable = "\"\\$`";
        const std::size_t open = at_++;
        while (at_ < text_.size() && text_[at_] != '"') {
            const bool pair = text_[at_] == '\\' && at_ + 1 < text_.size() &&
                              escapable.find(text_[at_ + 1]) != std::string_view::npos;
            if (pair) {
                ++at_;
            } else {
                const auto plain = refuse_special(in_double_quotes);
                if (!plain) return plain;
            }
            take();
        }
        return close(open, "double", '"');
    }

    expected<void> close(std::size_t open, std::string_view kind, char quote) {
        if (at_ == text_.size()) {
            return fail("column {}: this {} quote is never closed; end it with {}", open + 1, kind,
                        quote);
        }
        ++at_;
        return {};
    }

    expected<void> escaped() {
        if (at_ + 1 == text_.size()) {
            return fail(
                "column {}: a backslash with nothing behind it; double it for one that is meant",
                at_ + 1);
        }
        ++at_;
        take();
        return {};
    }

    std::uint8_t places_here() const noexcept {
        unsigned places = unquoted;
        if (!in_word_) places |= word_start;
        if (!in_word_ && words_.empty()) places |= program_start;
        if (in_word_ && (text_[at_ - 1] == '=' || text_[at_ - 1] == ':')) {
            places |= behind_assignment;
        }
        return static_cast<std::uint8_t>(places);
    }

    expected<void> refuse_special(std::uint8_t places) const {
        for (const special& each : specials) {
            if (each.octet != text_[at_] || (each.places & places) == 0) continue;
            return fail(
                "column {}: {} is {} to a shell, but no shell runs here; put it in single quotes "
                "if the program is to see it",
                at_ + 1, each.octet, each.meaning);
        }
        return {};
    }

    void begin_word() {
        if (!in_word_) words_.emplace_back();
        in_word_ = true;
    }

    void take() {
        words_.back().push_back({text_[at_], at_ + 1});
        ++at_;
    }

    std::string_view text_;
    std::size_t at_ = 0;
    std::vector<shell_word> words_;
    bool in_word_ = false;
};

bool is_variable_octet(char c) noexcept {
    const char lower = ascii_lower(c);
    return (lower >= 'a' && lower <= 'z') || is_digit(c) || c == '_';
}

expected<void> refuse_control_characters(std::string_view text) {
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (!is_control(text[i]) || text[i] == '\t') continue;
        return fail("column {}: control character 0x{:02x}; a command is one line of text", i + 1,
                    static_cast<unsigned>(static_cast<unsigned char>(text[i])));
    }
    return {};
}

// NAME=VALUE in front of a command, which a shell would put into its environment.
expected<void> refuse_assignment(std::string_view text) {
    const std::size_t start = text.find_first_not_of(" \t");
    if (start == std::string_view::npos || is_digit(text[start])) return {};
    std::size_t end = start;
    while (end < text.size() && is_variable_octet(text[end]))
        ++end;
    if (end == start || end == text.size() || text[end] != '=') return {};
    return fail(
        "column {}: {}= would set a variable in a shell, but no shell runs here; begin with the "
        "program, or with env(1)",
        start + 1, printable(text.substr(start, end - start), 40));
}

}  // namespace

expected<std::vector<shell_word>> split_as_shell(std::string_view line) {
    const auto clean = refuse_control_characters(line);
    if (!clean) return clean.error();
    const auto plain = refuse_assignment(line);
    if (!plain) return plain.error();
    return splitter(line).run();
}

expected<std::vector<std::string>> split_command(std::string_view line) {
    const auto split = split_as_shell(line);
    if (!split) return split.error();
    std::vector<std::string> words;
    for (const shell_word& each : *split) {
        std::string& word = words.emplace_back();
        for (const shell_octet& one : each)
            word += one.value;
    }
    if (words.empty() || words.front().empty())
        return fail("column 1: there is no program; give its name and its arguments");
    return words;
}

}  // namespace postal::base
