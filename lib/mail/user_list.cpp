// SPDX-License-Identifier: GPL-3.0-or-later
// See user_list.hpp.
#include "mail/user_list.hpp"

#include "base/read_file.hpp"
#include "base/text.hpp"

#include <unistd.h>

#include <unordered_map>

namespace postal::mail {
namespace {

// RFC 5321 4.5.3.1.4: a command line has 512 octets; "MAIL FROM:<" ">" and CRLF take 14 of them.
constexpr std::size_t most_user_octets = 498;
constexpr std::string_view behaviours = "drbg";
constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";  // editors on Windows write one

bool is_control(char c) noexcept {
    return static_cast<unsigned char>(c) < 32 || c == 127;
}

// The "@" between local part and domain: the last one outside a quoted string; npos when there is
// none. A second one outside quotes is reported through `twice`.
std::size_t at_sign(std::string_view address, bool& twice) noexcept {
    std::size_t found = std::string_view::npos;
    bool quoted = false;
    for (std::size_t i = 0; i < address.size(); ++i) {
        if (address[i] == '\\' && quoted) {
            ++i;
        } else if (address[i] == '"') {
            quoted = !quoted;
        } else if (address[i] == '@' && !quoted) {
            twice = found != std::string_view::npos;
            found = i;
            if (twice) return found;
        }
    }
    return found;
}

// The first comma, semicolon or colon that is neither quoted nor in an address literal, where none
// may stand (RFC 5321 4.1.2): what other programs write between columns. npos when there is none.
std::size_t other_separator(std::string_view address) noexcept {
    bool quoted = false;
    bool literal = false;
    for (std::size_t i = 0; i < address.size(); ++i) {
        const char c = address[i];
        if (c == '\\' && quoted) {
            ++i;
        } else if (c == '"') {
            quoted = !quoted;
        } else if (!quoted) {
            literal = c == '[' || (literal && c != ']');
            if (!literal && (c == ',' || c == ';' || c == ':')) return i;
        }
    }
    return std::string_view::npos;
}

// As mail programs show people, "Name <address>"; the address is no password.
bool is_named(const std::vector<std::string_view>& columns) {
    return columns.size() > 1 && columns.back().front() == '<' && columns.back().back() == '>' &&
           columns.back().find('@') != std::string_view::npos;
}

// Words that are no user with a behaviour. The second column, which may be a password, is shown
// nowhere.
bool is_prose(const std::vector<std::string_view>& columns) {
    return columns.size() > 2 && columns[0].find('@') == std::string_view::npos &&
           columns[2].find_first_not_of(behaviours) != std::string_view::npos;
}

base::expected<user> parse_line(std::string_view line) {
    for (const char c : line) {
        if (is_control(c) && c != '\t') {
            return base::fail("control character 0x{:02x}", static_cast<unsigned char>(c));
        }
    }
    const auto columns = base::fields(line);
    if (is_named(columns)) {
        return base::fail("\"{}\" is a name; write the address alone, without name and brackets",
                          base::printable(columns[0], 80));
    }
    if (is_prose(columns)) {
        return base::fail("\"{}\" is not an address: it has no @ (and \"{}\" is no behaviour)",
                          base::printable(columns[0], 80), base::printable(columns[2], 40));
    }
    if (columns.size() > 3) {
        return base::fail("{} fields, want address, password and behaviour at most",
                          columns.size());
    }
    const auto address = check_address(columns[0]);
    if (!address) return address.error();

    user found;
    found.address = columns[0];
    if (columns.size() > 1 && columns[1] != "-") found.password = columns[1];
    if (columns.size() > 2) {
        const std::size_t wrong = columns[2].find_first_not_of(behaviours);
        if (wrong != std::string_view::npos) {
            return base::fail("behaviour \"{}\" has other letters than d, r, b, g",
                              base::printable(columns[2], 40));
        }
        found.behaviour = columns[2];
    }
    return found;
}

}  // namespace

base::expected<bool> check_address(std::string_view address) {
    if (address.empty()) return base::fail("an empty address");
    if (const std::size_t end = other_separator(address); end != std::string_view::npos) {
        // What follows may be a password.
        return base::fail(
            "address \"{}\" is followed by \"{}\", which it may only have quoted; blanks separate "
            "columns",
            base::printable(address.substr(0, end), 80), address[end]);
    }
    const std::string shown = base::printable(address, 80);
    if (address.size() > most_user_octets) {
        return base::fail("address \"{}\" has {} octets, a command line holds {}", shown,
                          address.size(), most_user_octets);
    }
    bool ascii = true;
    for (const char c : address) {
        if (is_control(c)) return base::fail("address \"{}\" has a control character", shown);
        if (c == ' ') return base::fail("address \"{}\" has a blank", shown);
        if (c == '<' || c == '>') {
            return base::fail("address \"{}\" has an angle bracket; write it without", shown);
        }
        ascii = ascii && static_cast<unsigned char>(c) < 128;
    }
    if (!ascii && !base::is_valid_utf8(address)) {
        return base::fail("address \"{}\" is not valid UTF-8", shown);
    }
    bool twice = false;
    const std::size_t at = at_sign(address, twice);
    if (twice) return base::fail("address \"{}\" has more than one @", shown);
    if (at == 0) return base::fail("address \"{}\" has nothing before the @", shown);
    if (at == address.size() - 1)
        return base::fail("address \"{}\" has no domain behind the @", shown);
    return ascii;
}

base::expected<std::vector<user>> parse_users(std::string_view text, std::string_view name) {
    std::vector<user> users;
    std::size_t number = 0;
    if (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
    while (!text.empty()) {
        const std::size_t end = text.find('\n');
        std::string_view line = text.substr(0, end);
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
        ++number;
        if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
        const std::size_t start = line.find_first_not_of(" \t");
        if (start == std::string_view::npos || line[start] == '#') continue;
        auto found = parse_line(line);
        if (!found) return base::at(fmt::format("{}:{}", name, number), found.error());
        found->line = number;
        users.push_back(std::move(*found));
    }
    if (users.empty()) return base::fail("{}: no user in it; want one address a line", name);
    return users;
}

std::pair<const user*, const user*> same_mailbox(const std::vector<user>& users) {
    std::unordered_map<std::string, const user*> seen;
    seen.reserve(users.size());
    for (const user& one : users) {
        const auto [there, is_new] = seen.try_emplace(base::lower(one.address), &one);
        if (!is_new) return {there->second, &one};
    }
    return {};
}

base::expected<std::vector<user>> load_users(const std::string& path) {
    const bool piped = path == standard_input;
    const std::string name = list_name(path);
    const auto text = piped ? base::read_descriptor(STDIN_FILENO, name) : base::read_file(path);
    if (!text) return text.error();
    return parse_users(*text, name);
}

}  // namespace postal::mail
