#include "postal/worker_context.hpp"

namespace postal {

worker_context::worker_context(plan& of, load::worker& worker, ledger::writer* book)
    : of_run(of),
      shared(of.load, worker),
      maker(of),
      book_(book),
      outcomes(worker.tally(),
               book != nullptr ? &entries_.emplace(of, static_cast<sent_rows&>(*this)) : nullptr,
               of.chosen.lmtp) {
    if (book == nullptr) return;
    ledger_feed_.emplace(*book, worker,
                         [this](bool keeps_up) { shared.gate.hold_shut(!keeps_up); });
}

// The two clocks are compared once a second, so that a stepped wall clock is followed.
moment worker_context::at(load::steady_time now) {
    using namespace std::chrono;
    if (now - compared_at_ > seconds(1)) {
        compared_at_ = now;
        wall_ahead_ =
            system_clock::now().time_since_epoch() - steady_clock::now().time_since_epoch();
    }
    return {now, now.time_since_epoch() + wall_ahead_};
}

}  // namespace postal
