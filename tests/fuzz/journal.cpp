// SPDX-License-Identifier: GPL-3.0-or-later
// experiment/journal.hpp: a journal may be anything, and cut anywhere.
#include "experiment/journal.hpp"

#include <cstdlib>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
    using postal::experiment::parse_journal;
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const auto all = parse_journal(text, "journal.jsonl");
    if (!all) return 0;
    if (all->octets > size) std::abort();
    // What follows the last whole line says nothing; without its end that line says nothing either.
    const auto whole = parse_journal(text.substr(0, all->octets), "journal.jsonl");
    if (!whole || whole->left != all->left) std::abort();
    if (all->octets > 0 && !parse_journal(text.substr(0, all->octets - 1), "journal.jsonl"))
        std::abort();
    return 0;
}
