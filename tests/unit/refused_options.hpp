// SPDX-License-Identifier: GPL-3.0-or-later
// What the tests of refused command lines share: a table of words and of what the one line must
// name, and the rows about TLS, which are the same in all programs.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

namespace refused_options {

using words = std::vector<std::string>;

struct row {
    words given;
    words named;  // in the refusal
};

// The line with which a program refuses these words before it opens anything; empty: it does not.
template <typename Options, typename Parse, typename MakePlan>
std::string refusal(Parse parse_options, MakePlan make_plan, const words& given) {
    Options chosen;
    const auto parsed = parse_options(chosen, given);
    if (!parsed) return parsed.error().message;
    const auto made = make_plan(std::move(chosen));
    return made ? std::string() : made.error().message;
}

// refuse(words) as above.
template <typename Refuse>
void check(const std::vector<row>& table, Refuse refuse) {
    for (const row& one : table) {
        CAPTURE(one.given);
        const std::string line = refuse(one.given);
        CHECK_FALSE(line.empty());
        CHECK(line.find('\n') == std::string::npos);
        for (const std::string& name : one.named) {
            CHECK_THAT(line, Catch::Contains(name));
        }
    }
}

// -s is a flag of servers, and a percentage of clients.
inline std::vector<row> for_clients(std::vector<row> table) {
    for (row& one : table) {
        const auto found = std::find(one.given.begin(), one.given.end(), "-s");
        if (found != one.given.end()) one.given.insert(found + 1, "100");
    }
    return table;
}

inline std::vector<row> tls_of_all() {
    return {
        {{"--tls-min", "1.2"}, {"--tls-min", "without TLS"}},
        {{"--tls-backend", "gnutls"}, {"--tls-backend", "without TLS"}},
        {{"--tls-crl", "/nowhere"}, {"--tls-crl"}},
        {{"-s", "--tls-min", "1.3", "--tls-max", "1.2"}, {"--tls-min", "--tls-max"}},
        {{"-s", "--tls-min", "1.1"}, {"--tls-min", "1.1"}},
        {{"-s", "--tls-max", "1.4"}, {"--tls-max", "1.4"}},
        {{"-s", "--tls-backend", "schannel"}, {"--tls-backend", "schannel", "openssl", "gnutls"}},
        {{"-s", "--tls-ciphers", "ROT-13"}, {"--tls-ciphers"}},
        {{"-s", "--tls-ciphers", "AES-128-GCM:ROT-13"}, {"--tls-ciphers"}},
        {{"-s", "--tls-groups", "P-17"}, {"--tls-groups"}},
        {{"-s", "--tls-backend", "gnutls", "--tls-ciphers", "ROT-13"}, {"--tls-ciphers"}},
        {{"-s", "--tls-backend", "gnutls", "--tls-ciphers", "AES-128-GCM:ROT-13"},
         {"--tls-ciphers"}},
        {{"-s", "--tls-backend", "gnutls", "--tls-groups", "P-17"}, {"--tls-groups"}},
    };
}

inline std::vector<row> tls_of_clients() {
    return {
        {{"--tls-ca", "/nowhere"}, {"--tls-ca", "without TLS"}},
        {{"--tls-verify", "on"}, {"--tls-verify", "without TLS"}},
        {{"--tls-resume", "50"}, {"--tls-resume", "without TLS"}},
        {{"-s", "0", "--tls-sni", "x"}, {"--tls-sni", "without TLS"}},
        {{"-s", "50", "--tls", "implicit"}, {"--tls", "implicit"}},
        {{"--tls", "always"}, {"--tls", "always"}},
        {{"-s", "100", "--tls-verify", "maybe"}, {"--tls-verify", "maybe"}},
        {{"-s", "100", "--tls-ca", "/nowhere"}, {"--tls-ca", "--tls-verify on"}},
        {{"-s", "100", "--tls-resume", "101"}, {"--tls-resume", "101"}},
        {{"-s", "100", "--tls-early-data", "on"}, {"--tls-early-data"}},
        {{"-s", "100", "--tls-key", "/nowhere"}, {"--tls-key", "--tls-cert"}},
    };
}

inline std::vector<row> tls_of_servers() {
    return {
        {{"--require-tls"}, {"--require-tls", "without TLS"}},
        {{"--tls-cert", "/nowhere"}, {"--tls-cert", "without TLS"}},
        {{"--tls-client-ca", "/nowhere"}, {"--tls-client-ca", "without TLS"}},
        {{"-s", "--tls-crl", "/nowhere"}, {"--tls-crl", "--tls-client-ca"}},
        {{"-s", "--tls-key", "/nowhere"}, {"--tls-key", "--tls-cert"}},
        {{"-s", "--listen-tls", "127.0.0.1:99999"}, {"--listen-tls", "99999"}},
    };
}

}  // namespace refused_options
