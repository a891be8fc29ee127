// The engine with GnuTLS: its octets come and go through push and pull functions of our own.
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <memory>
#include <utility>

#include <fmt/format.h>
#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
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
using owned = std::unique_ptr<std::remove_pointer_t<T>, freer<Free>>;
using owned_session = owned<gnutls_session_t, gnutls_deinit>;
using owned_credentials =
    owned<gnutls_certificate_credentials_t, gnutls_certificate_free_credentials>;
using owned_priorities = owned<gnutls_priority_t, gnutls_priority_deinit>;
using owned_certificate = owned<gnutls_x509_crt_t, gnutls_x509_crt_deinit>;
using owned_key = owned<gnutls_x509_privkey_t, gnutls_x509_privkey_deinit>;

constexpr std::time_t valid_before_s = 3600;
constexpr std::time_t valid_after_s = 30L * 24 * 3600;
constexpr int tries_at_once = 100'000;  // more than there are records in what is read at once

// What the library allocates for us is freed by it.
struct datum {
    datum() = default;
    datum(const datum&) = delete;
    datum& operator=(const datum&) = delete;
    ~datum() { gnutls_free(own.data); }
    gnutls_datum_t own{nullptr, 0};
};

// ---- names ----

struct group_row {
    gnutls_group_t id;
    std::string_view name;      // IANA's (RFC 8446 4.2.7)
    std::string_view portable;  // as in --tls-groups
    std::string_view priority;
};
constexpr std::array groups{
    group_row{GNUTLS_GROUP_X25519, "x25519", "X25519", "GROUP-X25519"},
    group_row{GNUTLS_GROUP_X448, "x448", "X448", "GROUP-X448"},
    group_row{GNUTLS_GROUP_SECP256R1, "secp256r1", "P-256", "GROUP-SECP256R1"},
    group_row{GNUTLS_GROUP_SECP384R1, "secp384r1", "P-384", "GROUP-SECP384R1"},
    group_row{GNUTLS_GROUP_SECP521R1, "secp521r1", "P-521", "GROUP-SECP521R1"},
};

struct verdict_row {
    unsigned flag;
    std::string_view reason;
};
constexpr std::array verdicts{
    verdict_row{GNUTLS_CERT_REVOKED, problems::revoked},
    verdict_row{GNUTLS_CERT_EXPIRED, problems::expired},
    verdict_row{GNUTLS_CERT_NOT_ACTIVATED, problems::not_yet_valid},
    verdict_row{GNUTLS_CERT_SIGNER_NOT_FOUND, problems::unknown_issuer},
    verdict_row{GNUTLS_CERT_SIGNER_NOT_CA, problems::unknown_issuer},
    verdict_row{GNUTLS_CERT_UNEXPECTED_OWNER, problems::wrong_name},
};

struct error_row {
    int number;
    std::string_view reason;
};
constexpr std::array errors{
    error_row{GNUTLS_E_UNSUPPORTED_VERSION_PACKET, problems::version},
    error_row{GNUTLS_E_NO_CIPHER_SUITES, problems::cipher},
    error_row{GNUTLS_E_INSUFFICIENT_SECURITY, problems::cipher},
    error_row{GNUTLS_E_NO_COMMON_KEY_SHARE, problems::cipher},
    error_row{GNUTLS_E_DECRYPTION_FAILED, problems::bad_record},
};

// ---- one connection ----

class gnutls_ticket final : public tls_ticket {
  public:
    datum session;
};

class gnutls_engine final : public tls_engine {
  public:
    gnutls_engine(owned_session session, tls_role role, std::string_view checked, std::string peer)
        : peer_(std::move(peer)), session_(std::move(session)), role_(role), checked_(checked) {
        gnutls_session_t own = session_.get();
        gnutls_session_set_ptr(own, this);
        if (checked_ == "ok") gnutls_session_set_verify_function(own, judge);
        gnutls_transport_set_ptr(own, this);
        gnutls_transport_set_pull_function(own, pull);
        gnutls_transport_set_pull_timeout_function(own, pull_timeout);
        gnutls_transport_set_push_function(own, push);
    }

