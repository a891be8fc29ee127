#include "client/worker_context.hpp"

namespace postal::client {

worker_context::worker_context(load_plan& of, load::worker& worker)
    : of_run(of), own(worker), gate(worker, of.tickets, of.pacing()), next_local_(worker.index()) {
    if (of.auth.chosen.wanted()) sasl.emplace();
    own.watch(*this);
}

std::optional<net::address> worker_context::next_local_address() noexcept {
    const auto& all = of_run.local_addresses;
    if (all.empty()) return std::nullopt;
    return all[next_local_++ % all.size()];
}

}  // namespace postal::client
