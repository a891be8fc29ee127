// SPDX-License-Identifier: GPL-3.0-or-later
// See exit_statuses.hpp. The defaults for 64, 65, 69, 70, 71, 74 and 78 are what pipe(8) of Postfix
// 3.7.11 did with an agent that ended so: only 71 was deferred, as 75 is.
#include "lmtp-deliver/exit_statuses.hpp"

#include "base/read_file.hpp"
#include "base/text.hpp"
#include "lmtp-deliver/text_tables.hpp"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <utility>

namespace postal::lmtp_deliver {
namespace {

constexpr std::size_t most_text = 200;
constexpr std::string_view delivered = "Delivered";

struct default_row {
    std::uint8_t status;
    std::uint16_t code;
    std::string_view enhanced;
};

constexpr default_row defaults[]{
    {0, 250, "2.1.5"},  {64, 554, "5.3.0"}, {65, 554, "5.6.0"}, {67, 550, "5.1.1"},
    {69, 554, "5.3.0"}, {70, 554, "5.3.0"}, {71, 451, "4.3.0"}, {73, 550, "5.2.0"},
    {74, 554, "5.3.0"}, {75, 451, "4.3.0"}, {77, 550, "5.7.0"}, {78, 554, "5.3.5"},
};

// 64 and up.
constexpr std::string_view meanings[]{
    "command line usage error", "data format error",
    "cannot open input",        "user unknown",
    "host name unknown",        "service unavailable",
    "internal software error",  "system resource problem",
    "system file missing",      "cannot create output file",
    "input/output error",       "temporary failure",
    "remote error in protocol", "permission denied",
    "configuration error",
};
constexpr int first_meaning = 64;

constexpr std::string_view wanted_form =
    "want CODE ENHANCED [TEXT], such as \"451 4.3.0 Try again\" or \"550 5.1.1\"";

bool is_printable_octet(char c) noexcept {
    return c >= ' ' && c <= '~';
}

// "5.1.1": a digit, and twice one to three.
bool is_enhanced_code(std::string_view text) {
    const auto pieces = base::split(text, '.');
    return pieces.size() == 3 && pieces[0].size() == 1 &&
           std::all_of(pieces.begin(), pieces.end(), [](std::string_view piece) {
               return !piece.empty() && piece.size() <= 3 &&
                      std::all_of(piece.begin(), piece.end(), base::is_digit);
           });
}

base::expected<std::uint16_t> parse_code(std::string_view text) {
    std::uint16_t code = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), code);
    if (text.size() != 3 || read.ptr != text.data() + text.size()) {
        return base::fail("\"{}\" is no reply code; {}", base::printable(text, 40), wanted_form);
    }
    if (code < 200 || code > 599 || code / 100 == 3) {
        return base::fail("{} is no code for a delivery; 2xx, 4xx and 5xx are", code);
    }
    return code;
}

base::expected<delivery_reply> parse_delivery_reply(std::string_view value) {
    const std::string_view first = value.substr(0, value.find(' '));
    const auto code = parse_code(first);
    if (!code) return code.error();
    const std::string_view rest = base::trim(value.substr(first.size()));
    const std::string_view enhanced = rest.substr(0, rest.find(' '));
    if (!is_enhanced_code(enhanced)) {
        return base::fail("\"{}\" is no enhanced status code; {}", base::printable(enhanced, 40),
                          wanted_form);
    }
    if (enhanced.front() != first.front()) {
        return base::fail("{} and {} are of different classes; both begin with the same digit",
                          *code, enhanced);
    }
    const std::string_view text = base::trim(rest.substr(enhanced.size()));
    if (text.size() > most_text || !std::all_of(text.begin(), text.end(), is_printable_octet)) {
        return base::fail("the text is not printable ASCII of at most {} octets", most_text);
    }
    return delivery_reply{*code, std::string(enhanced), std::string(text)};
}

// 0 to 255 as it is usually written; nothing for other keys.
std::optional<std::size_t> parse_status(std::string_view key) {
    std::size_t status = 0;
    const auto read = std::from_chars(key.data(), key.data() + key.size(), status);
    const bool plain = key.size() <= 3 && read.ec == std::errc() &&
                       read.ptr == key.data() + key.size() && (key == "0" || key.front() != '0');
    return plain && status <= 255 ? std::optional(status) : std::nullopt;
}

