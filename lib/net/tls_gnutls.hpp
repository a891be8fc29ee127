// SPDX-License-Identifier: GPL-3.0-or-later
// What the files about GnuTLS share; private to lib/net.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <utility>

#include <gnutls/gnutls.h>

#include "net/tls_backend.hpp"

namespace postal::net::gnutls {

using owned_credentials =
    owned<gnutls_certificate_credentials_t, gnutls_certificate_free_credentials>;
using owned_priorities = owned<gnutls_priority_t, gnutls_priority_deinit>;

// What the library allocates for us is freed by it.
struct datum {
    datum() = default;
    datum(const datum&) = delete;
    datum& operator=(const datum&) = delete;
    datum(datum&& other) noexcept : own(std::exchange(other.own, {nullptr, 0})) {}
    ~datum() { gnutls_free(own.data); }
    gnutls_datum_t own{nullptr, 0};
};

struct group_row {
    std::string_view name;      // IANA's (RFC 8446 4.2.7)
    std::string_view portable;  // as in --tls-groups
    std::string_view priority;  // "GROUP-" and GnuTLS' own name
};
inline constexpr std::array groups{
    group_row{"x25519", "X25519", "GROUP-X25519"},
    group_row{"x448", "X448", "GROUP-X448"},
    group_row{"secp256r1", "P-256", "GROUP-SECP256R1"},
    group_row{"secp384r1", "P-384", "GROUP-SECP384R1"},
    group_row{"secp521r1", "P-521", "GROUP-SECP521R1"},
};

// What a context consists of, as the settings have it.
struct parts {
    owned_credentials credentials;
    owned_priorities priorities;
    datum ticket_key;         // of servers
    std::string fingerprint;  // SHA-256 of a server's own certificate
};

// Fails with a line that names the option. Servers without a certificate get one of our making.
base::expected<parts> make_parts(const tls_settings& settings);

}  // namespace postal::net::gnutls
