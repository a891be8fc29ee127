// What bhm's sessions of one worker share beside a server's room: the plan, spare checkers, and
// what is kept of messages for the ledger.
#pragma once

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "bhm/plan.hpp"
#include "ledger/evidence.hpp"
#include "mail/message_checker.hpp"
#include "mail/rebuild.hpp"
#include "program/ledger.hpp"
#include "sasl/context.hpp"
#include "sasl/server.hpp"
#include "serve/room.hpp"

namespace postal::bhm {

struct room : serve::room {
    // Without a ledger `book` is null.
    room(const plan& run, serve::reception& front, load::worker& worker, ledger::writer* book)
        : serve::room(run.rules, front, worker), of_run(run) {
        if (!run.chosen.auth.empty()) {
            sasl.emplace();
            passwords = [&run](std::string_view user) { return run.valid.password(user); };
        }
        if (book == nullptr) return;
        desk_.emplace(*book, worker, [this](bool keeps_up) {
            if (keeps_up) let_go();
        });
    }

    // What a message is looked at with: the checker, and with a ledger what is kept to say how it
    // differs. Lent from the beginning of a message to its end, so that an idle session holds none.
    struct examination {
        explicit examination(ledger::evidence_room& all) : kept(all) {}
        mail::message_checker checker;
        ledger::evidence kept;
    };
    std::unique_ptr<examination> lend_examination() {
        if (spare_.empty()) return std::make_unique<examination>(evidence_);
        auto one = std::move(spare_.back());
        spare_.pop_back();
        return one;
    }
    void take_back(std::unique_ptr<examination> one) {
        one->checker.reset();
        one->kept.end();
        spare_.push_back(std::move(one));
    }
    mail::body_rebuilder& rebuilder() noexcept { return rebuilder_; }

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
    std::optional<sasl::context> sasl;  // with --auth only
    sasl::password_of passwords;

  private:
    void let_go() {
        for (held* one : std::exchange(held_, {})) {
            one->go_on();
        }
    }

    std::optional<program::ledger_desk> desk_;
    std::vector<held*> held_;
    ledger::evidence_room evidence_;
    std::vector<std::unique_ptr<examination>> spare_;
    mail::body_rebuilder rebuilder_{ledger::evidence::most_remade};
};

}  // namespace postal::bhm
