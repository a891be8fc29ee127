// SPDX-License-Identifier: GPL-3.0-or-later
// The options about TLS, which mean the same in every program, and what becomes of them.
//
// Flow: client_tls chosen; groups.push_back(client_tls_group(chosen)); ... parse ...;
//       check(chosen); auto made = make_security(chosen);
//
// Failures are one line that names the option.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/options.hpp"
#include "client/load_plan.hpp"
#include "net/tls.hpp"

namespace postal::program {
class run_console;
}

namespace postal::program {

struct client_tls {
    net::tls_settings settings;
    std::optional<unsigned> percent;       // -s
    std::optional<client::tls_mode> mode;  // --tls
    unsigned resume_percent = 0;
    std::string server_name;
    std::string needs_tls;  // the first option that was given and means nothing without TLS

    unsigned share() const noexcept { return percent.value_or(mode ? 100 : 0); }
    bool wanted() const noexcept { return share() > 0; }
    bool implicit() const noexcept { return wanted() && mode == client::tls_mode::implicit; }
};

cli::group client_tls_group(client_tls& target);
base::expected<void> check(const client_tls& chosen);
// With verification each server must have a name.
base::expected<void> check_names(const client_tls& chosen,
                                 const std::vector<client::target>& servers);
// Without TLS it holds no context.
base::expected<client::security> make_security(const client_tls& chosen);

struct server_tls {
    server_tls() { settings.role = net::tls_role::server; }

    net::tls_settings settings;
    bool offered = false;             // -s: STARTTLS
    std::vector<std::string> listen;  // --listen-tls: where clients begin with TLS
    bool required = false;            // --require-tls
    std::string needs_tls;            // as above

    bool wanted() const noexcept { return offered || !listen.empty(); }
};

cli::group server_tls_group(server_tls& target);
base::expected<void> check(const server_tls& chosen);

// Says so once when servers' certificates are not verified.
void say_unverified(run_console& console, const client_tls& chosen);
// Says the fingerprint of a certificate that was made at the start.
void say_fingerprint(run_console& console, const server_tls& chosen, const net::tls_context* made);

// For --version: "OpenSSL 3.0.15, GnuTLS 3.7.9", or "not built in".
std::string tls_libraries();

}  // namespace postal::program