    tls_status handshake(tls_wire& wire) override {
        wire_ = &wire;
        int result = gnutls_handshake(session_.get());
        for (int tries = 1; goes_on(result) && tries < tries_at_once; ++tries) {
            result = gnutls_handshake(session_.get());
        }
        const tls_status how = result == GNUTLS_E_SUCCESS ? tls_status::done : after(result);
        wire_ = nullptr;
        return how;
    }

    plain read(tls_wire& wire, std::span<char> into) override {
        wire_ = &wire;
        ssize_t result = 0;
        for (int tries = 0; tries < tries_at_once; ++tries) {
            result = gnutls_record_recv(session_.get(), into.data(), into.size());
            if (result >= 0 || !goes_on(static_cast<int>(result))) break;
            if (result == GNUTLS_E_REHANDSHAKE) {
                gnutls_alert_send(session_.get(), GNUTLS_AL_WARNING, GNUTLS_A_NO_RENEGOTIATION);
            }
        }
        plain got;
        if (result > 0) {
            got = {static_cast<std::size_t>(result), tls_status::done};
        } else {
            got.how = result == 0 ? tls_status::closed : after(static_cast<int>(result));
        }
        wire_ = nullptr;
        return got;
    }

    tls_status write(tls_wire& wire, std::string_view text) override {
        wire_ = &wire;
        tls_status how = tls_status::done;
        while (!text.empty() && how == tls_status::done) {
            const ssize_t sent = gnutls_record_send(session_.get(), text.data(), text.size());
            if (sent > 0) {
                text.remove_prefix(static_cast<std::size_t>(sent));
            } else {
                how = after(static_cast<int>(sent));
            }
        }
        wire_ = nullptr;
        return how;
    }

    void finish(tls_wire& wire) override {
        wire_ = &wire;
        gnutls_bye(session_.get(), GNUTLS_SHUT_WR);
        wire_ = nullptr;
    }

    tls_facts facts() const override {
        tls_facts known;
        gnutls_session_t own = session_.get();
        const bool newest = gnutls_protocol_get_version(own) == GNUTLS_TLS1_3;
        known.version = newest ? "TLSv1.3" : "TLSv1.2";
        const char* suite = gnutls_ciphersuite_get(own);
        known.cipher = suite != nullptr ? suite : "";
        known.resumed = gnutls_session_is_resumed(own) != 0;
        if (!known.resumed || newest) known.group = group_name(own);
        unsigned certificates = 0;
        const bool certificate = gnutls_certificate_get_peers(own, &certificates) != nullptr;
        known.verification = checked_ == "ok" && !certificate ? "no certificate" : checked_;
        return known;
    }

    std::string channel_binding() override {
        if (gnutls_protocol_get_version(session_.get()) != GNUTLS_TLS1_3) return {};
        std::array<char, channel_binding_octets> data{};
        const int done =
            gnutls_prf_rfc5705(session_.get(), channel_binding_label.size(),
                               channel_binding_label.data(), 0, nullptr, data.size(), data.data());
        return done == GNUTLS_E_SUCCESS ? std::string(data.data(), data.size()) : std::string();
    }

    std::unique_ptr<tls_ticket> ticket() override {
        // Without one the library would wait for it.
        const bool newest = gnutls_protocol_get_version(session_.get()) == GNUTLS_TLS1_3;
        const auto flags = gnutls_session_get_flags(session_.get());
        if (taken_ || (newest && (flags & GNUTLS_SFLAGS_SESSION_TICKET) == 0)) return nullptr;
        auto kept = std::make_unique<gnutls_ticket>();
        if (gnutls_session_get_data2(session_.get(), &kept->session.own) != GNUTLS_E_SUCCESS) {
            return nullptr;
        }
        taken_ = true;
        return kept;
    }

