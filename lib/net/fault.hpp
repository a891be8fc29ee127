// SPDX-License-Identifier: GPL-3.0-or-later
// Why a connection could not be made, or ended: the few reasons that the books know.
//
// classify() is the one place where operating system errors, deadlines and stops become these.
#pragma once

#include <boost/system/error_code.hpp>

#include <cstdint>
#include <string_view>

namespace postal::net {

enum class fault : std::uint8_t {
    none,
    timeout,        // the phase's deadline passed
    closed,         // the peer closed the connection
    reset,          // the peer reset it, or went away while we wrote
    refused,        // nothing listens there
    unreachable,    // no route, network or host down
    unresolved,     // the name has no address
    not_allowed,    // an address of the name is no test machine's: allowed_targets.hpp
    local_address,  // the local address or port could not be used
    resources,      // descriptors, buffers or ports ran out on this side
    stopped,        // we ended it: the run is over
    tls,            // TLS failed: connection::tls_problem() says how
    truncated,      // the peer closed a TLS connection without saying so in TLS (RFC 8446 6.1)
    other
};

// Who, if anybody on this side, cancelled the operation that failed.
enum class cancelled_by : std::uint8_t { nobody, deadline, stop };

fault classify(const boost::system::error_code& error, cancelled_by who) noexcept;

// The fault's name in records and logs: "timeout", "closed", ...
std::string_view to_text(fault why) noexcept;

}  // namespace postal::net
