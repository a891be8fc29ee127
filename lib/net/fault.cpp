// SPDX-License-Identifier: GPL-3.0-or-later
#include "net/fault.hpp"

#include "base/error_names.hpp"

#include <boost/asio/error.hpp>

#include <algorithm>
#include <array>

#include <cerrno>

namespace postal::net {

namespace {

struct row {
    int number;
    fault why;
};

constexpr std::array system_errors{
    row{ECONNREFUSED, fault::refused},
    row{ENOENT, fault::refused},
    row{ECONNRESET, fault::reset},
    row{EPIPE, fault::reset},
    row{ECONNABORTED, fault::reset},
    row{ENOTCONN, fault::reset},
    row{ETIMEDOUT, fault::timeout},
    row{EHOSTUNREACH, fault::unreachable},
    row{ENETUNREACH, fault::unreachable},
    row{ENETDOWN, fault::unreachable},
    row{EHOSTDOWN, fault::unreachable},
    row{EADDRNOTAVAIL, fault::local_address},
    row{EADDRINUSE, fault::local_address},
    row{EMFILE, fault::resources},
    row{ENFILE, fault::resources},
    row{ENOBUFS, fault::resources},
    row{ENOMEM, fault::resources},
    row{EAGAIN, fault::refused},  // a Unix socket whose queue is full
};

constexpr std::array<std::string_view, 14> names{
    "none",        "timeout",       "closed",    "reset",   "refused", "unreachable", "unresolved",
    "not_allowed", "local_address", "resources", "stopped", "tls",     "truncated",   "other"};

static_assert(std::all_of(names.begin() + 1, names.end(), base::is_error_reason));

}  // namespace

fault classify(const boost::system::error_code& error, cancelled_by who) noexcept {
    if (!error) return fault::none;
    if (who == cancelled_by::deadline) return fault::timeout;
    if (who == cancelled_by::stop) return fault::stopped;
    if (error == boost::asio::error::eof) return fault::closed;
    if (error.category() == boost::asio::error::get_netdb_category() ||
        error.category() == boost::asio::error::get_addrinfo_category()) {
        return fault::unresolved;
    }
    for (const row& one : system_errors) {
        if (error.value() == one.number) return one.why;
    }
    return fault::other;
}

std::string_view to_text(fault why) noexcept {
    return names[static_cast<std::size_t>(why)];
}

}  // namespace postal::net
