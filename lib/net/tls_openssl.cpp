// SPDX-License-Identifier: GPL-3.0-or-later
// The engine with OpenSSL 3: its octets come and go through a BIO of our own, without a copy more.
#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <utility>

#include <fmt/format.h>
#include <openssl/bio.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include "net/ip_address.hpp"
#include "net/tls_openssl.hpp"

namespace postal::net {

namespace {

using openssl::library_words;
using openssl::owned_context;
using owned_ssl = owned<SSL, SSL_free>;
using openssl_session = owned<SSL_SESSION, SSL_SESSION_free>;

// What TLS says, rather than the cipher below it that has failed first.
unsigned long telling_error() {
    const unsigned long first = ERR_peek_error();
    const unsigned long last = ERR_peek_last_error();
    return ERR_GET_LIB(first) != ERR_LIB_SSL && ERR_GET_LIB(last) == ERR_LIB_SSL ? last : first;
}

// Whether the errors at hand, which it takes, come from no peer: something lacks memory or was
// never set up, or all that is said is what each part may say ("EVP lib"). A malformed certificate
// says what is wrong with it below the same words.
bool is_librarys_own(unsigned long telling) {
    bool lacks = false, specific = false;
    while (const unsigned long code = ERR_get_error()) {
        const int reason = ERR_GET_REASON(code);
        lacks = lacks || reason == ERR_R_MALLOC_FAILURE || reason == ERR_R_INIT_FAIL ||
                reason == ERR_R_FETCH_FAILED;
        specific = specific || !ERR_COMMON_ERROR(code);
    }
    return ERR_COMMON_ERROR(telling) && (lacks || !specific);
}

// ---- names ----

constexpr reason_row<long> openssl_verify_errors[] = {
    {X509_V_ERR_CERT_HAS_EXPIRED, problems::expired},
    {X509_V_ERR_CERT_NOT_YET_VALID, problems::not_yet_valid},
    {X509_V_ERR_HOSTNAME_MISMATCH, problems::wrong_name},
    {X509_V_ERR_IP_ADDRESS_MISMATCH, problems::wrong_name},
    {X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT, problems::self_signed},
    {X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN, problems::unknown_issuer},
    {X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT, problems::unknown_issuer},
    {X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY, problems::unknown_issuer},
    {X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE, problems::unknown_issuer},
    {X509_V_ERR_CERT_REVOKED, problems::revoked},
};

constexpr reason_row<int> reasons[] = {
    {SSL_R_WRONG_VERSION_NUMBER, problems::version},
    {SSL_R_UNSUPPORTED_PROTOCOL, problems::version},
    {SSL_R_VERSION_TOO_LOW, problems::version},
    {SSL_R_NO_PROTOCOLS_AVAILABLE, problems::version},
    {SSL_R_NO_SHARED_CIPHER, problems::cipher},
    {SSL_R_NO_CIPHERS_AVAILABLE, problems::cipher},
    {SSL_R_NO_SUITABLE_KEY_SHARE, problems::cipher},
    {SSL_R_NO_SHARED_GROUPS, problems::cipher},
    {SSL_R_HTTP_REQUEST, problems::not_tls},
    {SSL_R_DECRYPTION_FAILED_OR_BAD_RECORD_MAC, problems::bad_record},
};

// IANA's names (RFC 8446 4.2.7), where OpenSSL says otherwise.
std::string group_name(SSL* ssl) {
    const int id = static_cast<int>(SSL_get_negotiated_group(ssl));
    if (id == NID_undef) return {};
    if (id == NID_X9_62_prime256v1) return "secp256r1";
    const char* name = OBJ_nid2sn(id);
#if OPENSSL_VERSION_PREREQ(3, 2)
    if ((id & TLSEXT_nid_unknown) != 0) name = SSL_get0_group_name(ssl);  // X25519MLKEM768
#endif
    std::string text = name != nullptr ? name : "unknown";
    std::transform(text.begin(), text.end(), text.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c; });
    return text;
}

// What stands in a certificate as it is; nothing where that is not simply text.
std::string_view text_of(const ASN1_STRING* some) {
    const int kind = ASN1_STRING_type(some);
    if (kind != V_ASN1_UTF8STRING && kind != V_ASN1_PRINTABLESTRING && kind != V_ASN1_IA5STRING) {
        return {};
    }
    return {reinterpret_cast<const char*>(ASN1_STRING_get0_data(some)),
            static_cast<std::size_t>(ASN1_STRING_length(some))};
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
    explicit openssl_ticket(openssl_session taken) : session(std::move(taken)) {}
    openssl_session session;
};

class openssl_engine final : public tls_engine {
  public:
    openssl_engine(owned_ssl ssl, BIO* bio, tls_role role, bool verifies)
        : ssl_(std::move(ssl)), bio_(bio), role_(role), verifies_(verifies) {
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
        known.verification = verification_name(role_, verifies_, certificate);
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

    std::string peer_identity() const override {
        X509* own = verifies_ ? SSL_get0_peer_certificate(ssl_.get()) : nullptr;
        if (own == nullptr) return {};
        const owned<GENERAL_NAMES, GENERAL_NAMES_free> names(static_cast<GENERAL_NAMES*>(
            X509_get_ext_d2i(own, NID_subject_alt_name, nullptr, nullptr)));
        for (int i = 0; i < sk_GENERAL_NAME_num(names.get()); ++i) {
            const GENERAL_NAME* one = sk_GENERAL_NAME_value(names.get(), i);
            if (one->type == GEN_EMAIL) return name_of_peer(text_of(one->d.rfc822Name));
        }
        const X509_NAME* subject = X509_get_subject_name(own);
        const int where = X509_NAME_get_index_by_NID(subject, NID_commonName, -1);
        if (where < 0) return {};
        return name_of_peer(text_of(X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, where))));
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
            const long verify_result = SSL_get_verify_result(ssl_.get());
            problem_.reason =
                reason_for(openssl_verify_errors, verify_result, problems::bad_certificate);
            problem_.text = fmt::format("{}: {}", library_words(code),
                                        X509_verify_cert_error_string(verify_result));
            return;
        }
        const int alert = reason - SSL_AD_REASON_OFFSET;
        if (is_librarys_own(code)) {
            problem_.reason = problems::library;
        } else if (own && alert >= 0 && alert < 256) {
            problem_.reason = alert_name(static_cast<unsigned>(alert));
        } else {
            problem_.reason = own ? reason_for(reasons, reason, problems::other) : problems::other;
        }
        problem_.text = library_words(code);
    }

    owned_ssl ssl_;
    BIO* bio_;  // ssl_'s
    tls_role role_;
    bool verifies_;
    openssl_session session_;  // the latest that can be resumed
    bool taken_ = false;
};

