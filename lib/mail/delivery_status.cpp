// SPDX-License-Identifier: GPL-3.0-or-later
#include "mail/delivery_status.hpp"

#include "base/random.hpp"
#include "base/text.hpp"
#include "mail/canonical.hpp"
#include "mail/message.hpp"
#include "mail/message_factory.hpp"
#include "mail/transfer_encoding.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace postal::mail {
namespace {

constexpr std::size_t longest_status_line = 998;  // RFC 5322 2.1.1

// The header fields, without the blank line behind them, and without a line that is not whole.
std::string_view whole_fields(std::string_view original) {
    original = original.substr(0, delivery_status::most_of_original);
    const std::size_t end = header_end(original);
    std::string_view section = original.substr(0, std::min(end, original.size()));
    section = section.substr(0, section.rfind('\n') + 1);
    const bool blank_behind = end != std::string_view::npos;
    if (!blank_behind) return section;
    const std::size_t last_field = section.substr(0, section.size() - 1).rfind('\n');
    return last_field == std::string_view::npos ? std::string_view{}
                                                : section.substr(0, last_field + 1);
}

// Printable ASCII in lines that end in CRLF, none of them too long.
bool is_clean(std::string_view text) {
    while (!text.empty()) {
        const std::size_t end = text.find("\r\n");
        if (end == std::string_view::npos || end > longest_status_line) return false;
        const std::string_view line = text.substr(0, end);
        const bool printable = std::all_of(
            line.begin(), line.end(), [](char c) { return c == '\t' || (c >= ' ' && c <= '~'); });
        if (!printable) return false;
        text.remove_prefix(end + 2);
    }
    return true;
}

// "=_" is in no quoted-printable text (RFC 2045 6.7); of what is not encoded it is looked for.
std::string boundary_beside(std::string_view headers, std::uint64_t number) {
    for (std::uint64_t tried = 0;; ++tried) {
        std::string boundary = fmt::format("=_report_{:016x}", base::mix(number, tried, 0));
        if (headers.find(boundary) == std::string_view::npos) return boundary;
    }
}

std::uint32_t code_point(std::string_view sequence) {
    const auto first = static_cast<unsigned char>(sequence[0]);
    std::uint32_t value = sequence.size() == 1 ? first : first & (0x7fU >> sequence.size());
    for (const char c : sequence.substr(1)) {
        value = (value << 6U) | (static_cast<unsigned char>(c) & 0x3fU);
    }
    return value;
}

// utf-8-addr-xtext (RFC 6533 3).
std::string in_seven_bits(std::string_view address) {
    std::string text;
    while (!address.empty()) {
        const std::size_t size = std::max<std::size_t>(base::utf8_sequence(address), 1);
        const char c = address.front();
        if (size == 1 && c > ' ' && c <= '~' && c != '+' && c != '=' && c != '\\') {
            text += c;
        } else {
            text += fmt::format("\\x{{{:02X}}}", code_point(address.substr(0, size)));
        }
        address.remove_prefix(size);
    }
    return text;
}

std::string shown(std::string_view address) {
    return is_ascii(address) ? std::string(address) : in_seven_bits(address);
}

std::string header_of(const delivery_status& of, std::string_view date, std::string_view boundary) {
    return fmt::format(
        "From: Mail Delivery System <MAILER-DAEMON@{0}>\r\n"
        "To: <{1}>\r\n"
        "Subject: Undelivered Mail Returned to Sender\r\n"
        "Date: {2}\r\n"
        "Message-ID: <{3:016x}.report@{0}>\r\n"
        "Auto-Submitted: auto-replied\r\n"
        "MIME-Version: 1.0\r\n"
        "Content-Type: multipart/report; report-type=delivery-status;\r\n"
        "\tboundary=\"{4}\"\r\n"
        "\r\n",
        of.host, of.reverse_path, date, of.number, boundary);
}

void add_text(std::string& to, const delivery_status& of) {
    to += fmt::format(
        "This is the mail system at host {}.\r\n"
        "\r\n"
        "Your message was accepted, and could then not be delivered to\r\n"
        "\r\n",
        of.host);
    for (const std::string& one : of.recipients)
        to += fmt::format("    <{}>\r\n", shown(one));
    to += fmt::format("\r\nThe reason is: {}\r\n", of.diagnostic);
}

void add_status(std::string& to, const delivery_status& of, std::string_view date) {
    to += fmt::format("Reporting-MTA: dns; {}\r\nArrival-Date: {}\r\n", of.host, date);
    for (const std::string& one : of.recipients) {
        to += fmt::format(
            "\r\nFinal-Recipient: {}; {}\r\nAction: failed\r\nStatus: {}\r\n"
            "Diagnostic-Code: smtp; {}\r\n",
            is_ascii(one) ? "rfc822" : "utf-8", shown(one), of.status, of.diagnostic);
    }
}

}  // namespace

std::string make_delivery_status(const delivery_status& of) {
    const std::string_view section = whole_fields(of.original);
    const bool clean = is_clean(section);
    const std::string headers = clean ? std::string(section) : to_quoted_printable(section);
    const std::string boundary = boundary_beside(headers, of.number);
    date_text clock;
    const std::string date(clock.at(of.now));
    const auto begin_part = [&](std::string& text, std::string_view type) {
        text += fmt::format("\r\n--{}\r\nContent-Type: {}\r\n", boundary, type);
    };
    std::string text = header_of(of, date, boundary);
    text += "This is a report in MIME format (RFC 6522).\r\n";
    begin_part(text, "text/plain; charset=us-ascii\r\n");
    add_text(text, of);
    begin_part(text, "message/delivery-status\r\n");
    add_status(text, of, date);
    begin_part(text, "text/rfc822-headers");
    text += clean ? "\r\n" : "Content-Transfer-Encoding: quoted-printable\r\n\r\n";
    text += headers;
    return text + fmt::format("\r\n--{}--\r\n", boundary);
}

}  // namespace postal::mail
