// SPDX-License-Identifier: GPL-3.0-or-later
// One message on its way to its recipients: the envelope as templates need it, and the message.
//
// Made at MAIL, filled until the end of the data, then only read while its deliveries run. Nothing
// here fails.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lmtp-deliver/argv_template.hpp"
#include "lmtp-deliver/mailbox.hpp"
#include "lmtp-deliver/message_file.hpp"
#include "load/watched.hpp"
#include "mail/trace_header.hpp"
#include "serve/held_octets.hpp"

namespace postal::lmtp_deliver {

struct transaction {
    explicit transaction(const storage_rules& storage,
                         serve::held_octets::share of_all = serve::held_octets::share())
        : held(std::move(of_all)), held_content(held.sibling()), message(storage) {}

    // False, and nothing is taken, when there is no room for more.
    [[nodiscard]] bool take(mailbox recipient) {
        // Its parts lie around the strings that hold them.
        constexpr std::size_t around = 128;
        const std::size_t octets = sizeof(mailbox) + around + recipient.address.size() +
                                   recipient.user.size() + recipient.domain.size() +
                                   recipient.detail.size() + recipient.written.size();
        if (!held.add(octets)) return false;
        recipients.push_back(std::move(recipient));
        return true;
    }
    // Content that there is no room for is not kept, and neither is what came before it.
    void take(std::string_view content) {
        if (!no_room && held_content.add(content.size())) return message.append(content);
        no_room = true;
        message.give_up();
        held_content.give_back();
    }

    // `null_text` is what the operator wants for the null reverse-path.
    void set_sender(const proto::path& path, std::string_view delimiters,
                    const std::string& null_text) {
        reverse_path = path.mailbox;
        sender = make_mailbox(path, delimiters);
        null_sender = path.null;
        if (null_sender) sender.address = null_text;
    }

    // The recipient is left out while none is given.
    expansion values(const mailbox* recipient = nullptr) const {
        expansion result{.from = sender.address,
                         .from_user = sender.user,
                         .from_domain = sender.domain,
                         .client = client,
                         .helo = helo,
                         .id = id,
                         .size = message.size(),
                         .recipients = static_cast<std::uint32_t>(recipients.size()),
                         .null_sender = null_sender};
        if (recipient != nullptr) {
            result.to = recipient->address;
            result.to_user = recipient->user;
            result.to_domain = recipient->domain;
            result.to_detail = recipient->detail;
        }
        return result;
    }

    serve::held_octets::share held;  // of the recipients; first, so that it ends last
    serve::held_octets::share held_content;
    bool no_room = false;  // for the whole message
    std::string id;
    std::string client;  // an address without a port, or "unix"
    std::string helo;
    mail::transmission how{};
    mailbox sender;            // of "<>": the operator's text as its address
    std::string reverse_path;  // as the client wrote it, without brackets
    bool null_sender = false;
    std::vector<mailbox> recipients;
    message_file message;
    load::steady_time complete{};  // when the data had ended
};

}  // namespace postal::lmtp_deliver
