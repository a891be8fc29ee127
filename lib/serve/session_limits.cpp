// What a session lets a client over a network do: how many come from one place, and how long they may take.
#include "serve/session.hpp"

namespace postal::serve {

using proto::server_stage;

namespace {

constexpr proto::server_reply too_many_from_there{
    421, "4.7.0", "Too many sessions from your address, try again later", "sessions-per-address"};
constexpr proto::server_reply closing_for_content{
    421, "4.4.2", "Content comes too slowly (--min-data-rate), closing", "min-data-rate"};
constexpr proto::server_reply closing_for_message{
    421, "4.4.2", "Message takes too long (--message-time), closing", "message-time"};
constexpr proto::server_reply closing_without_message{
    421, "4.4.2", "No message for too long (--message-time), closing", "message-time"};

}  // namespace

// Nothing for clients that have no limits.
std::optional<net::ip_address> session::limited_origin() const {
    if (trusted_) return std::nullopt;
    const auto from = client_address();
    if (!from || (from->is_loopback() && !context_.rules.counts_loopback)) return std::nullopt;
    return from->origin();
}

bool session::may_hold_more() const {
    const held_octets* const all = context_.rules.held.get();
    return all == nullptr || !all->full(holder_.get());
}

// Whether no more are here from where this client comes than may be. A connection that begins with TLS
// could not read why.
bool session::admitted() {
    const unsigned most = context_.rules.sessions_per_address;
    const auto from = limited_origin();
    if (!from || most == 0 || slot_.count_for(*from, most)) {
        if (from && context_.rules.held) holder_ = context_.rules.held->client_of(*from);
        return true;
    }
    count_refusal(server_stage::connect, too_many_from_there);
    if (!tls_at_once_) {
        close_politely(too_many_from_there);
    } else {
        closing_ = true;
    }
    return false;
}

void session::wait_for_client() {
    set_deadline(now_ + context_.rules.timeout);
    patience_ = patience::with_silence;
}

// A line has as long as silence may last, however slowly its octets come.
void session::be_patient() {
    if (machine_.in_line()) return;
    wait_for_client();
    if (trusted_ || read_rate_ != 0) return;  // at our own rate it comes as it must
    const session_rules& rules = context_.rules;
    const auto no_longer_than = [&](load::steady_time when, patience with) {
        if (when >= deadline()) return;
        set_deadline(when);
        patience_ = with;
    };
    if (rules.min_data_rate != 0 && machine_.content_begun()) {
        const auto left =
            content_time_.left(rules.timeout, rules.min_data_rate, machine_.message_octets());
        // Before it has dripped for a while whoever says nothing is silent.
        if (left < rules.timeout / 2) no_longer_than(now_ + left, patience::with_content);
    }
    if (rules.message_time.count() == 0) return;
    if (machine_.in_transaction()) {
        no_longer_than(message_time_.transaction_until(), patience::with_message);
    } else {
        no_longer_than(message_time_.session_until(), patience::without_message);
    }
}

// Not silent, but without an end.
void session::too_slow() {
    const bool none = patience_ == patience::without_message;
    const bool content = patience_ == patience::with_content;
    const proto::server_reply& why = none      ? closing_without_message
                                     : content ? closing_for_content
                                               : closing_for_message;
    const server_stage stage = none                       ? server_stage::mail
                               : machine_.content_begun() ? server_stage::data
                                                          : server_stage::rcpt;
    count_refusal(stage, why);
    close_politely(why);
}

}  // namespace postal::serve
