// SPDX-License-Identifier: GPL-3.0-or-later
// Replies as texts of a behaviour's file, and those that are known by name.
//
// The presets say what big providers say, shortened to a line and without the addresses of their
// pages; codes are theirs.
#include "behaviour/behaviour_file.hpp"

#include "base/text.hpp"
#include "base/units.hpp"
#include "proto/smtp/reply_parser.hpp"

#include <algorithm>
#include <utility>

namespace postal::behaviour {
namespace {

// With code, enhanced code and CRLF below the 512 octets of RFC 5321 4.5.3.1.5.
constexpr std::size_t longest_text = 400;

constexpr std::string_view wanted = "write it as \"450 4.2.1 Too many messages\"";

bool is_printable(char c) noexcept {
    return c >= ' ' && c <= '~';
}

bool is_number(std::string_view text) {
    return !text.empty() && std::all_of(text.begin(), text.end(), base::is_digit);
}

// Meant as an enhanced code, right or wrong: "4.7.1", "4.7", "45.7.1". Addresses are none.
bool is_like_enhanced(std::string_view word) {
    const auto pieces = base::split(word, '.');
    return (pieces.size() == 2 || pieces.size() == 3) &&
           std::all_of(pieces.begin(), pieces.end(), is_number);
}

// RFC 3463 2: "each numeric sub-code MUST be expressed without leading zero digits".
bool has_leading_zero(std::string_view enhanced) {
    const auto pieces = base::split(enhanced, '.');
    return std::any_of(pieces.begin(), pieces.end(), [](std::string_view piece) {
        return piece.size() > 1 && piece.front() == '0';
    });
}

base::failure no_reply(std::string_view text) {
    std::vector<std::string> names;
    for (const preset& one : presets())
        names.emplace_back(one.name);
    const std::string shown = base::printable(text, 60);
    const auto near = base::nearest(text.substr(0, longest_text), names);
    if (near.empty())
        return base::fail("\"{}\" is neither a reply nor a preset; {}, or give one of {}", shown,
                          wanted, base::join(names, ", "));
    return base::fail("\"{}\" is neither a reply nor a preset; did you mean {}?", shown, near);
}

base::expected<void> check_text(std::string_view text) {
    if (!std::all_of(text.begin(), text.end(), is_printable))
        return base::fail("the text \"{}\" is not printable ASCII", base::printable(text, 60));
    if (text.size() > longest_text)
        return base::fail("the text has {} octets, at most {} are sent", text.size(), longest_text);
    return {};
}

// Takes an enhanced code off the beginning of `rest`; it may be missing.
base::expected<std::string> take_enhanced(std::string_view code, std::string_view& rest) {
    const std::string_view word = rest.substr(0, rest.find(' '));
    if (!is_like_enhanced(word)) return {boost::system::in_place_value};
    if (proto::enhanced_status(word) != word || has_leading_zero(word))
        return base::fail("\"{}\" is no enhanced code; one is such as 4.2.1 (RFC 3463)",
                          base::printable(word, 40));
    if (word.front() != code.front())
        return base::fail("{} and {} are of different classes; both begin with the same digit",
                          code, word);
    rest.remove_prefix(std::min(rest.size(), word.size() + 1));
    return {boost::system::in_place_value, word};
}

}  // namespace

const std::vector<preset>& presets() {
    static const std::vector<preset> all{
        {"gmail-rate", 421, "4.7.28",
         "Our system has detected an unusual rate of unsolicited mail originating from your IP "
         "address. To protect our users from spam, mail sent from your IP address has been "
         "temporarily rate limited."},
        {"gmail-receiving-rate", 450, "4.2.1",
         "The user you are trying to contact is receiving mail at a rate that prevents additional "
         "messages from being delivered. Please resend your message at a later time."},
        {"gmail-unauthenticated", 550, "5.7.26",
         "This mail has been blocked because the sender is unauthenticated. All senders must "
         "authenticate with either SPF or DKIM."},
        {"gmail-mailbox-full", 452, "4.2.2", "The recipient's inbox is out of storage space."},
        {"gmail-no-such-user", 550, "5.1.1",
         "The email account that you tried to reach does not exist. Please try double-checking "
         "the recipient's email address for typos or unnecessary spaces."},
        {"outlook-throttled", 451, "4.7.500", "Server busy. Please try again later."},
        {"outlook-rate-limited", 451, "4.7.650",
         "The mail server has been temporarily rate limited due to IP reputation."},
        {"outlook-blocked", 550, "5.7.1",
         "Unfortunately, messages from your address weren't sent. Please contact your Internet "
         "service provider since part of their network is on our block list (S3140)."},
        {"outlook-no-such-user", 550, "5.5.0",
         "Requested action not taken: mailbox unavailable (S2017062302)."},
        {"exchange-no-such-user", 550, "5.1.10",
         "RESOLVER.ADR.RecipientNotFound; Recipient not found by SMTP address lookup"},
        {"yahoo-deferred", 421, "4.7.0",
         "[TSS04] Messages from your address temporarily deferred due to unexpected volume or user "
         "complaints - 4.16.55.1"},
        {"yahoo-disabled", 554, "",
         "30 Sorry, your message cannot be delivered. This mailbox is disabled (554.30)."},
        {"postfix-busy", 421, "4.3.2", "All server ports are busy"},
        {"postfix-connections", 421, "4.7.0", "Error: too many connections from your address"},
        {"postfix-rate", 450, "4.7.1", "Error: too much mail from your address"},
        {"greylisted", 450, "4.2.0", "Recipient address rejected: Greylisted, try again later"},
        {"mailbox-full", 452, "4.2.2", "Mailbox full"},
        {"over-quota", 552, "5.2.2", "Mailbox is over its quota"},
        {"no-such-user", 550, "5.1.1", "No such user"},
        {"spam", 554, "5.7.1", "Message rejected as spam"},
        {"temporary-failure", 451, "4.3.0", "Temporary failure, try again later"},
        {"system-full", 452, "4.3.1", "Insufficient system storage"},
        {"greeting-refused", 554, "5.7.1", "No SMTP service here for your address"},
    };
    return all;
}

base::expected<reply_text> parse_reply(std::string_view text) {
    const auto named = std::find_if(presets().begin(), presets().end(),
                                    [&](const preset& one) { return one.name == text; });
    if (named != presets().end())
        return reply_text{named->code, std::string(named->enhanced), std::string(named->text)};
    const std::string_view code = text.substr(0, text.find(' '));
    if (code.size() != 3 || !is_number(code)) return no_reply(text);
    std::string_view rest = text.substr(std::min(text.size(), code.size() + 1));
    auto enhanced = take_enhanced(code, rest);
    if (!enhanced) return enhanced.error();
    const auto checked = check_text(rest);
    if (!checked) return checked.error();
    const auto number = base::parse_count(code);
    if (!number) return number.error();
    return reply_text{static_cast<std::uint16_t>(*number), std::move(*enhanced), std::string(rest)};
}

}  // namespace postal::behaviour
