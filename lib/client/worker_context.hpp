// SPDX-License-Identifier: GPL-3.0-or-later
// What the client sessions of one worker share: the way to tickets, the buffer that is read into,
// local addresses.
//
// One thread's own; nothing in it is locked. What stands in `inbox` belongs to the session that
// runs at the moment.
#pragma once

#include <array>
#include <cstddef>
#include <optional>

#include "client/load_plan.hpp"
#include "load/turnstile.hpp"
#include "load/watched.hpp"
#include "load/worker.hpp"
#include "sasl/context.hpp"

namespace postal::client {

struct worker_context final : load::watched {
    static constexpr std::size_t inbox_size = 64 * 1024;

    // Both must outlive it.
    worker_context(load_plan& of, load::worker& worker)
        : of_run(of),
          own(worker),
          gate(worker, of.tickets, of.pacing()),
          next_local_(of.share.number(worker.index())) {
        if (of.auth.chosen.wanted()) sasl.emplace();
        own.watch(*this);
    }

    // Looks, with every tick, whether all that was due has begun: then the run stops like any
    // other.
    void on_deadline() override {
        gate.over() ? own.stop(load::stop_kind::gently) : set_deadline(own.stopped_at());
    }
    void on_trial(const load::trial& next) override {
        if (next.only_ends) return gate.drop_due();
        gate.extend(next.times.begin, next.times.end() - next.times.begin, next.messages);
    }
    void on_stop(load::stop_kind how) override {
        if (how != load::stop_kind::finish_due) return gate.stop();
        gate.finish_due();
        set_deadline(own.stopped_at());
    }

    // The next local address in turn, if the user has given any.
    std::optional<net::address> next_local_address() noexcept {
        const auto& all = of_run.local_addresses;
        if (all.empty()) return std::nullopt;
        return all[next_local_++ % all.size()];
    }

    stats::tally& counts() noexcept { return own.tally(); }

    load_plan& of_run;
    load::worker& own;
    load::turnstile gate;
    std::optional<sasl::context> sasl;  // with --auth only
    std::array<char, inbox_size> inbox{};

  private:
    std::uint64_t next_local_;
};

}  // namespace postal::client
