// SPDX-License-Identifier: GPL-3.0-or-later
#include "mail/trace_header.hpp"

#include "mail/message_factory.hpp"
#include "proto/address.hpp"

#include <fmt/format.h>

namespace postal::mail {
namespace {

// "helo ([192.0.2.1])", or no address for a Unix socket.
std::string from_text(const received& what) {
    const std::string_view helo = proto::is_host_name(what.helo) ? what.helo : "unknown";
    if (what.client == "unix") return std::string(helo);
    const bool is_ipv6 = what.client.find(':') != std::string_view::npos;
    return fmt::format("{} ([{}{}])", helo, is_ipv6 ? "IPv6:" : "", what.client);
}

std::string with_protocol(const transmission& how) {
    if (!how.extended) return "SMTP";
    const std::string_view plain = how.lmtp ? "LMTP" : how.utf8 ? "SMTP" : "ESMTP";
    return fmt::format("{}{}{}{}", how.utf8 ? "UTF8" : "", plain, how.secure ? "S" : "",
                       how.authenticated ? "A" : "");
}

}  // namespace

std::string received_header(const received& what) {
    std::string text = fmt::format("Received: from {}\r\n\tby {} with {} id {}", from_text(what),
                                   what.by, with_protocol(what.how), what.id);
    if (!what.recipient.empty()) text += fmt::format("\r\n\tfor <{}>", what.recipient);
    date_text date;
    return text + fmt::format("; {}\r\n", date.at(what.when));
}

}  // namespace postal::mail
