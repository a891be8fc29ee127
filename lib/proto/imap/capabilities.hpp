// SPDX-License-Identifier: GPL-3.0-or-later
// What an IMAP server offers (RFC 3501 7.2.1, RFC 9051 7.2.2), as a small bit set, and by name with
// which mechanisms one can log in.
//
// Flow: imap_capabilities offered; for each word of the list: offered.add(word);
//       if (offered.has(imap_capability::idle)) ...
//
// Words are compared without regard to case; those that change nothing for a client are passed
// over. Nothing here fails.
#pragma once

#include <cstdint>
#include <string>
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
    enable,          // RFC 5161
    qresync,         // RFC 7162
    compress,        // RFC 4978: COMPRESS=DEFLATE
    sasl_ir,         // RFC 4959
    name_space,      // RFC 2342
    login_disabled,  // RFC 3501 6.2.3
    sort,            // RFC 5256
    thread_references,
    notify,       // RFC 5465
    multi_append  // RFC 3502
};

class imap_capabilities {
  public:
    void add(std::string_view word);
    void add(imap_capability one) noexcept { bits_ |= bit(one); }
    void clear() noexcept { *this = {}; }

    bool has(imap_capability one) const noexcept { return (bits_ & bit(one)) != 0; }
    // What stood behind AUTH=, with blanks between.
    std::string_view mechanisms() const noexcept { return mechanisms_; }
    // Nothing was told, or nothing of it is known.
    bool empty() const noexcept { return bits_ == 0; }

  private:
    static constexpr std::uint32_t bit(imap_capability one) noexcept {
        return std::uint32_t{1} << static_cast<unsigned>(one);
    }

    std::uint32_t bits_ = 0;
    std::string mechanisms_;
};

}  // namespace postal::proto
