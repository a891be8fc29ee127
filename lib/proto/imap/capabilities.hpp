// What an IMAP server offers (RFC 3501 7.2.1, RFC 9051 7.2.2), as a small bit set.
//
// Flow: imap_capabilities offered; for each word of the list: offered.add(word);
//       if (offered.has(imap_capability::idle)) ...
//
// Words are compared without regard to case; unknown ones are passed over. Nothing here fails.
#pragma once

#include <cstdint>
#include <string_view>

namespace postal::proto {

enum class imap_capability : std::uint8_t {
    imap4rev1,       // RFC 3501
    imap4rev2,       // RFC 9051
    idle,            // RFC 2177
    literal_plus,    // RFC 7888: non-synchronizing literals of any size
    literal_minus,   // RFC 7888: only up to 4096 octets
    move,            // RFC 6851
    uidplus,         // RFC 4315
    unselect,        // RFC 3691
    enable,          // RFC 5161
    condstore,       // RFC 7162
    qresync,         // RFC 7162
    esearch,         // RFC 4731
    compress,        // RFC 4978: COMPRESS=DEFLATE
    sasl_ir,         // RFC 4959
    namespaces,      // RFC 2342
    id,              // RFC 2971
    special_use,     // RFC 6154
    list_extended,   // RFC 5258
    list_status,     // RFC 5819
    utf8_accept,     // RFC 6855
    starttls,        // RFC 3501 6.2.1
    login_disabled,  // RFC 3501 6.2.3
    auth_plain,      // AUTH= and a SASL mechanism's name
    auth_login,
    auth_cram_md5,
    auth_scram_sha_1,
    auth_scram_sha_256,
    auth_scram_sha_1_plus,
    auth_scram_sha_256_plus,
    auth_xoauth2,
    auth_oauthbearer,
    auth_external,
    auth_anonymous
};

class imap_capabilities {
  public:
    void add(std::string_view word) noexcept;
    void add(imap_capability one) noexcept { bits_ |= bit(one); }
    void clear() noexcept { bits_ = 0; }

    bool has(imap_capability one) const noexcept { return (bits_ & bit(one)) != 0; }
    // Nothing was told, or nothing of it is known.
    bool empty() const noexcept { return bits_ == 0; }
    bool operator==(const imap_capabilities&) const = default;

  private:
    static constexpr std::uint64_t bit(imap_capability one) noexcept {
        return std::uint64_t{1} << static_cast<unsigned>(one);
    }

    std::uint64_t bits_ = 0;
};

}  // namespace postal::proto