// OpenSSL hands out each session that could be resumed; 1 says that it is ours now.
int keep_session(SSL* ssl, SSL_SESSION* session) {
    auto* engine = static_cast<openssl_engine*>(SSL_get_app_data(ssl));
    if (engine == nullptr) return 0;
    engine->keep(session);
    return 1;
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
        return std::make_unique<openssl_engine>(std::move(ssl), bio, role_, verify_);
    }

    const std::string& fingerprint() const noexcept override { return fingerprint_; }

  private:
    bool name_peer(SSL* ssl, const tls_peer& peer) const {
        const bool address = parse_ip(peer.name).has_value();  // and no name for SNI (RFC 6066 3)
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

}  // namespace

std::string openssl_library() {
    const std::string_view whole = OpenSSL_version(OPENSSL_VERSION);  // "OpenSSL 3.0.15 3 Sep 2024"
    return std::string(whole.substr(0, whole.find(' ', whole.find(' ') + 1)));
}

made_tls_context make_openssl_context(const tls_settings& settings) {
    if (wire_method() == nullptr) return base::fail("OpenSSL: {}", library_words());
    auto made = openssl::make_context(settings);
    if (!made) return made.error();
    const bool server = settings.role == tls_role::server;
    if (!server && settings.keep_tickets) SSL_CTX_sess_set_new_cb(made->get(), keep_session);
    std::string fingerprint = server ? openssl::fingerprint_of(made->get()) : std::string();
    return std::make_shared<const openssl_context>(std::move(*made), settings.role,
                                                   verifies(settings), std::move(fingerprint));
}

}  // namespace postal::net
