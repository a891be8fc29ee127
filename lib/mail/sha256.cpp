// SPDX-License-Identifier: GPL-3.0-or-later
#include "mail/sha256.hpp"

#include "mail/digest.hpp"

namespace postal::mail {

std::string sha256_of(std::string_view text) {
    hasher hash(digest_kind::sha256);
    hash.update(text);
    const std::string digest = to_text(hash.finish());
    return digest.substr(digest.find(':') + 1);
}

}  // namespace postal::mail
