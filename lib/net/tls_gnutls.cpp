// SPDX-License-Identifier: GPL-3.0-or-later
// The engine with GnuTLS: its octets come and go through push and pull functions of our own.
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <utility>

#include <fmt/format.h>
#include <gnutls/x509.h>

#include "net/ip_address.hpp"
#include "net/tls_gnutls.hpp"

// GMP's, which GnuTLS computes with; it is loaded with it. (mp_set_memory_functions of gmp.h.)
extern "C" [[gnu::weak]] void __gmp_set_memory_functions(void* (*)(std::size_t),
                                                         void* (*)(void*, std::size_t, std::size_t),
                                                         void (*)(void*, std::size_t));

namespace postal::net {

namespace {

// GMP aborts where it finds no memory, and wants no answer but memory. So the process ends as
// everywhere where bad_alloc cannot be caught: std::terminate, which says why, with status 2.
[[noreturn]] void out_of_memory() {
    throw std::bad_alloc();
}

void* allocate(std::size_t size) noexcept {
    void* const made = std::malloc(size);
    if (made == nullptr) out_of_memory();
    return made;
}

void* reallocate(void* old, std::size_t, std::size_t size) noexcept {
    void* const made = std::realloc(old, size);
    if (made == nullptr) out_of_memory();
    return made;
}

void release(void* old, std::size_t) noexcept {
    std::free(old);
}

using gnutls_session = owned<gnutls_session_t, gnutls_deinit>;
using owned_certificate = owned<gnutls_x509_crt_t, gnutls_x509_crt_deinit>;

constexpr int tries_at_once = 100'000;  // more than there are records in what is read at once

// ---- names ----

constexpr reason_row<unsigned> gnutls_verify_errors[] = {
    // by flag
    {GNUTLS_CERT_REVOKED, problems::revoked},
    {GNUTLS_CERT_EXPIRED, problems::expired},
    {GNUTLS_CERT_NOT_ACTIVATED, problems::not_yet_valid},
    {GNUTLS_CERT_SIGNER_NOT_FOUND, problems::unknown_issuer},
    {GNUTLS_CERT_SIGNER_NOT_CA, problems::unknown_issuer},
    {GNUTLS_CERT_UNEXPECTED_OWNER, problems::wrong_name},
};

constexpr reason_row<int> errors[] = {
    {GNUTLS_E_UNSUPPORTED_VERSION_PACKET, problems::version},
    {GNUTLS_E_NO_CIPHER_SUITES, problems::cipher},
    {GNUTLS_E_INSUFFICIENT_SECURITY, problems::cipher},
    {GNUTLS_E_NO_COMMON_KEY_SHARE, problems::cipher},
    {GNUTLS_E_DECRYPTION_FAILED, problems::bad_record},
    {GNUTLS_E_MEMORY_ERROR, problems::library},
    {GNUTLS_E_INTERNAL_ERROR, problems::library},
    {GNUTLS_E_RANDOM_FAILED, problems::library},
    {GNUTLS_E_LIB_IN_ERROR_STATE, problems::library},
};

// ---- one connection ----

class gnutls_ticket final : public tls_ticket {
  public:
    gnutls::datum session;
};

class gnutls_engine final : public tls_engine {
  public:
    gnutls_engine(gnutls_session session, tls_role role, bool verifies, std::string peer)
        : peer_(std::move(peer)), session_(std::move(session)), role_(role), verifies_(verifies) {
        gnutls_session_t own = session_.get();
        gnutls_session_set_ptr(own, this);
        if (verifies_) gnutls_session_set_verify_function(own, judge);
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
        known.verification = verification_name(role_, verifies_, certificate);
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

    std::string peer_identity() const override {
        const owned_certificate own = verifies_ ? peer_certificate() : nullptr;
        if (!own) return {};
        std::string text(256, '\0');
        for (unsigned i = 0;;) {
            std::size_t size = text.size();
            const int kind =
                gnutls_x509_crt_get_subject_alt_name(own.get(), i, text.data(), &size, nullptr);
            if (kind == GNUTLS_E_SHORT_MEMORY_BUFFER && size > text.size()) {
                text.resize(size);
                continue;
            }
            if (kind == GNUTLS_SAN_RFC822NAME) return name_of_peer({text.data(), size});
            if (kind == GNUTLS_E_REQUESTED_DATA_NOT_AVAILABLE) break;
            if (kind < 0) return {};
            ++i;
        }
        return common_name(own.get());
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
        const bool server = self->role_ == tls_role::server;
        unsigned count = 0;
        if (server && gnutls_certificate_get_peers(session, &count) == nullptr) return 0;
        std::array<gnutls_typed_vdata_st, 2> wanted{};
        wanted[0].type = GNUTLS_DT_KEY_PURPOSE_OID;
        wanted[0].data = octets_of(server ? GNUTLS_KP_TLS_WWW_CLIENT : GNUTLS_KP_TLS_WWW_SERVER);
        wanted[1].type = GNUTLS_DT_DNS_HOSTNAME;  // or an address
        wanted[1].data = octets_of(self->peer_.c_str());
        const unsigned known = self->peer_.empty() ? 1 : 2;
        if (gnutls_certificate_verify_peers(session, wanted.data(), known, &self->verify_status_) <
            0) {
            return GNUTLS_E_CERTIFICATE_ERROR;
        }
        return self->verify_status_ == 0 ? 0 : GNUTLS_E_CERTIFICATE_VERIFICATION_ERROR;
    }

    // For a function that only reads it.
    static unsigned char* octets_of(const char* text) {
        return reinterpret_cast<unsigned char*>(const_cast<char*>(text));
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

    // The first, as it stands there: the library's own functions escape it.
    static std::string common_name(gnutls_x509_crt_t of) {
        gnutls_x509_dn_t subject = nullptr;  // the certificate's
        if (gnutls_x509_crt_get_subject(of, &subject) != GNUTLS_E_SUCCESS) return {};
        gnutls_x509_ava_st part{};
        for (int i = 0; gnutls_x509_dn_get_rdn_ava(subject, i, 0, &part) == GNUTLS_E_SUCCESS; ++i) {
            std::string_view kind = as_text(part.oid);
            if (kind.ends_with('\0')) kind.remove_suffix(1);  // its size may count the NUL
            if (kind != GNUTLS_OID_X520_COMMON_NAME) continue;
            constexpr std::array plain_text{0x0cUL, 0x13UL, 0x16UL};  // UTF8, Printable, IA5String
            const bool plain =
                std::find(plain_text.begin(), plain_text.end(), part.value_tag) != plain_text.end();
            return plain ? name_of_peer(as_text(part.value)) : std::string();
        }
        return {};
    }

    static std::string_view as_text(const gnutls_datum_t& some) {
        return {reinterpret_cast<const char*>(some.data), some.size};
    }

    // Nothing that ends a connection: a warning, a wish to negotiate again, or a record without
    // anything for us, behind which others are there already.
    bool goes_on(int result) const noexcept {
        return result == GNUTLS_E_WARNING_ALERT_RECEIVED || result == GNUTLS_E_REHANDSHAKE ||
               result == GNUTLS_E_GOT_APPLICATION_DATA || result == GNUTLS_E_INTERRUPTED ||
               (result == GNUTLS_E_AGAIN && !wire_->input.empty());
    }

    static std::string group_name(gnutls_session_t session) {
        const char* const known = gnutls_group_get_name(gnutls_group_get(session));
        const std::string_view name = known != nullptr ? known : "";
        for (const gnutls::group_row& one : gnutls::groups) {
            if (one.priority.substr(std::string_view("GROUP-").size()) == name)
                return std::string(one.name);
        }
        return std::string(name);
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
            problem_.reason = reason_for(errors, result, problems::other);
            problem_.text = gnutls_strerror(result);
        }
        gnutls_alert_send_appropriate(session_.get(), result);
        return tls_status::failed;
    }

    void describe_certificate() {
        problem_.reason = problems::bad_certificate;
        for (const auto& one : gnutls_verify_errors) {
            if ((verify_status_ & one.number) == 0) continue;
            problem_.reason = one.reason;
            break;
        }
        if (problem_.reason == problems::unknown_issuer && signed_itself()) {
            problem_.reason = problems::self_signed;
        }
        gnutls::datum words;
        if (gnutls_certificate_verification_status_print(verify_status_, GNUTLS_CRT_X509,
                                                         &words.own, 0) == GNUTLS_E_SUCCESS) {
            problem_.text.assign(reinterpret_cast<const char*>(words.own.data), words.own.size);
            while (!problem_.text.empty() && problem_.text.back() == ' ')
                problem_.text.pop_back();
        }
    }

    // GnuTLS has no status of its own for a certificate that nobody else has signed.
    bool signed_itself() const {
        unsigned count = 0;
        const owned_certificate only = peer_certificate(&count);
        return only && count == 1 && gnutls_x509_crt_check_issuer(only.get(), only.get()) != 0;
    }

    // The first of the peer's chain, and how many there are; null without.
    owned_certificate peer_certificate(unsigned* in_all = nullptr) const {
        unsigned count = 0;
        const gnutls_datum_t* chain = gnutls_certificate_get_peers(session_.get(), &count);
        if (in_all != nullptr) *in_all = count;
        gnutls_x509_crt_t raw = nullptr;
        if (chain == nullptr || gnutls_x509_crt_init(&raw) != GNUTLS_E_SUCCESS) return nullptr;
        owned_certificate first(raw);
        const int done = gnutls_x509_crt_import(raw, chain, GNUTLS_X509_FMT_DER);
        return done == GNUTLS_E_SUCCESS ? std::move(first) : nullptr;
    }

    std::string peer_;  // whose name is checked
    gnutls_session session_;
    tls_role role_;
    bool verifies_;
    unsigned verify_status_ = 0;  // what is wrong with the peer's certificate
    tls_wire* wire_ = nullptr;    // during a call
    bool taken_ = false;
};

class gnutls_context final : public tls_context {
  public:
    gnutls_context(gnutls::parts parts, const tls_settings& settings)
        : parts_(std::move(parts)), role_(settings.role), verify_(verifies(settings)) {}

