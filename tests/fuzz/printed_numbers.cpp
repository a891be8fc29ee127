// SPDX-License-Identifier: GPL-3.0-or-later
// sampling/printed_numbers.hpp and choice.hpp: what a sampled command prints, and what it is told
// by.
#include <cstdlib>
#include <string_view>

#include "sampling/choice.hpp"
#include "sampling/printed_numbers.hpp"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
    using namespace postal;
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    if (const auto read = sampling::read_numbers(text, "name")) {
        if (read->empty() || read->size() > stats::sample_history::most_figures) std::abort();
        for (const auto& one : *read)
            if (!(one.value >= 0) || one.name.size() > 70) std::abort();
    }
    static_cast<void>(sampling::parse_queue(text));
    if (const auto read = sampling::parse_sample(text); read && read->words.empty()) std::abort();
    return 0;
}
