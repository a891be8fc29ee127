#include "postal/workshop.hpp"

namespace postal {

namespace {

std::optional<load::schedule> schedule_of(const plan& plan, const load::worker& worker) {
    if (!plan.rate) return std::nullopt;
    return load::schedule(*plan.rate, plan.chosen.arrival, plan.seed,
                          {worker.index(), worker.of()});
}

}  // namespace

workshop::workshop(plan& of, load::worker& worker, ledger::writer* book)
    : of_run(of),
      own(worker),
      gate(worker, schedule_of(of, worker), of.budget),
      source(of.make_source()),
      next_local_(worker.index()) {
    own.watch(*this);
    if (of.auth.chosen.wanted()) sasl.emplace();
    if (book == nullptr) return;
    desk_.emplace(*book, worker, [this](bool keeps_up) { gate.hold_shut(!keeps_up); });
    entries_.emplace(of, *book, *desk_);
}

// What was due by now and found no session stays in the books, so that an open loop hides nothing.
void workshop::on_stop(load::stop_kind) {
    if (!gate.stopped() && of_run.chosen.open_loop) {
        own.tally().not_started += gate.overdue(std::chrono::steady_clock::now());
    }
    gate.stop();
}

mail::message* workshop::lend() {
    if (spare_.empty()) {
        messages_.push_back(std::make_unique<mail::message>());
        return messages_.back().get();
    }
    mail::message* one = spare_.back();
    spare_.pop_back();
    return one;
}

// The two clocks are compared once a second, so that a stepped wall clock is followed.
std::chrono::system_clock::time_point workshop::wall_clock(load::steady_time now) {
    using std::chrono::system_clock;
    if (now - compared_at_ > std::chrono::seconds(1)) {
        compared_at_ = now;
        wall_ahead_ = system_clock::now().time_since_epoch() -
                      std::chrono::steady_clock::now().time_since_epoch();
    }
    return system_clock::time_point(
        std::chrono::duration_cast<system_clock::duration>(now.time_since_epoch() + wall_ahead_));
}

std::uint64_t workshop::wall_clock_us(load::steady_time now) {
    using std::chrono::microseconds;
    return static_cast<std::uint64_t>(
        std::chrono::duration_cast<microseconds>(wall_clock(now).time_since_epoch()).count());
}

std::optional<net::address> workshop::next_local_address() noexcept {
    const auto& all = of_run.local_addresses;
    if (all.empty()) return std::nullopt;
    return all[next_local_++ % all.size()];
}

}  // namespace postal
