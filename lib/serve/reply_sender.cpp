// SPDX-License-Identifier: GPL-3.0-or-later
#include "serve/reply_sender.hpp"

#include <chrono>

namespace postal::serve {

reply_sender::sent reply_sender::send_now(how when) {
    if (output_->text.empty()) return sent::gone;
    if (transcript_ != nullptr) transcript_->sent(output_->text);
    heard_.said(output_->text.size());
    // Who closes before an answer, and has not said QUIT, does not hear it.
    if (heard_.has_news()) heard_.sending(connection_.peer_has_ended(), connection_.octets_out);
    output_->parts.add(output_->text);
    const bool done = (when == how::as_it_suits && connection_.write_soon(output_->parts)) ||
                      connection_.write_now(output_->parts);
    if (!output_->answered.empty()) count_answered();
    if (!done) return sent::later;
    output_->parts.clear();
    output_->text.clear();
    return connection_.last_fault() == net::fault::none ? sent::gone : sent::broken;
}

void reply_sender::put_aside(net::gather& rest) {
    unsent_.clear();
    for (const iovec& part : output_->parts.left()) {
        unsent_.append(static_cast<const char*>(part.iov_base), part.iov_len);
    }
    output_.give_back();
    rest.add(unsent_);
}

// Their replies have been handed to the kernel.
void reply_sender::count_answered() {
    const load::steady_time now = std::chrono::steady_clock::now();
    for (const load::steady_time begun : output_->answered) {
        context_.own.tally().latency[context_.rules.message_phase].record(now - begun);
    }
    output_->answered.clear();
}

// Closing with octets unread would reset the connection and could take the last reply with it.
void reply_sender::hang_up() {
    constexpr unsigned most_last_reads = 64;
    if (!connection_.is_open()) return;
    connection_.shutdown_output();
    for (unsigned rounds = 0; rounds < most_last_reads; ++rounds) {
        if (connection_.read_now(context_.input) == 0) break;
    }
}

void reply_sender::close_politely(const proto::server_reply& last_words) {
    if (!connection_.is_open() || !unsent_.empty()) return;
    proto::append_reply(output_->text, last_words);
    if (send_now(how::closing) == sent::later) {
        output_->parts.clear();
        output_->text.clear();
    }
    hang_up();
}

}  // namespace postal::serve
