// The engine with OpenSSL 3: its octets come and go through a BIO of our own, without a copy more.
#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <utility>

#include <fmt/format.h>
#include <openssl/bio.h>
#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/rand.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <unistd.h>

#include "net/tls_backend.hpp"

namespace postal::net {

namespace {

template <auto Free>
struct freer {
    template <class T>
    void operator()(T* one) const noexcept {
        Free(one);
    }
};
template <class T, auto Free>
using owned = std::unique_ptr<T, freer<Free>>;
using owned_context = owned<SSL_CTX, SSL_CTX_free>;
using owned_ssl = owned<SSL, SSL_free>;
using owned_session = owned<SSL_SESSION, SSL_SESSION_free>;
using owned_key = owned<EVP_PKEY, EVP_PKEY_free>;
using owned_certificate = owned<X509, X509_free>;

constexpr long valid_before_s = 3600;
constexpr long valid_after_s = 30L * 24 * 3600;

// The oldest error of the thread's queue in the library's own words; the queue is empty then.
std::string library_words(unsigned long code) {
    const char* reason = ERR_reason_error_string(code);
    std::string text = reason != nullptr ? std::string(reason) : fmt::format("error {:x}", code);
    ERR_clear_error();
    return text;
}
std::string library_words() {
    return library_words(ERR_peek_last_error());
}

// What TLS says, rather than the cipher below it that has failed first.
unsigned long telling_error() {
    const unsigned long first = ERR_peek_error();
    const unsigned long last = ERR_peek_last_error();
    return ERR_GET_LIB(first) != ERR_LIB_SSL && ERR_GET_LIB(last) == ERR_LIB_SSL ? last : first;
}

// ---- names ----

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

struct verdict_row {
    long number;
    std::string_view reason;
};
constexpr std::array verdicts{
    verdict_row{X509_V_ERR_CERT_HAS_EXPIRED, problems::expired},
    verdict_row{X509_V_ERR_CERT_NOT_YET_VALID, problems::not_yet_valid},
    verdict_row{X509_V_ERR_HOSTNAME_MISMATCH, problems::wrong_name},
    verdict_row{X509_V_ERR_IP_ADDRESS_MISMATCH, problems::wrong_name},
    verdict_row{X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT, problems::self_signed},
    verdict_row{X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN, problems::unknown_issuer},
    verdict_row{X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT, problems::unknown_issuer},
    verdict_row{X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY, problems::unknown_issuer},
    verdict_row{X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE, problems::unknown_issuer},
    verdict_row{X509_V_ERR_CERT_REVOKED, problems::revoked},
};

struct reason_row {
    int number;
    std::string_view reason;
};
constexpr std::array reasons{
    reason_row{SSL_R_WRONG_VERSION_NUMBER, problems::version},
    reason_row{SSL_R_UNSUPPORTED_PROTOCOL, problems::version},
    reason_row{SSL_R_VERSION_TOO_LOW, problems::version},
    reason_row{SSL_R_NO_PROTOCOLS_AVAILABLE, problems::version},
    reason_row{SSL_R_NO_SHARED_CIPHER, problems::cipher},
    reason_row{SSL_R_NO_CIPHERS_AVAILABLE, problems::cipher},
    reason_row{SSL_R_NO_SUITABLE_KEY_SHARE, problems::cipher},
    reason_row{SSL_R_NO_SHARED_GROUPS, problems::cipher},
    reason_row{SSL_R_HTTP_REQUEST, problems::not_tls},
    reason_row{SSL_R_DECRYPTION_FAILED_OR_BAD_RECORD_MAC, problems::bad_record},
};

template <class Rows, class Number>
std::string_view reason_for(const Rows& rows, Number number, std::string_view otherwise) {
    for (const auto& one : rows) {
        if (one.number == number) return one.reason;
    }
    return otherwise;
}

// IANA's names (RFC 8446 4.2.7), where OpenSSL says otherwise.
std::string group_name(SSL* ssl) {
    const int id = static_cast<int>(SSL_get_negotiated_group(ssl));
    if (id == NID_undef) return {};
    if (id == NID_X9_62_prime256v1) return "secp256r1";
    const char* name = OBJ_nid2sn(id);
    std::string text = name != nullptr ? name : "unknown";
    std::transform(text.begin(), text.end(), text.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c; });
    return text;
}

// ---- octets ----

// What the BIO reads and writes during one call of the engine.
tls_wire* wire_of(BIO* bio) {
    return static_cast<tls_wire*>(BIO_get_data(bio));
}

int read_wire(BIO* bio, char* into, std::size_t room, std::size_t* got) {
    BIO_clear_retry_flags(bio);
    tls_wire* wire = wire_of(bio);
    if (wire == nullptr || wire->input.empty()) {
        BIO_set_retry_read(bio);
        return 0;
    }
    *got = std::min(room, wire->input.size());
    std::memcpy(into, wire->input.data(), *got);
    wire->input.remove_prefix(*got);
    return 1;
}

int write_wire(BIO* bio, const char* text, std::size_t size, std::size_t* written) {
    tls_wire* wire = wire_of(bio);
    if (wire == nullptr) return 0;
    wire->output.append(text, size);
    *written = size;
    return 1;
}

long control_wire(BIO*, int what, long, void*) {
    return what == BIO_CTRL_FLUSH ? 1 : 0;
}

int make_wire(BIO* bio) {
    BIO_set_init(bio, 1);
    return 1;
}

BIO_METHOD* wire_method() {
    static BIO_METHOD* const method = [] {
        BIO_METHOD* made = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "wire");
        if (made == nullptr) return made;
        BIO_meth_set_read_ex(made, read_wire);
        BIO_meth_set_write_ex(made, write_wire);
        BIO_meth_set_ctrl(made, control_wire);
        BIO_meth_set_create(made, make_wire);
        return made;
    }();
    return method;
}

