// SPDX-License-Identifier: GPL-3.0-or-later
// What the files about OpenSSL share; private to lib/net.
#pragma once

#include <string>

#include <openssl/ssl.h>

#include "net/tls_backend.hpp"

namespace postal::net::openssl {

using owned_context = owned<SSL_CTX, SSL_CTX_free>;

// An error in the library's own words, the thread's oldest, from which the others came, if none is
// given; its queue is empty then.
std::string library_words(unsigned long code);
std::string library_words();

// Fails with a line that names the option. Servers without a certificate get one of our making.
base::expected<owned_context> make_context(const tls_settings& settings);

// SHA-256 of its own certificate, or empty.
std::string fingerprint_of(SSL_CTX* context);

}  // namespace postal::net::openssl
