#include "lmtp-deliver/headers.hpp"

#include <chrono>
#include <string_view>

#include <fmt/format.h>

#include "mail/message_factory.hpp"
#include "proto/address.hpp"

namespace postal::lmtp_deliver {
namespace {

// What a client calls itself may be anything; a header takes a domain or an address literal.
bool is_host_name(std::string_view name) {
    return proto::parse_mailbox(fmt::format("x@{}", name), proto::bare_local_part::postmaster_only)
        .ok();
}

// Where the message came from: "helo ([192.0.2.1])", or no address for a Unix socket.
std::string from_text(const transaction& of) {
    const std::string helo = is_host_name(of.helo) ? of.helo : "unknown";
    if (of.client == "unix") return helo;
    const bool is_ipv6 = of.client.find(':') != std::string::npos;
    return fmt::format("{} ([{}{}])", helo, is_ipv6 ? "IPv6:" : "", of.client);
}

}  // namespace

std::string headers(const plan& run, const transaction& of, const mailbox* recipient) {
    const added_headers& wanted = run.chosen.headers;
    std::string text;
    if (wanted.return_path) text += fmt::format("Return-Path: <{}>\r\n", of.reverse_path);
    if (wanted.delivered_to && recipient != nullptr) {
        text += fmt::format("Delivered-To: {}\r\n", recipient->written);
    }
    if (wanted.received) {
        text += fmt::format("Received: from {}\r\n\tby {} with LMTP id {}", from_text(of),
                            run.host_name, of.id);
        if (recipient != nullptr) text += fmt::format("\r\n\tfor <{}>", recipient->written);
        mail::date_text date;
        text += fmt::format("; {}\r\n", date.at(std::chrono::system_clock::now()));
    }
    if (run.storage.ends == mail::line_ends::lf) std::erase(text, '\r');
    return text;
}

}  // namespace postal::lmtp_deliver
