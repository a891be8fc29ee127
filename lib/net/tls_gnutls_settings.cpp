// SPDX-License-Identifier: GPL-3.0-or-later
// GnuTLS' parts as the options have it: versions, ciphers, groups, certificates, trust.
#include <algorithm>
#include <array>
#include <cerrno>
#include <ctime>

#include <fmt/format.h>
#include <gnutls/crypto.h>
#include <gnutls/x509.h>
#include <unistd.h>

#include "net/tls_gnutls.hpp"

namespace postal::net::gnutls {

namespace {

using owned_certificate = owned<gnutls_x509_crt_t, gnutls_x509_crt_deinit>;
using owned_key = owned<gnutls_x509_privkey_t, gnutls_x509_privkey_deinit>;

std::string priority_words(const tls_settings& settings) {
    std::string words = "-VERS-ALL";
    if (settings.most == tls_version::tls13) words += ":+VERS-TLS1.3";
    if (settings.least == tls_version::tls12) words += ":+VERS-TLS1.2";
    if (!settings.ciphers.empty()) words += ":-CIPHER-ALL";
    for (const std::string_view word : words_of(settings.ciphers))
        words.append(":+").append(word);
    if (!settings.groups.empty()) words += ":-GROUP-ALL";
    for (const std::string_view word : words_of(settings.groups)) {
        const auto* known = std::find_if(groups.begin(), groups.end(), [&](const group_row& one) {
            return one.portable == word;
        });
        words.append(":+").append(known != groups.end() ? known->priority : word);
    }
    return words;
}

base::expected<void> set_priorities(parts& into, const tls_settings& settings) {
    const std::string words = priority_words(settings);
    gnutls_priority_t raw = nullptr;
    const char* where = nullptr;
    const int done =
        gnutls_priority_init2(&raw, words.c_str(), &where, GNUTLS_PRIORITY_INIT_DEF_APPEND);
    if (done != GNUTLS_E_SUCCESS) {
        const bool group = where != nullptr && std::string_view(where).starts_with("+GROUP");
        return base::fail("{}: GnuTLS does not know \"{}\"; see gnutls-cli --list",
                          group || settings.ciphers.empty() ? "--tls-groups" : "--tls-ciphers",
                          where != nullptr ? where : words);
    }
    into.priorities.reset(raw);
    return {};
}

// The library would only say that it could not read it.
base::expected<void> check_file(std::string_view option, const std::string& file) {
    if (file.empty() || access(file.c_str(), R_OK) == 0) return {};
    return base::fail("{}: {}: {}; give a PEM file", option, file, base::system_message(errno));
}

base::expected<void> set_own_certificate(parts& into, const tls_settings& settings) {
    if (settings.certificate.empty()) return {};
    const std::string& key = settings.key.empty() ? settings.certificate : settings.key;
    for (const std::string* file : {&settings.certificate, &key}) {
        auto there =
            check_file(file == &key && !settings.key.empty() ? "--tls-key" : "--tls-cert", *file);
        if (!there) return there.error();
    }
    const int done =
        gnutls_certificate_set_x509_key_file2(into.credentials.get(), settings.certificate.c_str(),
                                              key.c_str(), GNUTLS_X509_FMT_PEM, nullptr, 0);
    if (done >= 0) return {};
    return base::fail("{}: {} with {}: {}; give PEM files that belong together",
                      settings.key.empty() ? "--tls-cert" : "--tls-cert and --tls-key",
                      settings.certificate, key, gnutls_strerror(done));
}

base::expected<void> set_verification(parts& into, const tls_settings& settings) {
    if (!verifies(settings)) return {};
    const bool server = settings.role == tls_role::server;
    const char* option = server ? "--tls-client-ca" : "--tls-ca";
    for (const auto& [name, file] :
         {std::pair(option, &settings.authorities), std::pair("--tls-crl", &settings.revoked)}) {
        auto there = check_file(name, *file);
        if (!there) return there.error();
    }
    gnutls_certificate_credentials_t own = into.credentials.get();
    const int loaded = settings.authorities.empty()
                           ? gnutls_certificate_set_x509_system_trust(own)
                           : gnutls_certificate_set_x509_trust_file(
                                 own, settings.authorities.c_str(), GNUTLS_X509_FMT_PEM);
    if (loaded < 0 || (loaded == 0 && !settings.authorities.empty())) {
        return base::fail("{}: {}: {}; give a PEM file", option, settings.authorities,
                          loaded < 0 ? gnutls_strerror(loaded) : "no certificate in it");
    }
    if (settings.revoked.empty()) return {};
    const int lists =
        gnutls_certificate_set_x509_crl_file(own, settings.revoked.c_str(), GNUTLS_X509_FMT_PEM);
    if (lists > 0) return {};
    return base::fail("--tls-crl: {}: {}; give a PEM file", settings.revoked,
                      lists < 0 ? gnutls_strerror(lists) : "no list in it");
}

// ---- a certificate of our own making ----

int name_oneself(gnutls_x509_crt_t made) {
    const std::string host = own_host_name();
    gnutls_x509_crt_set_dn_by_oid(made, GNUTLS_OID_X520_COMMON_NAME, 0, host.data(),
                                  static_cast<unsigned>(host.size()));
    for (const std::string& name : {host, std::string("localhost")}) {
        gnutls_x509_crt_set_subject_alt_name(made, GNUTLS_SAN_DNSNAME, name.data(),
                                             static_cast<unsigned>(name.size()),
                                             GNUTLS_FSAN_APPEND);
    }
    constexpr std::array<unsigned char, 4> loopback{127, 0, 0, 1};
    constexpr std::array<unsigned char, 16> loopback6{0, 0, 0, 0, 0, 0, 0, 0,
                                                      0, 0, 0, 0, 0, 0, 0, 1};
    gnutls_x509_crt_set_subject_alt_name(made, GNUTLS_SAN_IPADDRESS, loopback.data(),
                                         loopback.size(), GNUTLS_FSAN_APPEND);
    return gnutls_x509_crt_set_subject_alt_name(made, GNUTLS_SAN_IPADDRESS, loopback6.data(),
                                                loopback6.size(), GNUTLS_FSAN_APPEND);
}

// 0, or an error of GnuTLS.
int make_certificate(parts& into) {
    gnutls_x509_privkey_t key = nullptr;
    gnutls_x509_crt_t made = nullptr;
    int done = gnutls_x509_privkey_init(&key);
    if (done != GNUTLS_E_SUCCESS) return done;
    const owned_key kept_key(key);
    done = gnutls_x509_crt_init(&made);
    if (done != GNUTLS_E_SUCCESS) return done;
    const owned_certificate kept(made);
    done = gnutls_x509_privkey_generate(key, GNUTLS_PK_ECDSA,
                                        GNUTLS_CURVE_TO_BITS(GNUTLS_ECC_CURVE_SECP256R1), 0);
    if (done != GNUTLS_E_SUCCESS) return done;
    std::array<unsigned char, 8> serial{};
    gnutls_rnd(GNUTLS_RND_NONCE, serial.data(), serial.size());
    serial[0] &= 0x7f;  // positive
    const std::time_t now = std::time(nullptr);
    gnutls_x509_crt_set_version(made, 3);
    gnutls_x509_crt_set_serial(made, serial.data(), serial.size());
    gnutls_x509_crt_set_activation_time(made, now - valid_before_s);
    gnutls_x509_crt_set_expiration_time(made, now + valid_after_s);
    gnutls_x509_crt_set_key(made, key);
    done = name_oneself(made);
    if (done == GNUTLS_E_SUCCESS) {
        done = gnutls_x509_crt_sign2(made, made, key, GNUTLS_DIG_SHA256, 0);
    }
    if (done != GNUTLS_E_SUCCESS) return done;
    return gnutls_certificate_set_x509_key(into.credentials.get(), &made, 1, key);
}

std::string fingerprint_of(gnutls_certificate_credentials_t credentials) {
    gnutls_datum_t own{};  // the credentials'
    if (gnutls_certificate_get_crt_raw(credentials, 0, 0, &own) != GNUTLS_E_SUCCESS) return {};
    std::array<char, 64> digest{};
    std::size_t size = digest.size();
    if (gnutls_fingerprint(GNUTLS_DIG_SHA256, &own, digest.data(), &size) != GNUTLS_E_SUCCESS) {
        return {};
    }
    return hexadecimal({digest.data(), size});
}

base::expected<void> become_server(parts& into, const tls_settings& settings) {
    int done = settings.certificate.empty() ? make_certificate(into) : GNUTLS_E_SUCCESS;
    if (done < 0) return base::fail("cannot make a certificate: {}", gnutls_strerror(done));
    done = gnutls_session_ticket_key_generate(&into.ticket_key.own);
    if (done < 0) return base::fail("cannot make a key for tickets: {}", gnutls_strerror(done));
    into.fingerprint = fingerprint_of(into.credentials.get());
    return {};
}

}  // namespace

base::expected<parts> make_parts(const tls_settings& settings) {
    parts made;
    gnutls_certificate_credentials_t raw = nullptr;
    const int done = gnutls_certificate_allocate_credentials(&raw);
    if (done != GNUTLS_E_SUCCESS) return base::fail("GnuTLS: {}", gnutls_strerror(done));
    made.credentials.reset(raw);
    for (auto* step : {set_priorities, set_own_certificate, set_verification}) {
        auto fine = step(made, settings);
        if (!fine) return fine.error();
    }
    if (settings.role == tls_role::server) {
        auto fine = become_server(made, settings);
        if (!fine) return fine.error();
    }
    return made;
}

}  // namespace postal::net::gnutls