// ---- one connection ----

class openssl_ticket final : public tls_ticket {
  public:
    explicit openssl_ticket(owned_session taken) : session(std::move(taken)) {}
    owned_session session;
};

class openssl_engine final : public tls_engine {
  public:
    openssl_engine(owned_ssl ssl, BIO* bio, std::string_view checked)
        : ssl_(std::move(ssl)), bio_(bio), checked_(checked) {
        SSL_set_app_data(ssl_.get(), this);
    }

    tls_status handshake(tls_wire& wire) override {
        ERR_clear_error();
        BIO_set_data(bio_, &wire);
        const int done = SSL_do_handshake(ssl_.get());
        BIO_set_data(bio_, nullptr);
        return done == 1 ? tls_status::done : after(done);
    }

    plain read(tls_wire& wire, std::span<char> into) override {
        ERR_clear_error();
        BIO_set_data(bio_, &wire);
        std::size_t got = 0;
        const int done = SSL_read_ex(ssl_.get(), into.data(), into.size(), &got);
        BIO_set_data(bio_, nullptr);
        if (done == 1) return {got, tls_status::done};
        return {0, after(done)};
    }

    tls_status write(tls_wire& wire, std::string_view text) override {
        ERR_clear_error();
        BIO_set_data(bio_, &wire);
        std::size_t written = 0;
        const int done = SSL_write_ex(ssl_.get(), text.data(), text.size(), &written);
        BIO_set_data(bio_, nullptr);
        return done == 1 ? tls_status::done : after(done);
    }

    void finish(tls_wire& wire) override {
        BIO_set_data(bio_, &wire);
        SSL_shutdown(ssl_.get());
        BIO_set_data(bio_, nullptr);
        ERR_clear_error();
    }

    tls_facts facts() const override {
        tls_facts known;
        SSL* ssl = ssl_.get();
        known.version = SSL_version(ssl) == TLS1_3_VERSION ? "TLSv1.3" : "TLSv1.2";
        const char* suite = SSL_CIPHER_standard_name(SSL_get_current_cipher(ssl));
        known.cipher = suite != nullptr ? suite : "";
        known.resumed = SSL_session_reused(ssl) == 1;
        // A resumed TLS 1.2 session has exchanged no keys.
        if (!known.resumed || SSL_version(ssl) == TLS1_3_VERSION) known.group = group_name(ssl);
        const bool certificate = SSL_get0_peer_certificate(ssl) != nullptr;
        known.verification = checked_ == "ok" && !certificate ? "no certificate" : checked_;
        return known;
    }

    std::string channel_binding() override {
        if (SSL_version(ssl_.get()) != TLS1_3_VERSION) return {};
        std::array<unsigned char, channel_binding_octets> data{};
        const unsigned char nothing = 0;
        if (SSL_export_keying_material(ssl_.get(), data.data(), data.size(),
                                       channel_binding_label.data(), channel_binding_label.size(),
                                       &nothing, 0, 1) != 1) {
            ERR_clear_error();
            return {};
        }
        return {reinterpret_cast<const char*>(data.data()), data.size()};
    }

    std::unique_ptr<tls_ticket> ticket() override {
        // Before TLS 1.3 a server that resumes a session need not give a new ticket for it: the old
        // one is good for more than once (RFC 5077 3.3).
        SSL* ssl = ssl_.get();
        const bool again = SSL_session_reused(ssl) == 1 && SSL_version(ssl) != TLS1_3_VERSION;
        if (!std::exchange(taken_, true) && again && !session_) {
            session_.reset(SSL_get1_session(ssl));
        }
        if (!session_ || SSL_SESSION_is_resumable(session_.get()) != 1) return nullptr;
        return std::make_unique<openssl_ticket>(std::move(session_));
    }

    void keep(SSL_SESSION* session) { session_.reset(session); }

  private:
    tls_status after(int result) {
        switch (SSL_get_error(ssl_.get(), result)) {
            case SSL_ERROR_WANT_READ:
            case SSL_ERROR_WANT_WRITE:
                return tls_status::more;
            case SSL_ERROR_ZERO_RETURN:
                return tls_status::closed;
            default:
                break;
        }
        describe(telling_error());
        return tls_status::failed;
    }

