// SPDX-License-Identifier: GPL-3.0-or-later
#include "words_sent.hpp"

#include <algorithm>
#include <charconv>

namespace simulation {

namespace {

// How much of what stands there is a message, with what ends it; 0: it has not come to its end.
std::size_t chunk_end(std::string_view line, std::string_view behind) {
    std::size_t octets = 0;
    std::from_chars(line.data() + 5, line.data() + line.size(), octets);
    return octets <= behind.size() ? octets : 0;
}

std::size_t data_end(std::string_view behind) {
    if (behind.starts_with(".\r\n")) return 3;
    const std::size_t dot = behind.find("\r\n.\r\n");
    return dot == std::string_view::npos ? 0 : dot + 5;
}

// Behind a DATA that was refused stands another command; each message of ours begins so.
bool begins_message(std::string_view behind) {
    constexpr std::string_view first = "From: ";
    const std::string_view beginning = behind.substr(0, first.size());
    return behind.starts_with(".\r\n") || first.starts_with(beginning);
}

std::string_view address_in(std::string_view line) {
    const std::size_t from = line.find('<') + 1;
    return line.substr(from, line.find('>') - from);
}

}  // namespace

std::vector<sent_transaction> transactions_in(std::string_view said) {
    std::vector<sent_transaction> all;
    std::size_t at = 0;
    for (;;) {
        const std::size_t end = said.find("\r\n", at);
        if (end == std::string_view::npos) {
            if (said.substr(at).starts_with("M")) all.push_back({at});
            return all;
        }
        const std::string_view line = said.substr(at, end - at);
        const std::string_view behind = said.substr(end + 2);
        if (line.starts_with("MAIL ")) all.push_back({at});
        at = end + 2;
        if (all.empty()) continue;
        if (line.starts_with("RCPT ")) all.back().recipients.push_back(address_in(line));
        const bool chunk = line.starts_with("BDAT ");
        if (!chunk && !(line == "DATA" && begins_message(behind))) continue;
        const std::size_t octets = chunk ? chunk_end(line, behind) : data_end(behind);
        if (octets == 0) return all;
        all.back().complete = true;
        at += octets;
    }
}

}  // namespace simulation
