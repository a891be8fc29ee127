// SPDX-License-Identifier: GPL-3.0-or-later
// Remakes the body of a message from its identity header, so that a reader can say which octet
// differs.
//
// Flow: body_rebuilder r; auto body = r.body(identity);   the octets behind the blank line, as made
// A few sources are kept between calls, since a mailbox mostly holds the mail of one run.
//
// Fails, with a reason, on identities that no sender of ours can have made: corpus mail (its body
// is not made from a seed), sizes that do not fit together, a size above the limit (the header is
// from outside and may ask for anything).
#pragma once

#include "base/result.hpp"
#include "mail/body_source.hpp"
#include "mail/identity.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace postal::mail {

class body_rebuilder {
  public:
    explicit body_rebuilder(std::uint64_t limit = std::uint64_t{256} << 20U) : limit_(limit) {}

    [[nodiscard]] base::expected<std::string> body(const identity& id);

  private:
    [[nodiscard]] const body_source& source_for(std::uint64_t seed, body_kind kind);

    struct kept {
        std::uint64_t seed = 0;
        std::unique_ptr<const body_source> made;
    };
    std::uint64_t limit_;
    std::vector<kept> sources_;
};

// The first octet in which two bodies differ, a missing final CRLF aside; nothing when they are
// equal.
[[nodiscard]] std::optional<std::size_t> first_difference(std::string_view made,
                                                          std::string_view received) noexcept;

}  // namespace postal::mail
