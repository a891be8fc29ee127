// SPDX-License-Identifier: GPL-3.0-or-later
#include "stats/tls_counts.hpp"

namespace postal::stats {

void tls_counts::add(const tls_handshake& one) {
    ++(one.resumed ? resumed : full);
    versions.add(one.version);
    ciphers.add(one.cipher);
    if (!one.group.empty()) groups.add(one.group);
    if (!one.verification.empty()) verifications.add(one.verification);
}

void tls_counts::merge(const tls_counts& other) {
    full += other.full;
    resumed += other.resumed;
    versions.merge(other.versions);
    ciphers.merge(other.ciphers);
    groups.merge(other.groups);
    verifications.merge(other.verifications);
}

void tls_counts::clear() noexcept {
    full = resumed = 0;
    versions.clear();
    ciphers.clear();
    groups.clear();
    verifications.clear();
}

}  // namespace postal::stats
