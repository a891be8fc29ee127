// SPDX-License-Identifier: GPL-3.0-or-later
#include "lmtp-deliver/check_option.hpp"

#include <string_view>

#include "lmtp-deliver/envelope_rules.hpp"
#include "proto/address.hpp"

namespace postal::lmtp_deliver {
namespace {

base::expected<proto::path> parse_sender(const std::string& text) {
    proto::path null;
    null.null = true;
    if (text.empty() || text == "<>") return null;
    const auto parsed = proto::parse_mailbox(text, proto::bare_local_part::allowed);
    if (!parsed.ok()) return base::fail("--from: {}", parsed.refusal);
    return parsed.value;
}

base::expected<void> not_refused(std::string_view option, const proto::server_reply& reply) {
    if (reply.code == 0) return {};
    return base::fail("{}: would be refused: {} {} {}", option, reply.code, reply.enhanced,
                      reply.text);
}

}  // namespace

base::expected<std::vector<std::string>> check(const plan& run) {
    const options& chosen = run.chosen;
    const auto sender = parse_sender(chosen.check.from);
    if (!sender) return sender.error();
    const auto to = proto::parse_mailbox(chosen.check.to, proto::bare_local_part::allowed);
    if (!to.ok()) return base::fail("--to: {}", to.refusal);

    transaction of(run.storage);
    of.id = "ID";
    of.client = "127.0.0.1";
    of.helo = run.host_name;
    of.set_sender(*sender, chosen.detail_delimiter, chosen.null_sender);
    const auto sender_fine = not_refused("--from", refusal_of_sender(run, of));
    if (!sender_fine) return sender_fine.error();
    of.recipients.push_back(make_mailbox(to.value, chosen.detail_delimiter));
    const mailbox& recipient = of.recipients.front();
    const auto recipient_fine = not_refused("--to", refusal_of_recipient(run, of, recipient));
    if (!recipient_fine) return recipient_fine.error();
    return run.agent.expand(of.values(&recipient));
}

}  // namespace postal::lmtp_deliver