  private:
    // Called in the handshake. The library's own check would refuse a client without a certificate.
    static int judge(gnutls_session_t session) {
        auto* self = static_cast<gnutls_engine*>(gnutls_session_get_ptr(session));
        unsigned count = 0;
        const bool none = gnutls_certificate_get_peers(session, &count) == nullptr;
        if (none && self->role_ == tls_role::server) return 0;
        const char* name = self->peer_.empty() ? nullptr : self->peer_.c_str();
        if (gnutls_certificate_verify_peers3(session, name, &self->verdict_) < 0) {
            return GNUTLS_E_CERTIFICATE_ERROR;
        }
        return self->verdict_ == 0 ? 0 : GNUTLS_E_CERTIFICATE_VERIFICATION_ERROR;
    }

    static ssize_t pull(gnutls_transport_ptr_t whose, void* into, std::size_t room) {
        auto* self = static_cast<gnutls_engine*>(whose);
        if (self->wire_ == nullptr || self->wire_->input.empty()) {
            gnutls_transport_set_errno(self->session_.get(), EAGAIN);
            return -1;
        }
        std::string_view& input = self->wire_->input;
        const std::size_t size = std::min(room, input.size());
        std::memcpy(into, input.data(), size);
        input.remove_prefix(size);
        return static_cast<ssize_t>(size);
    }

    static int pull_timeout(gnutls_transport_ptr_t whose, unsigned) {
        const auto* self = static_cast<gnutls_engine*>(whose);
        return self->wire_ != nullptr && !self->wire_->input.empty() ? 1 : 0;
    }

    static ssize_t push(gnutls_transport_ptr_t whose, const void* text, std::size_t size) {
        auto* self = static_cast<gnutls_engine*>(whose);
        if (self->wire_ != nullptr) {
            self->wire_->output.append(static_cast<const char*>(text), size);
        }
        return static_cast<ssize_t>(size);
    }

    // Nothing that ends a connection: a warning, a wish to negotiate again, or a record without
    // anything for us, behind which others are there already.
    bool goes_on(int result) const noexcept {
        return result == GNUTLS_E_WARNING_ALERT_RECEIVED || result == GNUTLS_E_REHANDSHAKE ||
               result == GNUTLS_E_GOT_APPLICATION_DATA || result == GNUTLS_E_INTERRUPTED ||
               (result == GNUTLS_E_AGAIN && !wire_->input.empty());
    }

    static std::string group_name(gnutls_session_t session) {
        const gnutls_group_t id = gnutls_group_get(session);
        for (const group_row& one : groups) {
            if (one.id == id) return std::string(one.name);
        }
        const char* name = gnutls_group_get_name(id);
        return name != nullptr ? name : "";
    }

    tls_status after(int result) {
        if (result == GNUTLS_E_AGAIN) return tls_status::more;
        if (result == GNUTLS_E_CERTIFICATE_VERIFICATION_ERROR) {
            describe_certificate();
        } else if (result == GNUTLS_E_FATAL_ALERT_RECEIVED) {
            const gnutls_alert_description_t alert = gnutls_alert_get(session_.get());
            const char* name = gnutls_alert_get_name(alert);
            problem_.reason = alert_name(alert);
            problem_.text = fmt::format("{}: {}", gnutls_strerror(result), name ? name : "unknown");
        } else {
            problem_.reason = problems::other;
            for (const error_row& one : errors) {
                if (one.number == result) problem_.reason = one.reason;
            }
            problem_.text = gnutls_strerror(result);
        }
        gnutls_alert_send_appropriate(session_.get(), result);
        return tls_status::failed;
    }

    void describe_certificate() {
        problem_.reason = problems::bad_certificate;
        for (const verdict_row& one : verdicts) {
            if ((verdict_ & one.flag) == 0) continue;
            problem_.reason = one.reason;
            break;
        }
        if (problem_.reason == problems::unknown_issuer && signed_itself()) {
            problem_.reason = problems::self_signed;
        }
        datum words;
        if (gnutls_certificate_verification_status_print(verdict_, GNUTLS_CRT_X509, &words.own,
                                                         0) == GNUTLS_E_SUCCESS) {
            problem_.text.assign(reinterpret_cast<const char*>(words.own.data), words.own.size);
            while (!problem_.text.empty() && problem_.text.back() == ' ')
                problem_.text.pop_back();
        }
    }

