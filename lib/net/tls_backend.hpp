// What tls.cpp and the two engines share; private to lib/net.
#pragma once

#include <string>
#include <string_view>
#include <vector>

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

// "a:b:c", without empty words.
std::vector<std::string_view> words_of(std::string_view list);

// A name such as alert_handshake_failure (RFC 8446 6, by number); alert_42 for an unknown one.
std::string alert_name(unsigned alert);

// Whether it is an IPv4 or IPv6 address, and so no name for SNI (RFC 6066 3).
bool is_address(std::string_view name);

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
inline constexpr std::string_view other = "tls_error";
}  // namespace problems

}  // namespace postal::net
