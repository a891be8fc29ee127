// SPDX-License-Identifier: GPL-3.0-or-later
#include "serve/patience.hpp"

namespace postal::serve {

using proto::server_stage;

namespace {

constexpr proto::server_reply closing_for_content{
    421, "4.4.2", "Content comes too slowly (--min-data-rate), closing", "min-data-rate"};
constexpr proto::server_reply closing_for_message{
    421, "4.4.2", "Message takes too long (--message-time), closing", "message-time"};
constexpr proto::server_reply closing_without_message{
    421, "4.4.2", "No message for too long (--message-time), closing", "message-time"};

}  // namespace

load::steady_time patience::of_client(const proto::smtp_server& said, bool slowly) noexcept {
    load::steady_time until = of_silence();
    if (trusted_ || slowly) return until;
    const auto no_longer_than = [&](load::steady_time when, end what) {
        if (when >= until) return;
        until = when;
        ends_ = what;
    };
    if (rules_.min_data_rate != 0 && said.content_begun()) {
        const auto left =
            content_time_.left(rules_.timeout, rules_.min_data_rate, said.message_octets());
        // Before it has dripped for a while whoever says nothing is silent.
        if (left < rules_.timeout / 2) no_longer_than(now_ + left, end::content);
    }
    if (rules_.message_time.count() == 0) return until;
    if (said.has_sender()) {
        no_longer_than(message_time_.transaction_until(), end::message);
    } else {
        no_longer_than(message_time_.session_until(), end::no_message);
    }
    return until;
}

patience::last_words patience::of_end(const proto::smtp_server& said) const noexcept {
    if (ends_ == end::no_message) return {server_stage::mail, closing_without_message};
    return {said.content_begun() ? server_stage::data : server_stage::rcpt,
            ends_ == end::content ? closing_for_content : closing_for_message};
}

}  // namespace postal::serve
