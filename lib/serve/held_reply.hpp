// SPDX-License-Identifier: GPL-3.0-or-later
// A reply that may have to wait, and what is done to the client behind it.
//
// Flow: what the machine says goes to room(); whoever judges the stage calls add(); when the stage
// is answered settle() says what holds, and let_go() hands the reply on once its time has come.
// Where no reply can have to wait, all goes straight into the output. Nothing here fails but for
// memory.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <string>
#include <utility>

#include "base/release.hpp"
#include "proto/smtp/stage_effect.hpp"

namespace postal::serve {

class held_reply {
  public:
    explicit held_reply(bool may_wait) noexcept : may_wait_(may_wait) {}

    bool may_wait() const noexcept { return may_wait_; }
    std::string& room(std::string& output) noexcept { return may_wait_ ? text_ : output; }
    bool empty() const noexcept { return text_.empty(); }

    // The longer of two delays holds, and the first of two closes. `answered`: other replies stand
    // before it.
    void add(const proto::stage_effect& one, bool answered) {
        const auto delay = std::max(effect_.delay, one.delay);
        if (effect_.close == proto::cut::no && one.close != proto::cut::no) {
            effect_ = one;
            answered_ = answered;
        }
        effect_.delay = delay;
    }

    // Of the stage that is over. What is cut in the place of its reply is not said.
    proto::stage_effect settle() {
        if (effect_.close != proto::cut::no) {
            ending_ = effect_.close;
            unsaid_ = !effect_.reply && !answered_;
            if (unsaid_) text_.clear();
        }
        return std::exchange(effect_, {});
    }
    // How the connection ends behind what was said; no: it goes on.
    proto::cut ending() const noexcept { return ending_; }
    bool unsaid() const noexcept { return unsaid_; }

    // How long it waits, where it does.
    void hold_for(std::chrono::nanoseconds how_long) noexcept { wait_ = how_long; }
    std::chrono::nanoseconds wait() const noexcept { return wait_; }
    void let_go(std::string& output) {
        if (text_.empty()) return;
        output.append(text_);
        text_.clear();
    }
    // Where nothing waits: room for more than an idle session may hold on to.
    void give_back(std::size_t kept) {
        if (text_.capacity() > kept) base::release(text_);
    }

  private:
    const bool may_wait_;
    std::string text_;
    proto::stage_effect effect_{};  // of the stage that is being answered
    bool answered_ = false;
    std::chrono::nanoseconds wait_{0};
    proto::cut ending_ = proto::cut::no;
    bool unsaid_ = false;
};

}  // namespace postal::serve