    // GnuTLS has no verdict of its own for a certificate that nobody else has signed.
    bool signed_itself() {
        unsigned count = 0;
        const gnutls_datum_t* chain = gnutls_certificate_get_peers(session_.get(), &count);
        gnutls_x509_crt_t raw = nullptr;
        if (chain == nullptr || count != 1 || gnutls_x509_crt_init(&raw) != GNUTLS_E_SUCCESS) {
            return false;
        }
        const owned_certificate only(raw);
        return gnutls_x509_crt_import(raw, chain, GNUTLS_X509_FMT_DER) == GNUTLS_E_SUCCESS &&
               gnutls_x509_crt_check_issuer(raw, raw) != 0;
    }

    std::string peer_;  // whose name is checked
    owned_session session_;
    tls_role role_;
    unsigned verdict_ = 0;      // what is wrong with the peer's certificate
    std::string_view checked_;  // what a verification that did not fail is called
    tls_wire* wire_ = nullptr;  // during a call
    bool taken_ = false;
};

class gnutls_context final : public tls_context {
  public:
    gnutls_context() = default;
    gnutls_context(const gnutls_context&) = delete;
    gnutls_context& operator=(const gnutls_context&) = delete;
    ~gnutls_context() override { gnutls_free(ticket_key.data); }

    std::unique_ptr<tls_engine> begin(const tls_peer& peer) const override {
        gnutls_session_t raw = nullptr;
        unsigned flags = GNUTLS_NONBLOCK | GNUTLS_NO_SIGNAL;
        flags |= role == tls_role::server ? GNUTLS_SERVER : GNUTLS_CLIENT;
        // A certificate is shown to servers whose list of authorities it is not from, too: it is
        // for them to refuse it.
        if (role == tls_role::client) flags |= GNUTLS_FORCE_CLIENT_CERT;
        if (gnutls_init(&raw, flags) != GNUTLS_E_SUCCESS) return nullptr;
        owned_session session(raw);
        gnutls_handshake_set_timeout(raw, GNUTLS_INDEFINITE_TIMEOUT);  // the owner has deadlines
        if (gnutls_priority_set(raw, priorities.get()) != GNUTLS_E_SUCCESS ||
            gnutls_credentials_set(raw, GNUTLS_CRD_CERTIFICATE, credentials.get()) !=
                GNUTLS_E_SUCCESS) {
            return nullptr;
        }
        if (role == tls_role::server) {
            gnutls_session_ticket_enable_server(raw, &ticket_key);
            if (verify) gnutls_certificate_server_set_request(raw, GNUTLS_CERT_REQUEST);
        } else {
            name_peer(raw, peer);
        }
        const std::string_view checked = verify                     ? "ok"
                                         : role == tls_role::client ? "not checked"
                                                                    : "";
        return std::make_unique<gnutls_engine>(std::move(session), role, checked,
                                               role == tls_role::client ? peer.name : "");
    }

    const std::string& fingerprint() const noexcept override { return own_fingerprint; }

    tls_role role = tls_role::client;
    bool verify = false;  // the peer's certificate is looked at
    owned_credentials credentials;
    owned_priorities priorities;
    gnutls_datum_t ticket_key{nullptr, 0};
    std::string own_fingerprint;

  private:
    static void name_peer(gnutls_session_t session, const tls_peer& peer) {
        if (!peer.name.empty() && !is_address(peer.name)) {
            gnutls_server_name_set(session, GNUTLS_NAME_DNS, peer.name.data(), peer.name.size());
        }
        const auto* kept = static_cast<const gnutls_ticket*>(peer.ticket);
        if (kept != nullptr) {
            gnutls_session_set_data(session, kept->session.own.data, kept->session.own.size);
        }
    }
};

// ---- settings ----

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

