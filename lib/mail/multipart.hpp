// SPDX-License-Identifier: GPL-3.0-or-later
// Bodies that are MIME trees (RFC 2045 to 2049), for servers that parse what they take.
//
// A tree has one of six shapes: text and HTML as multipart/alternative, with inline images in
// multipart/related (RFC 2387), text with attachments as multipart/mixed, also with a message of
// its own as message/rfc822. Text is English, 7bit, some of it format=flowed (RFC 3676), or another
// language in UTF-8, as quoted-printable or base64. mime_tree.hpp has shapes and their shares.
//
// All is 7-bit, so that no relay has a reason to encode it anew. Every header section has equally
// many octets of fields that say what the body is, whatever that is, so that a reader who knows a
// message's size knows its body's: shape and sizes follow from the random source and from the size
// alone. Where the shape that was drawn does not fit, it loses attachments, becomes text and HTML,
// or a plain text. All parts but one, a text in 7bit or quoted-printable, have the size that their
// encoding allows; that one takes what is left.
//
// Nothing fails. Limits: no octets above 127, no charset but UTF-8 in bodies, no epilogue; what is
// between beginning and end of an attachment is noise, which repeats after 95,817 octets.
#pragma once

#include "mail/attachments.hpp"
#include "mail/body_source.hpp"
#include "mail/text_rings.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace postal::mail {

// What trees are made from.
struct multipart_stock {
    explicit multipart_stock(std::uint64_t seed);

    text_rings rings;
    std::vector<attachment_type> types;
    std::array<std::vector<attachment_name>, language_count> names{};
};

class multipart_source final : public body_source {
  public:
    explicit multipart_source(std::uint64_t seed) : stock_(seed) {}

    [[nodiscard]] body_kind kind() const noexcept override { return body_kind::multipart; }
    [[nodiscard]] std::size_t fields_octets() const noexcept override;
    void cut(base::random_source& random, std::uint64_t octets, body_parts& into) const override;

  private:
    void cut_text(base::random_source& random, std::uint64_t octets, body_parts& into) const;

    multipart_stock stock_;
};

}  // namespace postal::mail
