// SPDX-License-Identifier: GPL-3.0-or-later
#include "program/tls_options.hpp"

#include <utility>
#include <vector>

#include "cli/binders.hpp"
#include "program/run_console.hpp"

namespace postal::program {
namespace {

using base::expected;
using cli::setter;
using net::tls_backend;
using net::tls_version;

// Remembers that an option was given which means nothing without TLS.
setter noted(std::string& first, std::string name, setter inner) {
    return [&first, name = std::move(name), inner = std::move(inner)](const std::string& given) {
        if (first.empty()) first = name;
        return inner(given);
    };
}

setter backend_option(tls_backend& target) {
    return [&target](const std::string& given) -> expected<void> {
        std::vector<std::string> known;
        for (const tls_backend one : net::tls_backends()) {
            known.emplace_back(net::to_text(one));
            if (given != known.back()) continue;
            target = one;
            return {};
        }
        const bool left_out = given == net::to_text(tls_backend::openssl) ||
                              given == net::to_text(tls_backend::gnutls);
        if (left_out && known.empty()) return base::fail("this program was built without TLS");
        if (left_out) {
            return base::fail("this program was built without {}; give {}", given, known.front());
        }
        return cli::not_a_choice(given, known);
    };
}

setter version_option(tls_version& target) {
    return cli::choice(target, {{"1.2", tls_version::tls12}, {"1.3", tls_version::tls13}});
}

std::vector<cli::option> shared_rows(net::tls_settings& settings, std::string& needs) {
    if (!net::tls_backends().empty()) settings.backend = net::tls_backends().front();
    const auto row = [&needs](std::string name, std::string value, std::string standard,
                              std::string help, setter set) -> cli::option {
        return {name, std::move(value), std::move(standard), std::move(help),
                noted(needs, name, std::move(set))};
    };
    return {
        row("--tls-backend", "openssl|gnutls", std::string(net::to_text(settings.backend)),
            "the library", backend_option(settings.backend)),
        row("--tls-min", "1.2|1.3", "1.2", "oldest version", version_option(settings.least)),
        row("--tls-max", "1.2|1.3", "1.3", "newest version", version_option(settings.most)),
        row("--tls-ciphers", "NAME[:NAME...]", "",
            "AES-128-GCM, AES-256-GCM, CHACHA20-POLY1305, or the library's own words "
            "(the library's choice, if not given)",
            cli::text(settings.ciphers)),
        row("--tls-groups", "NAME[:NAME...]", "",
            "key exchange: X25519, X448, P-256, P-384, P-521, or the library's own words "
            "(the library's choice, if not given)",
            cli::text(settings.groups)),
        row("--tls-crl", "FILE", "", "revocation lists, PEM", cli::text(settings.revoked)),
    };
}

expected<void> check(const net::tls_settings& settings, bool wanted, const std::string& needs,
                     std::string_view how) {
    if (!wanted && !needs.empty()) {
        return base::fail("{}: means nothing without TLS; give {} too", needs, how);
    }
    if (wanted && net::tls_backends().empty()) {
        return base::fail("-s: this program was built without TLS");
    }
    if (settings.least > settings.most) {
        return base::fail("--tls-min: 1.3 is above --tls-max 1.2; give a lower one");
    }
    if (!settings.key.empty() && settings.certificate.empty()) {
        return base::fail("--tls-key: needs --tls-cert too");
    }
    return {};
}

}  // namespace

cli::group client_tls_group(client_tls& o) {
    std::string& needs = o.needs_tls;
    cli::group group{
        "TLS",
        {{"-s,--ssl-percent", "PERCENT", "0",
          "share of connections with TLS (100 with --tls alone)", cli::percent(o.percent)},
         {"--tls", "starttls|implicit", "starttls",
          "begin with STARTTLS (STLS) or with TLS at once",
          cli::choice(o.mode, {{"starttls", client::tls_mode::starttls},
                               {"implicit", client::tls_mode::implicit}})}}};
    for (cli::option& one : shared_rows(o.settings, needs))
        group.options.push_back(std::move(one));
    const std::vector<cli::option> own{
        {"--tls-verify", "off|on", "off", "refuse servers whose certificate or name is not right",
         noted(needs, "--tls-verify",
               cli::choice(o.settings.verify, {{"off", false}, {"on", true}}))},
        {"--tls-ca", "FILE", "the system's", "authorities to trust, PEM",
         noted(needs, "--tls-ca", cli::text(o.settings.authorities))},
        {"--tls-cert", "FILE", "", "certificate to show to servers, PEM",
         noted(needs, "--tls-cert", cli::text(o.settings.certificate))},
        {"--tls-key", "FILE", "", "its key (in the file of --tls-cert, if not given)",
         noted(needs, "--tls-key", cli::text(o.settings.key))},
        {"--tls-resume", "PERCENT", "0", "share of TLS connections that resume a session",
         noted(needs, "--tls-resume", cli::percent(o.resume_percent))},
        {"--tls-sni", "NAME", "the server's host", "name to ask for and to check",
         noted(needs, "--tls-sni", cli::text(o.server_name))},
        {"--tls-early-data", "off", "off",
         "never send early data, which a server might be given twice",
         noted(needs, "--tls-early-data",
               [](const std::string& given) -> expected<void> {
                   if (given == "off") return {};
                   return base::fail(
                       "\"{}\" cannot be; early data may be delivered twice, so there is "
                       "only off",
                       given);
               })},
    };
    group.options.insert(group.options.end(), own.begin(), own.end());
    return group;
}

expected<void> check(const client_tls& chosen) {
    auto fine = check(chosen.settings, chosen.wanted(), chosen.needs_tls, "-s or --tls");
    if (!fine) return fine.error();
    if (chosen.implicit() && chosen.share() < 100) {
        return base::fail("--tls: implicit TLS is for whole ports; leave -s out, or give -s 100");
    }
    const net::tls_settings& settings = chosen.settings;
    if (!settings.verify && !(settings.authorities.empty() && settings.revoked.empty())) {
        return base::fail("{}: needs --tls-verify on",
                          settings.authorities.empty() ? "--tls-crl" : "--tls-ca");
    }
    return {};
}

expected<void> check_names(const client_tls& chosen, const std::vector<client::target>& servers) {
    if (!chosen.wanted() || !chosen.settings.verify || !chosen.server_name.empty()) return {};
    for (const client::target& one : servers) {
        if (!one.where.is_unix()) continue;
        return base::fail("--tls-verify: {} has no name to check; give one with --tls-sni",
                          one.where.text);
    }
    return {};
}

expected<client::security> make_security(const client_tls& chosen) {
    client::security made;
    if (!chosen.wanted()) return made;
    net::tls_settings settings = chosen.settings;
    settings.keep_tickets = chosen.resume_percent > 0;
    auto context = net::make_tls_context(settings);
    if (!context) return context.error();
    made.context = std::move(*context);
    made.mode = chosen.mode.value_or(client::tls_mode::starttls);
    made.percent = chosen.share();
    made.resume_percent = chosen.resume_percent;
    made.server_name = chosen.server_name;
    return made;
}

cli::group server_tls_group(server_tls& o) {
    std::string& needs = o.needs_tls;
    cli::group group{
        "TLS",
        {{"-s,--ssl", "", "",
          "offer STARTTLS; without --tls-cert a certificate is made at the start",
          cli::flag(o.offered)},
         {"--listen-tls", "ENDPOINT", "", "like --listen, for clients that begin with TLS",
          cli::texts(o.listen), true},
         {"--require-tls", "", "", "refuse mail over connections without TLS",
          noted(needs, "--require-tls", cli::flag(o.required))},
         {"--tls-cert", "FILE", "", "certificate and chain, PEM",
          noted(needs, "--tls-cert", cli::text(o.settings.certificate))},
         {"--tls-key", "FILE", "", "its key (in the file of --tls-cert, if not given)",
          noted(needs, "--tls-key", cli::text(o.settings.key))},
         {"--tls-client-ca", "FILE", "",
          "ask clients for certificates, and refuse those that these authorities have not signed",
          noted(needs, "--tls-client-ca", cli::text(o.settings.authorities))}}};
    for (cli::option& one : shared_rows(o.settings, needs))
        group.options.push_back(std::move(one));
    return group;
}

expected<void> check(const server_tls& chosen) {
    if (!chosen.settings.revoked.empty() && chosen.settings.authorities.empty()) {
        return base::fail("--tls-crl: needs --tls-client-ca");
    }
    return check(chosen.settings, chosen.wanted(), chosen.needs_tls, "-s or --listen-tls");
}

void say_unverified(run_console& console, const client_tls& chosen) {
    if (!chosen.wanted() || chosen.settings.verify) return;
    console.say("TLS: certificates are not verified; --tls-verify on does that");
}

void say_fingerprint(run_console& console, const server_tls& chosen, const net::tls_context* made) {
    if (made == nullptr || !chosen.settings.certificate.empty()) return;
    console.say("TLS with a certificate of its own, SHA-256 " + made->fingerprint());
}

std::string tls_libraries() {
    std::string text;
    for (const tls_backend one : net::tls_backends())
        text += (text.empty() ? "" : ", ") + net::tls_library(one);
    return text.empty() ? "not built in" : text;
}

}  // namespace postal::program
