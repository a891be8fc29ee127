// What bhm's sessions of one worker share beside a server's room: the plan and spare checkers.
#pragma once

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "bhm/plan.hpp"
#include "mail/message_checker.hpp"
#include "program/ledger.hpp"
#include "serve/room.hpp"

namespace postal::bhm {

struct room : serve::room {
    // Without a ledger `book` is null.
    room(const plan& run, serve::reception& front, load::worker& worker, ledger::writer* book)
        : serve::room(run.rules, front, worker), of_run(run) {
        if (book == nullptr) return;
        desk_.emplace(*book, worker, [this](bool keeps_up) {
            if (keeps_up) let_go();
        });
    }

    // Checkers are lent from the beginning of a message to its end, so that an idle session holds
    // none.
    std::unique_ptr<mail::message_checker> lend_checker() {
        if (spare_.empty()) return std::make_unique<mail::message_checker>();
        auto one = std::move(spare_.back());
        spare_.pop_back();
        return one;
    }
    void take_back(std::unique_ptr<mail::message_checker> one) {
        one->reset();
        spare_.push_back(std::move(one));
    }

    // Null without a ledger.
    program::ledger_desk* desk() noexcept { return desk_ ? &*desk_ : nullptr; }

    // A session whose message is answered when the ledger has caught up.
    class held {
      public:
        virtual ~held() = default;
        virtual void go_on() = 0;
    };
    void hold(held& one) { held_.push_back(&one); }
    void forget(held& one) { std::erase(held_, &one); }

    const plan& of_run;

  private:
    void let_go() {
        for (held* one : std::exchange(held_, {})) {
            one->go_on();
        }
    }

    std::optional<program::ledger_desk> desk_;
    std::vector<held*> held_;
    std::vector<std::unique_ptr<mail::message_checker>> spare_;
};

}  // namespace postal::bhm
