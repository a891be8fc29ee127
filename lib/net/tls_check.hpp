// SPDX-License-Identifier: GPL-3.0-or-later
// Whether TLS works at all. A library that met with want of memory when it was first used may fail
// for good: OpenSSL's parts are set up once, and what failed then is never tried again.
//
// So each context of make_tls_context() has shaken hands with itself before anybody gets it. And
// after a handshake that the library itself broke off (reason "resources": the peer is not to
// blame) it does so again.
#pragma once

#include <optional>
#include <string>

#include "net/fault.hpp"
#include "net/tls.hpp"

namespace postal::net {

// Why the library cannot even shake hands with itself, in its own words. Nothing when it can, or
// when the settings are such that nobody agrees with them. From any thread; of a context of
// make_tls_context().
std::optional<std::string> why_broken(const tls_context& context);

// After a handshake that failed like this. Throws std::runtime_error, which ends the run with
// status 2, when no other can succeed.
void end_if_broken(const tls_context& context, fault why, const tls_problem& problem);

}  // namespace postal::net
