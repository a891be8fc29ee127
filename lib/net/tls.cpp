// SPDX-License-Identifier: GPL-3.0-or-later
#include "net/tls.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <unistd.h>

#include "base/text.hpp"
#include "net/tls_backend.hpp"

namespace postal::net {

namespace {

struct alert_row {
    unsigned number;
    std::string_view name;
};

// RFC 8446 6 and 5246 7.2; the names of the IANA registry.
constexpr std::array alerts{
    alert_row{0, "close_notify"},
    alert_row{10, "unexpected_message"},
    alert_row{20, "bad_record_mac"},
    alert_row{21, "decryption_failed"},
    alert_row{22, "record_overflow"},
    alert_row{30, "decompression_failure"},
    alert_row{40, "handshake_failure"},
    alert_row{41, "no_certificate"},
    alert_row{42, "bad_certificate"},
    alert_row{43, "unsupported_certificate"},
    alert_row{44, "certificate_revoked"},
    alert_row{45, "certificate_expired"},
    alert_row{46, "certificate_unknown"},
    alert_row{47, "illegal_parameter"},
    alert_row{48, "unknown_ca"},
    alert_row{49, "access_denied"},
    alert_row{50, "decode_error"},
    alert_row{51, "decrypt_error"},
    alert_row{70, "protocol_version"},
    alert_row{71, "insufficient_security"},
    alert_row{80, "internal_error"},
    alert_row{86, "inappropriate_fallback"},
    alert_row{90, "user_canceled"},
    alert_row{100, "no_renegotiation"},
    alert_row{109, "missing_extension"},
    alert_row{110, "unsupported_extension"},
    alert_row{112, "unrecognized_name"},
    alert_row{113, "bad_certificate_status_response"},
    alert_row{115, "unknown_psk_identity"},
    alert_row{116, "certificate_required"},
    alert_row{120, "no_application_protocol"},
};

}  // namespace

std::vector<tls_backend> tls_backends() {
    std::vector<tls_backend> all;
#if POSTAL_WITH_OPENSSL
    all.push_back(tls_backend::openssl);
#endif
#if POSTAL_WITH_GNUTLS
    all.push_back(tls_backend::gnutls);
#endif
    return all;
}

std::string_view to_text(tls_backend which) noexcept {
    return which == tls_backend::openssl ? "openssl" : "gnutls";
}

std::string tls_library([[maybe_unused]] tls_backend which) {
#if POSTAL_WITH_OPENSSL
    if (which == tls_backend::openssl) return openssl_library();
#endif
#if POSTAL_WITH_GNUTLS
    if (which == tls_backend::gnutls) return gnutls_library();
#endif
    return {};
}

base::expected<std::shared_ptr<const tls_context>> make_tls_context(const tls_settings& settings) {
#if POSTAL_WITH_OPENSSL
    if (settings.backend == tls_backend::openssl) {
        return make_checked(settings, make_openssl_context);
    }
#endif
#if POSTAL_WITH_GNUTLS
    if (settings.backend == tls_backend::gnutls) {
        return make_checked(settings, make_gnutls_context);
    }
#endif
    return base::fail("--tls-backend: {} is not built into this program",
                      to_text(settings.backend));
}

std::string own_host_name() {
    std::array<char, 256> host{};
    return gethostname(host.data(), host.size() - 1) == 0 ? host.data() : "localhost";
}

std::string name_of_peer(std::string_view text) {
    constexpr std::size_t longest = 254;  // RFC 5321 4.5.3.1.3, without the angles
    const auto odd = [](char c) { return static_cast<unsigned char>(c) <= ' ' || c == 0x7f; };
    if (text.size() > longest || std::any_of(text.begin(), text.end(), odd)) return {};
    return std::string(text);
}

std::string_view verification_name(tls_role role, bool verifies, bool certificate) noexcept {
    if (verifies) return certificate ? "ok" : "no certificate";
    return role == tls_role::client ? "not checked" : "";
}

std::vector<std::string_view> words_of(std::string_view list) {
    auto words = base::split(list, ':');
    std::erase(words, std::string_view());
    return words;
}

std::string alert_name(unsigned alert) {
    for (const alert_row& one : alerts) {
        if (one.number == alert) return fmt::format("alert_{}", one.name);
    }
    return fmt::format("alert_{}", alert);
}

std::string hexadecimal(std::string_view octets) {
    std::string text;
    for (const char one : octets) {
        if (!text.empty()) text += ':';
        fmt::format_to(std::back_inserter(text), "{:02X}", static_cast<unsigned char>(one));
    }
    return text;
}

}  // namespace postal::net
