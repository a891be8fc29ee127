// SPDX-License-Identifier: GPL-3.0-or-later
#include "postal/own_limit.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.hpp"

namespace postal::sender {

namespace {

// Options, by their long names, that say what is sent and how.
constexpr std::array<std::string_view, 23> what_is_sent{"messages-per-connection",
                                                        "lmtp",
                                                        "recipients",
                                                        "to",
                                                        "from",
                                                        "account-weights",
                                                        "helo",
                                                        "pipelining",
                                                        "chunking",
                                                        "in-flight",
                                                        "max-size",
                                                        "min-size",
                                                        "size",
                                                        "body",
                                                        "corpus",
                                                        "digest",
                                                        "breakage",
                                                        "subject",
                                                        "header",
                                                        "ssl-percent",
                                                        "tls",
                                                        "tls-resume",
                                                        "workers"};
// Both sides choose from these.
constexpr std::array<std::string_view, 5> what_both_speak{"tls-backend", "tls-min", "tls-max",
                                                          "tls-ciphers", "tls-groups"};

template <class Names>
bool is_one_of(const Names& names, std::string_view name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

// These cost a message or a session something, too, and are not done.
constexpr std::array<std::string_view, 17> what_is_left_out{
    "ledger",         "samples",
    "transcript",     "connection-transcript",
    "all-log",        "dsn",
    "mail-parameter", "rcpt-parameter",
    "xclient",        "proxy-protocol",
    "target-is-mine", "tls-verify",
    "tls-ca",         "tls-cert",
    "tls-crl",        "tls-sni",
    "tls-early-data"};

// Whether bhm or this program run once more can read what this one has read.
bool is_read_again(const std::string& list) {
    std::error_code ignored;
    return !list.empty() && list != mail::standard_input &&
           std::filesystem::is_regular_file(list, ignored);
}

void append(std::vector<std::string>& words, const cli::effective_option& given) {
    for (const std::string& value : given.values) {
        const bool is_flag = given.name == "lmtp";
        if (is_flag && value == "false") continue;
        words.push_back("--" + given.name + (is_flag ? "" : "=" + value));
    }
}

}  // namespace

program::alone_plan alone_plan_of(const plan& of) {
    const options& chosen = of.chosen;
    program::alone_plan made;
    if (chosen.auth.wanted()) made.left_out = "AUTH";
    for (const cli::effective_option& one : chosen.effective) {
        if (!one.given) continue;
        if (is_one_of(what_is_left_out, one.name) &&
            !(one.values.size() == 1 && one.values.front() == "false"))
            made.left_out += (made.left_out.empty() ? "--" : ", --") + one.name;
        const bool both = is_one_of(what_both_speak, one.name);
        if (both || is_one_of(what_is_sent, one.name)) append(made.options, one);
        if (both) append(made.server_options, one);
    }
    made.options.push_back("--sessions=" + std::to_string(of.load.sessions));
    if (is_read_again(chosen.sender_list))
        made.options.push_back("--sender-list=" + chosen.sender_list);
    if (is_read_again(chosen.user_list))
        made.behind_target.push_back(chosen.user_list);
    else if (chosen.to.empty())
        for (std::size_t i = 0; i < chosen.recipients.most; ++i)  // of a list that has so many
            made.options.push_back("--to=" + of.recipients[i].address);
    constexpr std::size_t most_sessions = 1'000'000;  // of a server
    made.server_options.insert(
        made.server_options.end(),
        {"--sessions", std::to_string(std::min<std::size_t>(of.load.sessions + 16, most_sessions)),
         "--max-size", "1G", "--bare-newline", "accept", "--max-recipients", "1000000"});
    if (chosen.lmtp) made.server_options.emplace_back("--lmtp");
    if (chosen.tls.wanted()) {
        made.tls_at_once =
            chosen.tls.mode.value_or(client::tls_mode::starttls) == client::tls_mode::implicit;
        if (!made.tls_at_once) made.server_options.emplace_back("--ssl");
    }
    return made;
}

}  // namespace postal::sender
