// The part of a session in which mail is exchanged; the rest of the dialogue stands in session.cpp.
#include "postal/session.hpp"

namespace postal {

namespace {

namespace asio = boost::asio;

// A connection that has been idle this long may have been closed by the server meanwhile.
constexpr auto long_idle = std::chrono::seconds(1);

}  // namespace

asio::awaitable<session::step> session::exchange_mail() {
    state_ = state::exchanging;
    for (;;) {
        exchange_.compose(now_, line_.octets_queued());
        if (!exchange_.output().empty()) {
            net::fault why = net::fault::none;
            // Not put off when the peer has said or ended something meanwhile: what was sent must
            // be known when that is read.
            if (!line_.something_to_read() && line_.write_soon(exchange_.output())) {
                // on its way; the next read tells if it fails
            } else if (line_.write_now(exchange_.output())) {
                why = line_.last_fault();
            } else {
                set_deadline_for(stage::data);
                why = co_await line_.write_rest(exchange_.output());
            }
            if (why != net::fault::none) co_return give_up(why);
            exchange_.output_written();
            set_deadline_for(exchange_.awaited());
        } else if (exchange_.idle()) {
            if (exchange_.finished() || shop_.own.stopping()) co_return step::done;
            const step how = co_await wait_for_next();
            if (how != step::done || !exchange_.has_ticket()) co_return how;
            continue;
        }
        if (!line_.something_to_read()) co_await line_.wait_to_read();
        const net::read_result got = line_.read_ready(inbox_);
        if (got.why != net::fault::none) co_return give_up(got.why);
        heard_ = {inbox_.data(), got.size};
        const step how = hear_replies();
        if (how != step::done) co_return how;
    }
}

// Between two messages of a paced run: the connection is kept, and may be lost meanwhile.
asio::awaitable<session::step> session::wait_for_next() {
    clear_deadline();
    state_ = state::waiting;
    place_.connected = true;
    const load::steady_time from = now_;
    const load::ticket go = co_await shop_.gate.wait(place_);
    place_.connected = false;
    state_ = state::exchanging;
    now_ = std::chrono::steady_clock::now();
    if (go.what != load::pass::go) co_return step::done;
    if (now_ - from > long_idle && !line_.quiet_and_open()) {
        ticket_ = go;  // nothing was started with it
        shop_.gate.hold();
        co_return give_up(net::fault::closed);
    }
    exchange_.take(go);
    co_return step::done;
}

// Everything that was read, reply by reply. The deadline moves with each whole reply, not with each
// octet, so that a server that drips cannot hold the session for ever.
session::step session::hear_replies() {
    now_ = std::chrono::steady_clock::now();
    if (transcript_) transcript_->received(heard_);
    bool progress = false;
    while (!heard_.empty()) {
        const proto::reply_event event = parser_.feed(heard_);
        if (event == proto::reply_event::malformed) {
            exchange_.unexpected(parser_.problem(), parser_.offending());
            line_.settle();
            exchange_.lost({{}, {}, line_.octets_out, now_});
            return step::failed;
        }
        if (event != proto::reply_event::reply) continue;
        progress = true;
        const verdict what = exchange_.on_reply(parser_, now_);
        if (what == verdict::go_on) continue;
        line_.settle();
        const std::string_view others = what == verdict::closing ? "closed" : "";
        exchange_.lost({others, target_.where.text, line_.octets_out, now_});
        return step::failed;
    }
    if (progress && !exchange_.idle()) set_deadline_for(exchange_.awaited());
    return step::done;
}

// The connection has failed. What the server said before it closed says more than the failure.
session::step session::give_up(net::fault why) {
    line_.settle();
    while (why == net::fault::reset || why == net::fault::closed) {
        const std::size_t last_words = line_.read_now(inbox_);
        if (last_words == 0) break;
        heard_ = {inbox_.data(), last_words};
        if (hear_replies() == step::failed) return step::failed;
    }
    if (transcript_) transcript_->note(net::to_text(why));
    if (exchange_.idle() && !exchange_.anything_open()) {
        count_fault(stage::idle, why);
    } else {
        now_ = std::chrono::steady_clock::now();
        // That we ended it ourselves is no error of the server's.
        const client::explanation what = client::explain(why, line_, target_.where.text);
        const std::string_view reason = why == net::fault::stopped ? "" : what.reason;
        exchange_.lost({reason, what.sample, line_.octets_out, now_});
    }
    return step::failed;
}

}  // namespace postal
