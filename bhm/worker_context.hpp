// SPDX-License-Identifier: GPL-3.0-or-later
// What bhm's sessions of one worker share beside a server's context: the plan, spare examinations,
// what logging in needs, what is kept of messages for the ledger, and who sends bounces.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "bhm/bouncer.hpp"
#include "bhm/plan.hpp"
#include "ledger/examination.hpp"
#include "mail/rebuild.hpp"
#include "program/run_ledger.hpp"
#include "sasl/context.hpp"
#include "sasl/server.hpp"
#include "serve/worker_context.hpp"

namespace postal::bhm {

struct worker_context : serve::worker_context {
    // Without a ledger `book` is null.
    worker_context(const plan& run, load::worker& worker, ledger::writer* book)
        : serve::worker_context(run.rules, worker), of_run(run) {
        if (!run.chosen.auth.empty()) {
            sasl.emplace();
            passwords = [&run](std::string_view user) { return run.valid.password(user); };
        }
        if (run.delivery.bounces) bounces.emplace(*run.delivery.bounces, worker);
        if (book == nullptr) return;
        ledger_feed_.emplace(*book, worker, [this](bool keeps_up) {
            if (keeps_up) let_go();
        });
    }

    // Lent from the beginning of a message to its end, so that an idle session holds none.
    std::unique_ptr<ledger::examination> lend_examination() {
        if (spare_.empty()) return std::make_unique<ledger::examination>(evidence_);
        auto one = std::move(spare_.back());
        spare_.pop_back();
        return one;
    }
    void take_back(std::unique_ptr<ledger::examination> one) {
        one->reset();
        spare_.push_back(std::move(one));
    }
    mail::body_rebuilder& rebuilder() noexcept { return rebuilder_; }

    // Null without a ledger.
    program::ledger_feed* ledger_feed() noexcept { return ledger_feed_ ? &*ledger_feed_ : nullptr; }

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
    std::optional<bouncer> bounces;  // where users have b

  private:
    void let_go() {
        for (held* one : std::exchange(held_, {})) {
            one->go_on();
        }
    }

    std::optional<program::ledger_feed> ledger_feed_;
    std::vector<held*> held_;
    ledger::evidence_memory evidence_{ledger::evidence_memory::of_process / own.of()};
    std::vector<std::unique_ptr<ledger::examination>> spare_;
    mail::body_rebuilder rebuilder_{ledger::evidence::most_remade};
};

}  // namespace postal::bhm
