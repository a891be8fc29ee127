// SPDX-License-Identifier: GPL-3.0-or-later
// OpenSSL's context as the options have it: versions, ciphers, groups, certificates, trust.
#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>

#include "net/tls_openssl.hpp"

namespace postal::net::openssl {

namespace {

using owned_key = owned<EVP_PKEY, EVP_PKEY_free>;
using owned_certificate = owned<X509, X509_free>;

struct cipher_row {
    std::string_view name;
    std::string_view suite;  // of TLS 1.3
    std::string_view list;   // of TLS 1.2
};
constexpr std::array ciphers{
    cipher_row{"AES-128-GCM", "TLS_AES_128_GCM_SHA256", "ECDHE+AESGCM+AES128"},
    cipher_row{"AES-256-GCM", "TLS_AES_256_GCM_SHA384", "ECDHE+AESGCM+AES256"},
    cipher_row{"CHACHA20-POLY1305", "TLS_CHACHA20_POLY1305_SHA256", "ECDHE+CHACHA20"},
};

int take_any_certificate(X509_STORE_CTX*, void*) {
    return 1;
}

int no_password(char*, int, int, void*) {
    return -1;
}

base::expected<void> set_versions(SSL_CTX* context, const tls_settings& settings) {
    const auto number = [](tls_version one) {
        return one == tls_version::tls12 ? TLS1_2_VERSION : TLS1_3_VERSION;
    };
    if (SSL_CTX_set_min_proto_version(context, number(settings.least)) != 1 ||
        SSL_CTX_set_max_proto_version(context, number(settings.most)) != 1) {
        return base::fail("--tls-min: {}", library_words());
    }
    return {};
}

// Lists in which only some words are unknown pass. "!RSA", "@STRENGTH" and such are none alone.
bool knows_cipher(SSL_CTX* context, std::string_view word) {
    const std::string alone(word);
    if (word.starts_with("TLS_")) return SSL_CTX_set_ciphersuites(context, alone.c_str()) == 1;
    return std::string_view("!-+@").find(word.front()) != std::string_view::npos ||
           SSL_CTX_set_cipher_list(context, alone.c_str()) == 1;
}

// Suites for one version only leave the other out.
base::expected<void> set_ciphers(SSL_CTX* context, const tls_settings& settings) {
    if (settings.ciphers.empty()) return {};
    std::string suites;
    std::string list;
    const auto add = [](std::string& to, std::string_view name) {
        if (!name.empty()) to.append(to.empty() ? "" : ":").append(name);
    };
    for (const std::string_view word : words_of(settings.ciphers)) {
        const auto* known = std::find_if(ciphers.begin(), ciphers.end(),
                                         [&](const cipher_row& one) { return one.name == word; });
        if (known != ciphers.end()) {
            add(suites, known->suite);
            add(list, known->list);
        } else {
            add(word.starts_with("TLS_") ? suites : list, word);
        }
    }
    bool wrong = false;
    for (const std::string& some : {suites, list}) {
        for (const std::string_view word : words_of(some))
            wrong = wrong || !knows_cipher(context, word);
    }
    wrong = wrong || (!suites.empty() && SSL_CTX_set_ciphersuites(context, suites.c_str()) != 1) ||
            (!list.empty() && SSL_CTX_set_cipher_list(context, list.c_str()) != 1);
    if (wrong) {
        return base::fail("--tls-ciphers: \"{}\": {}; see openssl ciphers", settings.ciphers,
                          library_words());
    }
    if (list.empty()) SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION);
    if (suites.empty()) SSL_CTX_set_max_proto_version(context, TLS1_2_VERSION);
    return {};
}

base::expected<void> set_groups(SSL_CTX* context, const tls_settings& settings) {
    if (settings.groups.empty()) return {};
    if (SSL_CTX_set1_groups_list(context, settings.groups.c_str()) == 1) return {};
    ERR_clear_error();
    return base::fail(
        "--tls-groups: OpenSSL does not know all of \"{}\"; give names such as "
        "X25519:P-256",
        settings.groups);
}

base::expected<void> set_own_certificate(SSL_CTX* context, const tls_settings& settings) {
    if (settings.certificate.empty()) return {};
    if (SSL_CTX_use_certificate_chain_file(context, settings.certificate.c_str()) != 1) {
        return base::fail("--tls-cert: {}: {}; give a PEM file", settings.certificate,
                          library_words());
    }
    const std::string& key = settings.key.empty() ? settings.certificate : settings.key;
    if (SSL_CTX_use_PrivateKey_file(context, key.c_str(), SSL_FILETYPE_PEM) != 1) {
        return base::fail("--tls-key: {}: {}; give a PEM file without a password", key,
                          library_words());
    }
    if (SSL_CTX_check_private_key(context) != 1) {
        return base::fail("--tls-key: {}: {}", key, library_words());
    }
    return {};
}

base::expected<void> set_revoked(SSL_CTX* context, const tls_settings& settings) {
    if (settings.revoked.empty()) return {};
    X509_STORE* store = SSL_CTX_get_cert_store(context);
    X509_LOOKUP* lookup = X509_STORE_add_lookup(store, X509_LOOKUP_file());
    if (lookup == nullptr ||
        X509_load_crl_file(lookup, settings.revoked.c_str(), X509_FILETYPE_PEM) < 1) {
        return base::fail("--tls-crl: {}: {}; give a PEM file", settings.revoked, library_words());
    }
    X509_STORE_set_flags(store, X509_V_FLAG_CRL_CHECK);
    return {};
}

base::expected<void> set_verification(SSL_CTX* context, const tls_settings& settings) {
    const bool server = settings.role == tls_role::server;
    if (!verifies(settings)) {
        SSL_CTX_set_verify(context, SSL_VERIFY_NONE, nullptr);
        SSL_CTX_set_cert_verify_callback(context, take_any_certificate, nullptr);
        return {};
    }
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
    const char* option = server ? "--tls-client-ca" : "--tls-ca";
    const char* file = settings.authorities.c_str();
    const bool loaded = settings.authorities.empty()
                            ? SSL_CTX_set_default_verify_paths(context) == 1
                            : SSL_CTX_load_verify_file(context, file) == 1;
    if (!loaded) {
        return base::fail("{}: {}: {}; give a PEM file", option, settings.authorities,
                          library_words());
    }
    if (server) SSL_CTX_set_client_CA_list(context, SSL_load_client_CA_file(file));
    return set_revoked(context, settings);
}

// ---- a certificate of our own making ----

owned_certificate sign_oneself(EVP_PKEY* key) {
    const std::string host = own_host_name();
    owned_certificate made(X509_new());
    std::uint64_t serial = 0;
    if (!made || RAND_bytes(reinterpret_cast<unsigned char*>(&serial), sizeof serial) != 1) {
        return nullptr;
    }
    X509_set_version(made.get(), X509_VERSION_3);
    ASN1_INTEGER_set_uint64(X509_get_serialNumber(made.get()), serial >> 1U);
    X509_gmtime_adj(X509_getm_notBefore(made.get()), -valid_before_s);
    X509_gmtime_adj(X509_getm_notAfter(made.get()), valid_after_s);
    X509_set_pubkey(made.get(), key);
    X509_NAME* name = X509_get_subject_name(made.get());
    X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_UTF8,
                               reinterpret_cast<const unsigned char*>(host.c_str()), -1, -1, 0);
    X509_set_issuer_name(made.get(), name);
    const std::string names = fmt::format("DNS:{},DNS:localhost,IP:127.0.0.1,IP:::1", host);
    owned<X509_EXTENSION, X509_EXTENSION_free> extension(
        X509V3_EXT_conf_nid(nullptr, nullptr, NID_subject_alt_name, names.c_str()));
    if (extension) X509_add_ext(made.get(), extension.get(), -1);
    if (X509_sign(made.get(), key, EVP_sha256()) == 0) return nullptr;
    return made;
}

