// What is done to a client on purpose: replies that are held back, connections that are cut, slow reading.
#include "serve/session.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "base/release.hpp"

namespace postal::serve {

namespace asio = boost::asio;
using proto::server_stage;
using std::chrono::steady_clock;

namespace {

std::string_view to_text(cut how) {
    return how == cut::fin ? "closed" : how == cut::rst ? "reset" : "silence";
}

}  // namespace

// What is to be done behind the reply that stands from `before` on; now, or when its delay is over.
session::next session::in_time(server_stage stage, std::size_t before, next what) {
    const stage_effect effect = std::exchange(effect_, {});
    if (effect.ending != cut::no) {
        cut_ = effect.ending;
        what = next::cut;
        unsaid_ = !effect.says_reply;
        if (unsaid_) output_->text.resize(before);
        if (effect.is_error)
            tally().errors.add(proto::to_text(stage), 0, to_text(cut_), effect.why);
    }
    const auto delay = delay_at(stage) + effect.delay;
    const bool nothing_to_delay = output_->text.size() == before && what == next::read;
    answers_first_ = what == next::cut && !unsaid_ && !answers_ready();
    const bool at_once = delay.count() <= 0 || (nothing_to_delay && stage != server_stage::connect);
    if (at_once && !answers_first_) return what;
    held_.assign(output_->text, before);
    output_->text.resize(before);
    hold_for_ = delay;
    then_ = what;
    return next::hold;
}

void session::add_effect(const stage_effect& one) {
    effect_.delay = std::max(effect_.delay, one.delay);
    if (effect_.ending == cut::no && one.ending != cut::no) {
        effect_.ending = one.ending;
        effect_.says_reply = one.says_reply;
        effect_.why = one.why;
        effect_.is_error = one.is_error;
    }
    if (one.read_rate != 0) read_rate_ = one.read_rate;
    if (one.window != 0) connection_.shrink_window(one.window);
}

// Whoever is told 421 is sent away (RFC 5321 3.8).
session::next session::end_if_closing(const proto::server_reply& answer) {
    if (answer.code != 421) return next::read;
    if (refusal_ == 0) refusal_ = answer.code;
    return next::close;
}

asio::awaitable<void> session::pause(std::chrono::nanoseconds how_long) {
    if (stopped_now_) co_return lost(net::fault::stopped);
    clear_deadline();
    asio::steady_timer timer(context_.own.context(), how_long);
    pausing_ = &timer;
    boost::system::error_code cancelled;
    co_await timer.async_wait(asio::redirect_error(asio::use_awaitable, cancelled));
    pausing_ = nullptr;
    const load::steady_time before = std::exchange(now_, steady_clock::now());
    message_time_.held_back(now_ - before);
    if (cancelled) co_return lost(net::fault::stopped);
    // converse() sets none while a line has begun.
    wait_for_client();
}

// What was appended last waits for its time; what stood before it has been sent.
asio::awaitable<void> session::hold_back() {
    keep_input();
    co_await pause(hold_for_);
    if (closing_) co_return;
    output_->text.append(held_);
    base::release(held_);
    if (!unsaid_) answers_due_now();
}

// On purpose: of what is under way the client hears nothing more.
asio::awaitable<void> session::cut_off() {
    if (slot_.transcript != nullptr) slot_.transcript->note(to_text(cut_));
    if (cut_ == cut::silence) {
        input_ = {};
        wait_for_client();
        while (!context_.own.stopping() && connection_.is_open()) {
            reading_ = true;
            if (connection_.something_to_read()) {
                co_await let_others_run();
            } else {
                co_await connection_.wait_to_read();
            }
            reading_ = false;
            if (connection_.read_ready(context_.input).why != net::fault::none) break;
        }
    }
    closing_ = true;
    cut_ == cut::rst ? connection_.reset() : hang_up();
}

// What was read last takes its time.
asio::awaitable<void> session::read_no_faster() {
    const double seconds =
        static_cast<double>(std::exchange(read_at_once_, 0)) / static_cast<double>(read_rate_);
    co_await pause(std::chrono::duration_cast<std::chrono::nanoseconds>(
        std::chrono::duration<double>(seconds)));
}

}  // namespace postal::serve
