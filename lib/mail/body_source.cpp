// SPDX-License-Identifier: GPL-3.0-or-later
// See body_source.hpp.
#include "mail/body_source.hpp"

#include "mail/multipart.hpp"
#include "mail/pool.hpp"

namespace postal::mail {

std::unique_ptr<const body_source> make_body_source(std::uint64_t seed, body_kind kind) {
    if (kind == body_kind::multipart) return std::make_unique<multipart_source>(seed);
    return std::make_unique<pool>(seed, kind);
}

}  // namespace postal::mail
