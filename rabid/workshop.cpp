#include "rabid/workshop.hpp"

namespace postal::rabid {
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
      factory_(of.appends),
      next_local_(worker.index()) {
    if (of.auth.chosen.wanted()) sasl.emplace();
    if (book != nullptr) desk_.emplace(*book, worker, [](bool) {});
    own.watch(*this);
}

// What was due by now and found no session stays in the books, so that an open loop hides nothing.
void workshop::on_stop(load::stop_kind) {
    if (!gate.stopped() && of_run.chosen.open_loop) {
        own.tally().not_started += gate.overdue(std::chrono::steady_clock::now());
    }
    gate.stop();
}

workshop::made_message workshop::make_message(const account& whose) {
    const std::string_view to = whose.address;
    made_message result;
    result.sequence = appended_++;
    factory_.make({.session = own.index(),
                   .sequence = result.sequence,
                   .from = to,
                   .recipients = {&to, 1},
                   .now = std::chrono::system_clock::now()},
                  made_);
    for (const std::string_view part : made_.raw_parts())
        result.text += part;
    return result;
}

void workshop::note_appended(const account& whose, const made_message& what,
                             ledger::outcome outcome) {
    if (page() == nullptr) return;
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    ledger::sent_row row;
    row.session = own.index();
    row.sequence = what.sequence;
    row.time_us = static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::microseconds>(now).count());
    row.recipient = row.sender = page()->address(whose.address);
    row.what = outcome;
    page()->add(row);
}

std::optional<net::address> workshop::next_local_address() noexcept {
    const auto& all = of_run.local_addresses;
    if (all.empty()) return std::nullopt;
    return all[next_local_++ % all.size()];
}

}  // namespace postal::rabid
