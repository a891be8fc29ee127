// SPDX-License-Identifier: GPL-3.0-or-later
// Attachments of a multipart body (multipart.hpp): their media types, and what their names look
// like in a header.
//
// A file begins and ends as one of its type does; between the two are random octets, so that no
// program can show it. Nothing fails.
#pragma once

#include "base/random.hpp"
#include "mail/languages.hpp"
#include "mail/text_writer.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace postal::mail {

struct attachment_type {
    std::string_view media_type;
    std::string_view extension;
    std::string head;  // the file's first octets: a line of base64 with its CRLF
    std::string tail;  // its last ones: a shorter line
};

// The first are images.
inline constexpr std::size_t image_types = 2;
[[nodiscard]] std::vector<attachment_type> make_attachment_types();

// How a file's name that is not ASCII stands in Content-Type and Content-Disposition.
enum class name_form : std::uint8_t {
    percent_encoded,  // RFC 2231 4, in UTF-8
    with_language,    // the same, and which language it is
    continued,        // RFC 2231 3 and 4.1, in three pieces
    latin1,           // in ISO 8859-1, where the name can be
    encoded_word      // RFC 2047 in quotes, against its section 5, as many mail programs do
};
inline constexpr std::size_t name_forms = 5;

class attachment_name {
  public:
    // One of that language's names.
    attachment_name(const language& of, std::string_view name);

    struct choice {
        name_form form = name_form::percent_encoded;
        std::uint64_t number = 0;  // four digits, a part of the name
        std::string_view extension;
    };
    // Content-Type's parameters, each with ";", a fold and a blank before it; maybe none.
    void put_type_parameters(const choice& chosen, text_writer& out) const noexcept;
    void put_disposition_parameters(const choice& chosen, text_writer& out) const noexcept;
    // The name alone, as an encoded word, or in ASCII.
    [[nodiscard]] std::string_view description() const noexcept { return description_; }

  private:
    void put_quoted(std::string_view parameter, const choice& chosen,
                    text_writer& out) const noexcept;

    std::string_view tag_;
    std::string_view latin1_;               // percent-encoded
    std::string plain_;                     // the name, when it is ASCII
    std::string encoded_;                   // else as the text of an encoded word
    std::array<std::string, 2> percent_{};  // its two halves
    std::string description_;
};

}  // namespace postal::mail
