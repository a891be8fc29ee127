// SPDX-License-Identifier: GPL-3.0-or-later
// What the TLS handshakes of one time slice agreed on. A part of tally that stays empty without
// TLS. Failed handshakes are errors at the stage "tls", not counted here. Nothing fails.
#pragma once

#include <cstdint>
#include <string_view>

#include "stats/named_counts.hpp"

namespace postal::stats {

struct tls_handshake {
    std::string_view version;
    std::string_view cipher;
    std::string_view group;         // empty: no key was exchanged
    std::string_view verification;  // empty: no certificate was asked for
    bool resumed = false;
};

struct tls_counts {
    std::uint64_t full = 0;
    std::uint64_t resumed = 0;
    named_counts versions;
    named_counts ciphers;
    named_counts groups;
    named_counts verifications;

    void add(const tls_handshake& one);
    void merge(const tls_counts& other);
    // Back to zero, keeping the memory.
    void clear() noexcept;
};

}  // namespace postal::stats