    void describe(unsigned long code) {
        const int reason = ERR_GET_REASON(code);
        const bool own = ERR_GET_LIB(code) == ERR_LIB_SSL;
        if (own && reason == SSL_R_CERTIFICATE_VERIFY_FAILED) {
            const long verdict = SSL_get_verify_result(ssl_.get());
            problem_.reason = reason_for(verdicts, verdict, problems::bad_certificate);
            problem_.text =
                fmt::format("{}: {}", library_words(code), X509_verify_cert_error_string(verdict));
            return;
        }
        if (own && reason >= SSL_AD_REASON_OFFSET) {
            problem_.reason = alert_name(static_cast<unsigned>(reason - SSL_AD_REASON_OFFSET));
        } else {
            problem_.reason = own ? reason_for(reasons, reason, problems::other) : problems::other;
        }
        problem_.text = library_words(code);
    }

    owned_ssl ssl_;
    BIO* bio_;                  // ssl_'s
    std::string_view checked_;  // what a verification that did not fail is called
    owned_session session_;     // the latest that can be resumed
    bool taken_ = false;
};

// OpenSSL hands out each session that could be resumed; 1 says that it is ours now.
int keep_session(SSL* ssl, SSL_SESSION* session) {
    auto* engine = static_cast<openssl_engine*>(SSL_get_app_data(ssl));
    if (engine == nullptr) return 0;
    engine->keep(session);
    return 1;
}

int take_any_certificate(X509_STORE_CTX*, void*) {
    return 1;
}

int no_password(char*, int, int, void*) {
    return -1;
}

class openssl_context final : public tls_context {
  public:
    openssl_context(owned_context made, tls_role role, bool verify, std::string fingerprint)
        : context_(std::move(made)),
          role_(role),
          verify_(verify),
          fingerprint_(std::move(fingerprint)) {}

    std::unique_ptr<tls_engine> begin(const tls_peer& peer) const override {
        owned_ssl ssl(SSL_new(context_.get()));
        BIO* bio = ssl ? BIO_new(wire_method()) : nullptr;
        if (bio == nullptr) return nullptr;
        SSL_set_bio(ssl.get(), bio, bio);
        if (role_ == tls_role::server) {
            SSL_set_accept_state(ssl.get());
        } else {
            SSL_set_connect_state(ssl.get());
            if (!name_peer(ssl.get(), peer)) return nullptr;
        }
        const std::string_view checked = verify_                     ? "ok"
                                         : role_ == tls_role::client ? "not checked"
                                                                     : "";
        return std::make_unique<openssl_engine>(std::move(ssl), bio, checked);
    }

    const std::string& fingerprint() const noexcept override { return fingerprint_; }

  private:
    bool name_peer(SSL* ssl, const tls_peer& peer) const {
        const bool address = is_address(peer.name);
        if (!peer.name.empty() && !address) SSL_set_tlsext_host_name(ssl, peer.name.c_str());
        if (verify_ && !peer.name.empty()) {
            const int set =
                address ? X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), peer.name.c_str())
                        : SSL_set1_host(ssl, peer.name.c_str());
            if (set != 1) return false;
        }
        const auto* kept = static_cast<const openssl_ticket*>(peer.ticket);
        if (kept != nullptr) SSL_set_session(ssl, kept->session.get());
        return true;
    }

    owned_context context_;
    tls_role role_;
    bool verify_;  // the peer's certificate is looked at
    std::string fingerprint_;
};

// ---- settings ----

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
    const bool wanted = server ? !settings.authorities.empty() : settings.verify;
    if (!wanted) {
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
    std::array<char, 256> host{};
    if (gethostname(host.data(), host.size() - 1) != 0) host = {'l', 'o', 'c', 'a', 'l'};
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
                               reinterpret_cast<const unsigned char*>(host.data()), -1, -1, 0);
    X509_set_issuer_name(made.get(), name);
    const std::string names = fmt::format("DNS:{},DNS:localhost,IP:127.0.0.1,IP:::1", host.data());
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

std::string fingerprint_of(SSL_CTX* context) {
    const X509* own = SSL_CTX_get0_certificate(context);
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
    unsigned size = 0;
    if (own == nullptr || X509_digest(own, EVP_sha256(), digest.data(), &size) != 1) return {};
    return hexadecimal({reinterpret_cast<const char*>(digest.data()), size});
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
    SSL_CTX_sess_set_new_cb(context, keep_session);
}

}  // namespace

std::string openssl_library() {
    const std::string_view whole = OpenSSL_version(OPENSSL_VERSION);  // "OpenSSL 3.0.15 3 Sep 2024"
    return std::string(whole.substr(0, whole.find(' ', whole.find(' ') + 1)));
}

made_tls_context make_openssl_context(const tls_settings& settings) {
    ERR_clear_error();
    const bool server = settings.role == tls_role::server;
    owned_context context(SSL_CTX_new(server ? TLS_server_method() : TLS_client_method()));
    if (!context || wire_method() == nullptr) return base::fail("OpenSSL: {}", library_words());
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
    const bool verifies = server ? !settings.authorities.empty() : settings.verify;
    std::string fingerprint = server ? fingerprint_of(context.get()) : std::string();
    return std::make_shared<const openssl_context>(std::move(context), settings.role, verifies,
                                                   std::move(fingerprint));
}

}  // namespace postal::net
