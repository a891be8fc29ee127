// SPDX-License-Identifier: GPL-3.0-or-later
#include "postal/worker_context.hpp"

namespace postal::sender {

worker_context::worker_context(plan& of, load::worker& worker, ledger::writer* book)
    : of_run(of),
      shared(of.load, worker),
      maker(of),
      book_(book),
      outcomes(worker.tally(),
               book != nullptr ? &entries_.emplace(of, static_cast<sent_rows&>(*this)) : nullptr,
               of.chosen.lmtp) {
    if (of.samples) {
        outcomes.sample(sample_feed_.emplace(*of.samples, worker, [this](bool keeps_up) {
            samples_behind_ = !keeps_up;
            wait_for_files();
        }));
    }
    if (book == nullptr) return;
    ledger_feed_.emplace(*book, worker, [this](bool keeps_up) {
        ledger_behind_ = !keeps_up;
        wait_for_files();
    });
}

void worker_context::compare_clocks(load::steady_time now) {
    using namespace std::chrono;
    compared_at_ = now;
    wall_ahead_ = system_clock::now().time_since_epoch() - steady_clock::now().time_since_epoch();
}

}  // namespace postal::sender
