// SPDX-License-Identifier: GPL-3.0-or-later
// cluster/words.hpp: what another rank sends may be anything. What is read is the same word when it
// is written again, and a time slice that is read can be merged and asked for its percentiles.
#include "cluster/words.hpp"

#include <cstdlib>
#include <string_view>
#include <variant>

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
    using namespace postal;
    constexpr std::size_t phases = 2;
    const auto got = cluster::decode({reinterpret_cast<const char*>(data), size}, phases);
    if (!got) return 0;
    const std::string octets = cluster::encode(*got);
    const auto again = cluster::decode(octets, phases);
    if (!again || again->index() != got->index() || cluster::encode(*again) != octets) std::abort();
    const auto* part = std::get_if<cluster::counted>(&*got);
    if (part == nullptr) return 0;
    stats::time_slice twice = part->slice;
    twice.merge(part->slice);
    for (const stats::histogram& phase : twice.counts.latency)
        for (const double q : {0.0, 0.5, 1.0})
            if (phase.quantile(q) < phase.min() || phase.quantile(q) > phase.max()) std::abort();
    if (twice.counts.latency[0].count() != 2 * part->slice.counts.latency[0].count()) std::abort();
    twice.counts.clear();
    if (!twice.counts.latency[1].buckets().empty()) std::abort();
    return 0;
}