std::string sentence(const agent_end& end, const delivery_reply& rule) {
    switch (end.fate) {
        case agent_fate::signalled:
            return fmt::format("Agent was ended by signal {}", end.number);
        case agent_fate::timed_out:
            return "Agent took too long";
        case agent_fate::not_started:
            if (end.number == 0) return "Agent could not be started";
            return "Agent could not be started: " + base::system_message(end.number);
        case agent_fate::exited:
            break;
    }
    if (rule.code < 300) return std::string(delivered);
    const std::string_view meaning = sysexits_meaning(end.number);
    return meaning.empty() ? fmt::format("Agent ended with status {}", end.number)
                           : fmt::format("Agent ended with status {} ({})", end.number, meaning);
}

}  // namespace

exit_statuses::exit_statuses() {
    others_.fill({451, "4.3.0", {}});
    others_[static_cast<std::size_t>(agent_fate::exited)] = {554, "5.3.0", {}};
    for (const default_row& row : defaults)
        numbered_[row.status] = delivery_reply{row.code, std::string(row.enhanced), {}};
}

base::expected<exit_statuses> exit_statuses::load(const std::string& path) {
    const auto text = base::read_file(path);
    if (!text) return text.error();
    return parse(*text, path);
}

base::expected<exit_statuses> exit_statuses::parse(std::string_view text, const std::string& name) {
    const auto entries = parse_text_tables(text, name);
    if (!entries) return entries.error();
    exit_statuses made;
    for (const text_entry& each : *entries) {
        const std::string where = fmt::format("{}:{}", name, each.line);
        if (each.table != "exit") {
            return base::fail("{}: table [{}] is unknown; the only one is [exit]", where,
                              base::printable(each.table, 40));
        }
        if (each.key.empty() && each.value.empty()) continue;  // an empty table
        const auto set = made.set(each.key, each.value);
        if (!set) return base::at(where, set.error());
    }
    return made;
}

base::expected<void> exit_statuses::set(std::string_view key, std::string_view value) {
    struct named {
        std::string_view key;
        agent_fate fate;
    };
    static constexpr named names[]{{"signal", agent_fate::signalled},
                                   {"timeout", agent_fate::timed_out},
                                   {"not started", agent_fate::not_started},
                                   {"other", agent_fate::exited}};
    const auto status = parse_status(key);
    const auto* const name = std::find_if(std::begin(names), std::end(names),
                                          [&](const named& each) { return each.key == key; });
    if (!status && name == std::end(names)) {
        return base::fail(
            "\"{}\" is no end of an agent; want a status from 0 to 255, signal, timeout, "
            "\"not started\" or other",
            base::printable(key, 40));
    }
    auto rule = parse_delivery_reply(value);
    if (!rule) return base::at(base::printable(key, 40), rule.error());
    if (status) {
        numbered_[*status] = std::move(*rule);
        return {};
    }
    if (rule->code < 300) {
        return base::fail("{}: {} would call a delivery done that nobody knows of; want 4xx or 5xx",
                          key, rule->code);
    }
    others_[static_cast<std::size_t>(name->fate)] = std::move(*rule);
    return {};
}

const delivery_reply& exit_statuses::rule_of(const agent_end& end) const noexcept {
    const auto status = static_cast<std::size_t>(end.number);
    const bool numbered = end.fate == agent_fate::exited && status < numbered_.size();
    if (numbered && numbered_[status]) return *numbered_[status];
    return others_[static_cast<std::size_t>(end.fate)];
}

delivery_reply exit_statuses::judge(const agent_end& end, std::string_view output) const {
    delivery_reply made = rule_of(end);
    if (made.text.empty()) made.text = sentence(end, made);
    const std::string line = first_line(output);
    if (!line.empty()) made.text.append(": ").append(line);
    return made;
}

std::string_view sysexits_meaning(int status) noexcept {
    const int index = status - first_meaning;
    return index >= 0 && index < std::ssize(meanings) ? meanings[index] : std::string_view();
}

std::string first_line(std::string_view output) {
    output = base::trim(output);
    std::string line(output.substr(0, output.find_first_of("\r\n")).substr(0, most_text));
    for (char& c : line) {
        if (!is_printable_octet(c)) c = c == '\t' ? ' ' : '?';
    }
    return std::string(base::trim(line));
}

}  // namespace postal::lmtp_deliver