base::expected<void> set_made_certificate(SSL_CTX* context) {
    owned_key key(EVP_EC_gen("P-256"));
    const owned_certificate made = key ? sign_oneself(key.get()) : nullptr;
    if (!made || SSL_CTX_use_certificate(context, made.get()) != 1 ||
        SSL_CTX_use_PrivateKey(context, key.get()) != 1) {
        return base::fail("cannot make a certificate: {}", library_words());
    }
    return {};
}

void set_modes(SSL_CTX* context, const tls_settings& settings) {
    SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS);
    SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
    SSL_CTX_set_default_passwd_cb(context, no_password);
    // Servers keep nothing: their tickets hold it (RFC 5077).
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    static constexpr std::string_view own_sessions = "postal";
    SSL_CTX_set_session_id_context(
        context, reinterpret_cast<const unsigned char*>(own_sessions.data()), own_sessions.size());
    if (settings.role == tls_role::server || !settings.keep_tickets) return;
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
}

}  // namespace

std::string library_words(unsigned long code) {
    const char* reason = ERR_reason_error_string(code);
    std::string text = ERR_SYSTEM_ERROR(code) ? base::system_message(ERR_GET_REASON(code))
                       : reason != nullptr    ? std::string(reason)
                                              : fmt::format("error {:x}", code);
    ERR_clear_error();
    return text;
}
std::string library_words() {
    return library_words(ERR_peek_error());
}

std::string fingerprint_of(SSL_CTX* context) {
    const X509* own = SSL_CTX_get0_certificate(context);
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
    unsigned size = 0;
    if (own == nullptr || X509_digest(own, EVP_sha256(), digest.data(), &size) != 1) return {};
    return hexadecimal({reinterpret_cast<const char*>(digest.data()), size});
}

base::expected<owned_context> make_context(const tls_settings& settings) {
    ERR_clear_error();
    const bool server = settings.role == tls_role::server;
    owned_context context(SSL_CTX_new(server ? TLS_server_method() : TLS_client_method()));
    if (!context) return base::fail("OpenSSL: {}", library_words());
    set_modes(context.get(), settings);
    for (auto* step :
         {set_versions, set_ciphers, set_groups, set_own_certificate, set_verification}) {
        auto done = step(context.get(), settings);
        if (!done) return done.error();
    }
    if (server && settings.certificate.empty()) {
        auto done = set_made_certificate(context.get());
        if (!done) return done.error();
    }
    return context;
}

}  // namespace postal::net::openssl
