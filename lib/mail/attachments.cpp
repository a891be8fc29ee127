// SPDX-License-Identifier: GPL-3.0-or-later
// See attachments.hpp.
#include "mail/attachments.hpp"

#include "base/text.hpp"
#include "mail/subject_words.hpp"
#include "mail/text_rings.hpp"
#include "proto/base64.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace postal::mail {
namespace {

using namespace std::string_view_literals;

constexpr std::string_view new_parameter = ";\r\n ";

struct file_ends {
    std::string_view media_type;
    std::string_view extension;
    std::string_view first;
    char filler;  // up to a line of base64
    std::string_view last;
};

// PNG: an IHDR of 256 by 256 with its CRC, the beginning of an IDAT, an IEND. ZIP and what is made
// with it: the header of one file with its name, an end of the central directory.
constexpr std::string_view png_first =
    "\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x01\0\0\0\x01\0\x08\x06\0\0\0\x5c\x72\xa8\x66"
    "\0\x01\0\0IDAT\x78\x9c"sv;
constexpr std::string_view png_last = "\0\0\0\0IEND\xae\x42\x60\x82"sv;
constexpr std::string_view jpeg_first =
    "\xff\xd8\xff\xe0\0\x10JFIF\0\x01\x01\0\0\x48\0\x48\0\0\xff\xdb\0\x43\0"sv;
constexpr std::string_view zip_first =
    "PK\x03\x04\x14\0\0\0\x08\0\0\0\x21\x58\0\0\0\0\0\0\0\0\0\0\0\0\x08\0\0\0"
    "data.bin"sv;
constexpr std::string_view office_first =
    "PK\x03\x04\x14\0\x06\0\x08\0\0\0\x21\0\0\0\0\0\0\0\0\0\0\0\0\0\x13\0\0\0"
    "[Content_Types].xml"sv;
constexpr std::string_view zip_last = "PK\x05\x06\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"sv;

constexpr std::array<file_ends, 6> all_types{
    {{"image/png", ".png", png_first, '\0', png_last},
     {"image/jpeg", ".jpg", jpeg_first, '\x10', "\xff\xd9"},
     {"application/pdf", ".pdf",
      "%PDF-1.4\n%\xe2\xe3\xcf\xd3\n1 0 obj\n<</Filter/FlateDecode>>\nstream\n", '\n',
      "\nendstream\nendobj\nstartxref\n0\n%%EOF\n"},
     {"application/zip", ".zip", zip_first, '\0', zip_last},
     {"application/vnd.openxmlformats-officedocument.wordprocessingml.document", ".docx",
      office_first, '\0', zip_last},
     {"application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", ".xlsx", office_first,
      '\0', zip_last}}};

std::string percent_encoded(std::string_view text) {
    std::string to;
    for (const char c : text) {
        const bool itself = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        to += itself ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
    return to;
}

// "-1234.pdf"
void put_end(const attachment_name::choice& chosen, text_writer& out) noexcept {
    out.put('-');
    out.padded(chosen.number, 4);
    out.put(chosen.extension);
}

}  // namespace

std::vector<attachment_type> make_attachment_types() {
    std::vector<attachment_type> made;
    for (const file_ends& one : all_types) {
        std::string first(one.first);
        first.resize(base64_ring::decoded_octets, one.filler);
        made.push_back({one.media_type, one.extension, proto::to_base64(first) + "\r\n",
                        proto::to_base64(one.last) + "\r\n"});
    }
    return made;
}

attachment_name::attachment_name(const language& of, std::string_view name)
    : tag_(of.tag), latin1_(of.latin1_name) {
    const bool ascii = std::all_of(name.begin(), name.end(),
                                   [](char c) { return static_cast<unsigned char>(c) < 128; });
    description_ = ascii ? std::string(name) : subject_words::encoded_word("UTF-8", 'B', name);
    if (ascii) {
        plain_ = name;
        return;
    }
    encoded_ = subject_words::encoded_word("UTF-8", 'Q', name);
    encoded_.resize(encoded_.size() - 2);  // more of it follows
    // Not within a character: some readers decode each piece by itself.
    std::size_t half = name.size() / 2;
    while ((static_cast<unsigned char>(name[half]) & 0xc0U) == 0x80U)
        ++half;
    percent_ = {percent_encoded(name.substr(0, half)), percent_encoded(name.substr(half))};
}

void attachment_name::put_quoted(std::string_view parameter, const choice& chosen,
                                 text_writer& out) const noexcept {
    out.put(new_parameter);
    out.put(parameter);
    out.put("=\"");
    out.put(std::string_view(plain_.empty() ? encoded_ : plain_));
    put_end(chosen, out);
    out.put(plain_.empty() ? "?=\"" : "\"");
}

void attachment_name::put_type_parameters(const choice& chosen, text_writer& out) const noexcept {
    if (plain_.empty() && chosen.form != name_form::encoded_word) return;
    put_quoted("name", chosen, out);
}

void attachment_name::put_disposition_parameters(const choice& chosen,
                                                 text_writer& out) const noexcept {
    if (!plain_.empty() || chosen.form == name_form::encoded_word)
        return put_quoted("filename", chosen, out);
    const auto put_percent = [&] {
        out.put(std::string_view(percent_[0]));
        out.put(std::string_view(percent_[1]));
    };
    out.put(new_parameter);
    if (chosen.form == name_form::continued) {
        out.put("filename*0*=UTF-8''");
        out.put(std::string_view(percent_[0]));
        out.put(";\r\n filename*1*=");
        out.put(std::string_view(percent_[1]));
        out.put(";\r\n filename*2=\"");
        put_end(chosen, out);
        out.put('"');
    } else if (chosen.form == name_form::latin1 && !latin1_.empty()) {
        out.put("filename*=ISO-8859-1''");
        out.put(latin1_);
        put_end(chosen, out);
    } else {
        out.put("filename*=UTF-8'");
        if (chosen.form == name_form::with_language) out.put(tag_);
        out.put('\'');
        put_percent();
        put_end(chosen, out);
    }
}

}  // namespace postal::mail
