// SPDX-License-Identifier: GPL-3.0-or-later
// What tls.cpp and the two engines share; private to lib/net.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/error_names.hpp"
#include "net/tls.hpp"

namespace postal::net {

using made_tls_context = base::expected<std::shared_ptr<const tls_context>>;

#if POSTAL_WITH_OPENSSL
made_tls_context make_openssl_context(const tls_settings& settings);
std::string openssl_library();
#endif
#if POSTAL_WITH_GNUTLS
made_tls_context make_gnutls_context(const tls_settings& settings);
std::string gnutls_library();
#endif

// Of tls_check.cpp: a context that has shaken hands with itself.
made_tls_context make_checked(const tls_settings& settings,
                              made_tls_context (*make)(const tls_settings&));

// A library's object and the function that ends it.
template <auto Free>
struct freer {
    template <class T>
    void operator()(T* one) const noexcept {
        Free(one);
    }
};
template <class T, auto Free>
using owned = std::unique_ptr<std::remove_pointer_t<T>, freer<Free>>;

// A library's number for what went wrong, and its name for the books.
template <class Number>
struct reason_row {
    Number number;
    std::string_view reason;
};
template <class Number, std::size_t Size>
std::string_view reason_for(const reason_row<Number> (&rows)[Size], Number number,
                            std::string_view otherwise) {
    for (const auto& one : rows) {
        if (one.number == number) return one.reason;
    }
    return otherwise;
}

// What a certificate of our own making says: this host's name, and from when to when, from now.
std::string own_host_name();
inline constexpr long valid_before_s = 3600;
inline constexpr long valid_after_s = 30L * 24 * 3600;

// Whether the peer's certificate is looked at.
inline bool verifies(const tls_settings& settings) noexcept {
    return settings.role == tls_role::server ? !settings.authorities.empty() : settings.verify;
}

// What a certificate says a name is; empty when that is none: too long, or with octets in it that
// would end it early elsewhere.
std::string name_of_peer(std::string_view text);

// What a handshake is called in which no certificate was found wrong.
std::string_view verification_name(tls_role role, bool verifies, bool certificate) noexcept;

// "a:b:c", without empty words.
std::vector<std::string_view> words_of(std::string_view list);

// A name such as alert_handshake_failure (RFC 8446 6, by number); alert_42 for an unknown one.
std::string alert_name(unsigned alert);

// "01:AB:..." of the octets of a digest.
std::string hexadecimal(std::string_view octets);

// RFC 9266: what tls-exporter is asked for with.
inline constexpr std::string_view channel_binding_label = "EXPORTER-Channel-Binding";
inline constexpr std::size_t channel_binding_octets = 32;

// The names for the books that both engines use for the same thing.
namespace problems {
inline constexpr std::string_view expired = "certificate_expired";
inline constexpr std::string_view not_yet_valid = "certificate_not_yet_valid";
inline constexpr std::string_view wrong_name = "certificate_wrong_name";
inline constexpr std::string_view self_signed = "certificate_self_signed";
inline constexpr std::string_view unknown_issuer = "certificate_unknown_issuer";
inline constexpr std::string_view revoked = "certificate_revoked";
inline constexpr std::string_view bad_certificate = "certificate_bad";
inline constexpr std::string_view not_tls = "not_tls";
inline constexpr std::string_view version = "no_common_version";
inline constexpr std::string_view cipher = "no_common_cipher";
inline constexpr std::string_view bad_record = "bad_record";
inline constexpr std::string_view library = "resources";  // it has failed by itself
inline constexpr std::string_view other = "tls_error";
inline constexpr std::string_view all[] = {
    expired, not_yet_valid, wrong_name, self_signed, unknown_issuer, revoked, bad_certificate,
    not_tls, version,       cipher,     bad_record,  library,        other};
static_assert(std::all_of(std::begin(all), std::end(all), base::is_error_reason));
}  // namespace problems

}  // namespace postal::net
