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

// What is to be done behind the reply that was written last; now, or when its delay is over.
session::next session::in_time(server_stage stage, next what) {
    if (!holds_back_) return what;
    const stage_effect effect = std::exchange(effect_, {});
    if (effect.close != cut::no) {
        cut_ = effect.close;
        says_last_reply_ = effect.reply || answered_;
        what = next::cut;
        if (unsaid()) held_.clear();
        // What is refused is one error, though the connection ends with it.
        if (!effect.reply || effect.reply->positive())
            tally().errors.add(proto::to_text(stage), 0, to_text(cut_), effect.why);
    }
    const auto delay = delay_at(stage) + effect.delay;
    // What is cut behind a reply that is still to come: process() cuts it then.
    const bool answers_first = what == next::cut && !unsaid() && !answers_ready();
    const bool nothing_to_delay =
        held_.empty() && what == next::read && stage != server_stage::connect;
    if (!answers_first && (delay.count() <= 0 || nothing_to_delay)) {
        let_go();
        return what;
    }
    hold_for_ = delay;
    then_ = answers_first ? next::answers : what;
    return next::hold;
}

void session::let_go() {
    if (held_.empty()) return;
    output_->text.append(held_);
    held_.clear();
}

void session::add_effect(const stage_effect& one, bool answered) {
    const auto delay = std::max(effect_.delay, one.delay);
    if (effect_.close == cut::no && one.close != cut::no) {
        effect_ = one;
        answered_ = answered;
    }
    effect_.delay = delay;
    if (one.read_rate != 0) read_rate_ = one.read_rate;
    if (one.window != 0) connection_.shrink_window(one.window);
}

asio::awaitable<void> session::pause(std::chrono::nanoseconds how_long) {
    if (stopped_now_) co_return lost(net::fault::stopped);
    clear_deadline();
    asio::steady_timer timer(context_.own.context(), how_long);
    timer_ = &timer;
    state_ = state::held_back;
    boost::system::error_code cancelled;
    co_await timer.async_wait(asio::redirect_error(asio::use_awaitable, cancelled));
    state_ = state::at_work;
    timer_ = nullptr;
    const load::steady_time before = std::exchange(now_, steady_clock::now());
    patience_.held_back(now_ - before);
    if (cancelled) co_return lost(net::fault::stopped);
    // converse() sets none while a line has begun.
    wait_for_client();
}

// What was written last waits for its time; what stood before it has been sent.
asio::awaitable<void> session::hold_back() {
    keep_input();
    co_await pause(hold_for_);
    if (over()) co_return;
    let_go();
    base::release(held_);
    if (!unsaid()) answers_due_now();
}

// On purpose: of what is under way the client hears nothing more.
asio::awaitable<void> session::cut_off() {
    if (slot_.transcript != nullptr) slot_.transcript->note(to_text(cut_));
    if (cut_ == cut::silence) {
        input_ = {};
        wait_for_client();
        while (!context_.own.stopping() && connection_.is_open()) {
            state_ = state::reading;
            if (connection_.something_to_read()) {
                co_await let_others_run();
            } else {
                co_await connection_.wait_to_read();
            }
            state_ = state::at_work;
            if (connection_.read_ready(context_.input).why != net::fault::none) break;
        }
    }
    state_ = state::over;
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
