// SPDX-License-Identifier: GPL-3.0-or-later
#include "lmtp-deliver/headers.hpp"

#include <chrono>
#include <string_view>

#include <fmt/format.h>

#include "mail/trace_header.hpp"

namespace postal::lmtp_deliver {

std::string headers(const plan& run, const transaction& of, const mailbox* recipient) {
    const added_headers& wanted = run.chosen.headers;
    std::string text;
    if (wanted.return_path) text += fmt::format("Return-Path: <{}>\r\n", of.reverse_path);
    if (wanted.delivered_to && recipient != nullptr) {
        text += fmt::format("Delivered-To: {}\r\n", recipient->written);
    }
    if (wanted.received) {
        text += mail::received_header(
            {.helo = of.helo,
             .client = of.client,
             .by = run.host_name,
             .how = of.how,
             .id = of.id,
             .recipient = recipient != nullptr ? std::string_view(recipient->written) : "",
             .when = std::chrono::system_clock::now()});
    }
    if (run.storage.ends == mail::line_ends::lf) std::erase(text, '\r');
    return text;
}

}  // namespace postal::lmtp_deliver