base::expected<void> set_priorities(gnutls_context& into, const tls_settings& settings) {
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

base::expected<void> set_own_certificate(gnutls_context& into, const tls_settings& settings) {
    if (settings.certificate.empty()) return {};
    const std::string& key = settings.key.empty() ? settings.certificate : settings.key;
    for (const std::string* file : {&settings.certificate, &key}) {
        if (access(file->c_str(), R_OK) == 0) continue;
        return base::fail("{}: {}: {}; give a PEM file",
                          file == &key && !settings.key.empty() ? "--tls-key" : "--tls-cert", *file,
                          base::system_message(errno));
    }
    const int done =
        gnutls_certificate_set_x509_key_file2(into.credentials.get(), settings.certificate.c_str(),
                                              key.c_str(), GNUTLS_X509_FMT_PEM, nullptr, 0);
    if (done >= 0) return {};
    return base::fail("{}: {} with {}: {}; give PEM files that belong together",
                      settings.key.empty() ? "--tls-cert" : "--tls-cert and --tls-key",
                      settings.certificate, key, gnutls_strerror(done));
}

base::expected<void> set_verification(gnutls_context& into, const tls_settings& settings) {
    const bool server = settings.role == tls_role::server;
    into.verify = server ? !settings.authorities.empty() : settings.verify;
    if (!into.verify) return {};
    gnutls_certificate_credentials_t own = into.credentials.get();
    const int loaded = settings.authorities.empty()
                           ? gnutls_certificate_set_x509_system_trust(own)
                           : gnutls_certificate_set_x509_trust_file(
                                 own, settings.authorities.c_str(), GNUTLS_X509_FMT_PEM);
    if (loaded < 0 || (loaded == 0 && !settings.authorities.empty())) {
        return base::fail("{}: {}: {}; give a PEM file", server ? "--tls-client-ca" : "--tls-ca",
                          settings.authorities,
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
    std::array<char, 256> host{};
    if (gethostname(host.data(), host.size() - 1) != 0) host = {'l', 'o', 'c', 'a', 'l'};
    gnutls_x509_crt_set_dn_by_oid(made, GNUTLS_OID_X520_COMMON_NAME, 0, host.data(),
                                  static_cast<unsigned>(std::strlen(host.data())));
    for (const char* name : {static_cast<const char*>(host.data()), "localhost"}) {
        gnutls_x509_crt_set_subject_alt_name(made, GNUTLS_SAN_DNSNAME, name,
                                             static_cast<unsigned>(std::strlen(name)),
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
int make_certificate(gnutls_context& into) {
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

base::expected<void> become_server(gnutls_context& into, const tls_settings& settings) {
    int done = settings.certificate.empty() ? make_certificate(into) : GNUTLS_E_SUCCESS;
    if (done < 0) return base::fail("cannot make a certificate: {}", gnutls_strerror(done));
    done = gnutls_session_ticket_key_generate(&into.ticket_key);
    if (done < 0) return base::fail("cannot make a key for tickets: {}", gnutls_strerror(done));
    into.own_fingerprint = fingerprint_of(into.credentials.get());
    return {};
}

}  // namespace

std::string gnutls_library() {
    return fmt::format("GnuTLS {}", gnutls_check_version(nullptr));
}

made_tls_context make_gnutls_context(const tls_settings& settings) {
    auto context = std::make_shared<gnutls_context>();
    gnutls_certificate_credentials_t raw = nullptr;
    const int done = gnutls_certificate_allocate_credentials(&raw);
    if (done != GNUTLS_E_SUCCESS) return base::fail("GnuTLS: {}", gnutls_strerror(done));
    context->credentials.reset(raw);
    context->role = settings.role;
    for (auto* step : {set_priorities, set_own_certificate, set_verification}) {
        auto made = step(*context, settings);
        if (!made) return made.error();
    }
    if (settings.role == tls_role::server) {
        auto made = become_server(*context, settings);
        if (!made) return made.error();
    }
    return std::shared_ptr<const tls_context>(std::move(context));
}

}  // namespace postal::net
