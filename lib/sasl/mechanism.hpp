// SPDX-License-Identifier: GPL-3.0-or-later
// SASL mechanisms by name (RFC 4422 3.1), sets of them, and which one to use.
//
// Flow: mechanism_set both = parse_mechanisms(what EHLO, CAPA or CAPABILITY listed);
//       const auto how = strongest(both, what this connection has);
//
// The order of strongest(), first to last: what somebody gave on purpose (a client certificate:
// EXTERNAL; a token: OAUTHBEARER, XOAUTH2), then SCRAM bound to the TLS channel, SCRAM, CRAM-MD5,
// and last, where the connection hides them or it was asked for, PLAIN and LOGIN. SHA-256 comes
// before SHA-1. ANONYMOUS is never chosen. Nothing here fails.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace postal::sasl {

enum class mechanism : std::uint8_t {
    plain,               // RFC 4616
    login,               // draft-murchison-sasl-login
    cram_md5,            // RFC 2195
    scram_sha_1,         // RFC 5802
    scram_sha_256,       // RFC 7677
    scram_sha_1_plus,    // RFC 5802, RFC 9266
    scram_sha_256_plus,  // RFC 7677, RFC 9266
    xoauth2,             // Google's and Microsoft's
    oauthbearer,         // RFC 7628
    external,            // RFC 4422 appendix A
    anonymous            // RFC 4505
};
inline constexpr std::size_t mechanism_count = 11;

std::string_view name_of(mechanism which) noexcept;
// In any case.
std::optional<mechanism> mechanism_of(std::string_view name) noexcept;

// Who listens can log in afterwards: the password or token itself is sent.
bool sends_secret(mechanism which) noexcept;
bool wants_token(mechanism which) noexcept;
bool wants_password(mechanism which) noexcept;
bool binds_channel(mechanism which) noexcept;
bool is_scram(mechanism which) noexcept;
// SCRAM with SHA-1, not SHA-256.
bool uses_sha_1(mechanism which) noexcept;
// The client has something to say before the server has (RFC 4422 3.3: an initial response).
bool client_first(mechanism which) noexcept;

class mechanism_set {
  public:
    void add(mechanism one) noexcept { bits_ |= bit(one); }
    void remove(mechanism one) noexcept { bits_ &= ~bit(one); }
    bool has(mechanism one) const noexcept { return (bits_ & bit(one)) != 0; }
    bool empty() const noexcept { return bits_ == 0; }
    mechanism_set operator&(mechanism_set other) const noexcept {
        return mechanism_set(bits_ & other.bits_);
    }
    mechanism_set& operator|=(mechanism_set other) noexcept {
        bits_ |= other.bits_;
        return *this;
    }
    bool operator==(const mechanism_set&) const = default;
    mechanism_set() = default;

    static mechanism_set all() noexcept { return mechanism_set((1U << mechanism_count) - 1); }

  private:
    explicit mechanism_set(unsigned bits) noexcept : bits_(bits) {}
    static unsigned bit(mechanism one) noexcept { return 1U << static_cast<unsigned>(one); }

    unsigned bits_ = 0;
};

// Whether the -PLUS of this SCRAM is among them (RFC 5802 6).
bool has_plus_of(mechanism_set some, mechanism which) noexcept;

// Names with blanks or commas between; unknown ones are passed over.
mechanism_set parse_mechanisms(std::string_view names) noexcept;
// With blanks between, the strongest first.
std::string to_text(mechanism_set some);

// What a client has for one connection.
struct means {
    bool password = false;
    bool token = false;
    bool client_certificate = false;  // the server has seen it
    bool channel_binding = false;     // the bytes of tls-exporter are known
    bool may_send_secret = false;     // TLS, or --auth-insecure
};

std::optional<mechanism> strongest(mechanism_set offered, const means& has) noexcept;

}  // namespace postal::sasl