    std::unique_ptr<tls_engine> begin(const tls_peer& peer) const override {
        gnutls_session_t raw = nullptr;
        unsigned flags = GNUTLS_NONBLOCK | GNUTLS_NO_SIGNAL;
        flags |= role_ == tls_role::server ? GNUTLS_SERVER : GNUTLS_CLIENT;
        // A certificate is shown to servers whose list of authorities it is not from, too: it is
        // for them to refuse it.
        if (role_ == tls_role::client) flags |= GNUTLS_FORCE_CLIENT_CERT;
        if (gnutls_init(&raw, flags) != GNUTLS_E_SUCCESS) return nullptr;
        gnutls_session session(raw);
        gnutls_handshake_set_timeout(raw, GNUTLS_INDEFINITE_TIMEOUT);  // the owner has deadlines
        if (gnutls_priority_set(raw, parts_.priorities.get()) != GNUTLS_E_SUCCESS ||
            gnutls_credentials_set(raw, GNUTLS_CRD_CERTIFICATE, parts_.credentials.get()) !=
                GNUTLS_E_SUCCESS) {
            return nullptr;
        }
        if (role_ == tls_role::server) {
            gnutls_session_ticket_enable_server(raw, &parts_.ticket_key.own);
            if (verify_) gnutls_certificate_server_set_request(raw, GNUTLS_CERT_REQUEST);
        } else {
            name_peer(raw, peer);
        }
        return std::make_unique<gnutls_engine>(std::move(session), role_, verify_,
                                               role_ == tls_role::client ? peer.name : "");
    }

    const std::string& fingerprint() const noexcept override { return parts_.fingerprint; }

  private:
    static void name_peer(gnutls_session_t session, const tls_peer& peer) {
        if (!peer.name.empty() && !parse_ip(peer.name)) {  // RFC 6066 3
            gnutls_server_name_set(session, GNUTLS_NAME_DNS, peer.name.data(), peer.name.size());
        }
        const auto* kept = static_cast<const gnutls_ticket*>(peer.ticket);
        if (kept != nullptr) {
            gnutls_session_set_data(session, kept->session.own.data, kept->session.own.size);
        }
    }

    gnutls::parts parts_;
    tls_role role_;
    bool verify_;  // the peer's certificate is looked at
};

}  // namespace

std::string gnutls_library() {
    return fmt::format("GnuTLS {}", gnutls_check_version(nullptr));
}

made_tls_context make_gnutls_context(const tls_settings& settings) {
    if (__gmp_set_memory_functions != nullptr)
        __gmp_set_memory_functions(allocate, reallocate, release);
    auto made = gnutls::make_parts(settings);
    if (!made) return made.error();
    return std::make_shared<const gnutls_context>(std::move(*made), settings);
}

}  // namespace postal::net
