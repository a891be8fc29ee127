// SPDX-License-Identifier: GPL-3.0-or-later
// See mime_tree.hpp. Every part's contents end in CRLF, which by RFC 2046 5.1.1 belongs to the
// boundary behind it.
#include "mail/mime_tree.hpp"

#include <algorithm>
#include <cassert>

namespace postal::mail {
namespace {

constexpr std::size_t longest_subtype = std::string_view("alternative").size();
// So that all fields of a header section have the same size, whatever the subtype.
constexpr std::size_t shortest_boundary = 40;

// As mail programs begin theirs; "=_" is nothing that quoted-printable could hold.
constexpr std::array<std::string_view, 4> boundary_styles{"----=_Part_", "000000000000", "_000_",
                                                          "Apple-Mail=_"};

constexpr std::string_view english_fields =
    "Content-Type: text/plain; charset=us-ascii\r\nContent-Transfer-Encoding: 7bit\r\n\r\n";
constexpr std::string_view flowed_fields =
    "Content-Type: text/plain; charset=us-ascii; format=flowed\r\n"
    "Content-Transfer-Encoding: 7bit\r\n\r\n";
constexpr std::string_view quoted_fields =
    "Content-Type: text/plain; charset=utf-8\r\n"
    "Content-Transfer-Encoding: quoted-printable\r\n\r\n";
constexpr std::string_view coded_fields =
    "Content-Type: text/plain; charset=\"UTF-8\"\r\nContent-Transfer-Encoding: base64\r\n\r\n";
constexpr std::string_view html_fields =
    "Content-Type: text/html; charset=\"utf-8\"\r\n"
    "Content-Transfer-Encoding: quoted-printable\r\n\r\n<html lang=3D\"";

constexpr std::string_view months = "JanFebMarAprMayJunJulAugSepOctNovDec";

}  // namespace

mime_tree::mime_tree(const multipart_stock& stock, base::random_source& random,
                     char* memory) noexcept
    : stock_(stock), random_(random), memory_(memory), body_(memory), out_(memory) {}

void mime_tree::write(mime_shape shape, unsigned attachments) noexcept {
    out_ = text_writer(memory_);
    depth_ = 0;
    parts_.clear();
    style_ = random_.below(boundary_styles.size());
    language_ = random_.below(2) == 0 ? 0 : 1 + random_.below(language_count - 1);
    out_.put("MIME-Version: 1.0\r\n");
    if (shape == mime_shape::alternative || shape == mime_shape::alternative_related) {
        alternative(attachments);
        return;
    }
    begin_container("mixed");
    begin_part();
    if (shape == mime_shape::mixed_alternative || shape == mime_shape::mixed_related)
        alternative(shape == mime_shape::mixed_related ? 1 : 0);
    else
        plain(false);
    for (; attachments > 0; --attachments) {
        begin_part();
        if (shape == mime_shape::mixed_message)
            enclosed_message();
        else
            attachment();
    }
    end_container();
}

// RFC 2046 5.1.1. The outermost one's fields stand in the message's header section.
void mime_tree::begin_container(std::string_view subtype) noexcept {
    boundary& made = boundaries_[depth_];
    text_writer text(made.text.data());
    text.put(boundary_styles[style_]);
    text.put(static_cast<char>('1' + depth_));  // none begins as another one
    made.octets = shortest_boundary + longest_subtype - subtype.size();
    const char* const end = made.text.data() + made.octets;
    while (text.end() < end) {
        std::uint64_t digits = random_.next();
        for (int i = 0; i < 16 && text.end() < end; ++i, digits >>= 4U)
            text.put("0123456789abcdef"[digits & 15U]);
    }
    out_.put("Content-Type: multipart/");
    out_.put(subtype);
    if (subtype == "related") out_.put("; type=\"text/html\"");
    out_.put(";\r\n boundary=\"");
    out_.put(made.view());
    out_.put("\"\r\n");
    if (depth_++ > 0) {
        out_.put("\r\n");
        return;
    }
    body_ = out_.end();
    if (random_.below(2) == 0) out_.put("This is a multi-part message in MIME format.\r\n");
}

void mime_tree::begin_part() noexcept {
    out_.put("--");
    out_.put(boundaries_[depth_ - 1].view());
    out_.put("\r\n");
}

void mime_tree::end_container() noexcept {
    out_.put("--");
    out_.put(boundaries_[--depth_].view());
    out_.put("--\r\n");
}

void mime_tree::alternative(unsigned images) noexcept {
    begin_container("alternative");
    begin_part();
    plain(true);
    begin_part();
    if (images > 0)
        related(images);
    else
        html({});
    end_container();
}

void mime_tree::related(unsigned images) noexcept {
    const std::array<std::uint64_t, 2> ids{random_.next(), random_.next()};
    const auto used = std::span(ids).first(std::min<std::size_t>(images, ids.size()));
    begin_container("related");
    begin_part();
    html(used);
    for (const std::uint64_t& id : used) {
        begin_part();
        file(stock_.types[random_.below(image_types)], &id);
    }
    end_container();
}

// may_be_coded: another part can take what is left.
void mime_tree::plain(bool may_be_coded) noexcept {
    const text_rings& rings = stock_.rings;
    mime_part text{.units = &rings.in[language_].plain, .weight = 1 + random_.below(3)};
    if (language_ == 0) {
        const bool flowed = random_.below(2) == 0;
        out_.put(flowed ? flowed_fields : english_fields);
        if (flowed) text.units = &rings.flowed;
    } else if (may_be_coded && random_.below(3) == 0) {
        out_.put(coded_fields);
        text.units = nullptr;
        text.lines = &rings.in[language_].coded;
    } else {
        out_.put(quoted_fields);
    }
    add(text);
}

void mime_tree::html(std::span<const std::uint64_t> content_ids) noexcept {
    const std::string_view tag = languages()[language_].tag;
    out_.put(html_fields);
    out_.put(tag);
    out_.put(tag == "ar" ? "\" dir=3D\"rtl\"><head>\r\n" : "\"><head>\r\n");
    out_.put("<meta charset=3D\"utf-8\"></head><body>\r\n");
    add({.units = &stock_.rings.in[language_].html, .weight = 2 + random_.below(5)});
    for (const std::uint64_t id : content_ids) {
        out_.put("<p><img src=3D\"cid:");
        put_content_id(id);
        out_.put("\" alt=3D\"\"></p>\r\n");
    }
    out_.put("</body></html>\r\n");
}

void mime_tree::put_content_id(std::uint64_t number) noexcept {
    out_.hex(number);
    out_.put("@example.com");
}

const attachment_name& mime_tree::choose_name(attachment_name::choice& chosen) noexcept {
    chosen.form = static_cast<name_form>(random_.below(name_forms));
    chosen.number = random_.below(10'000);
    const auto& names = stock_.names[language_];
    return names[random_.below(names.size())];
}

void mime_tree::attachment() noexcept {
    const std::size_t which = random_.below(stock_.types.size() + 1);
    if (which < stock_.types.size()) return file(stock_.types[which], nullptr);
    attachment_name::choice chosen{.extension = ".csv"};
    const attachment_name& name = choose_name(chosen);
    out_.put("Content-Type: text/csv; charset=utf-8; header=absent");
    name.put_type_parameters(chosen, out_);
    out_.put("\r\nContent-Transfer-Encoding: quoted-printable\r\nContent-Disposition: attachment");
    name.put_disposition_parameters(chosen, out_);
    out_.put("\r\n\r\n");
    add({.units = &stock_.rings.table, .weight = 1 + random_.below(8), .is_file = true});
}

// RFC 2183; with a Content-ID (RFC 2392) it is shown within the HTML.
void mime_tree::file(const attachment_type& type, const std::uint64_t* content_id) noexcept {
    attachment_name::choice chosen{.extension = type.extension};
    const attachment_name& name = choose_name(chosen);
    out_.put("Content-Type: ");
    out_.put(type.media_type);
    name.put_type_parameters(chosen, out_);
    out_.put("\r\nContent-Transfer-Encoding: base64\r\n");
    if (content_id != nullptr) {
        out_.put("Content-ID: <");
        put_content_id(*content_id);
        out_.put(">\r\nContent-Disposition: inline");
    } else {
        if (random_.below(4) == 0) {
            out_.put("Content-Description: ");
            out_.put(name.description());
            out_.put("\r\n");
        }
        out_.put("Content-Disposition: attachment");
    }
    name.put_disposition_parameters(chosen, out_);
    out_.put("\r\n\r\n");
    add({.lines = &stock_.rings.noise,
         .head = type.head,
         .tail = type.tail,
         .weight = 1 + random_.below(8),
         .is_file = true});
}

void mime_tree::enclosed_message() noexcept {
    const auto& names = stock_.names[language_];
    const std::string_view words = names[random_.below(names.size())].description();
    const std::uint64_t when = random_.next();
    out_.put("Content-Type: message/rfc822\r\nContent-Disposition: attachment\r\n\r\nFrom: ");
    out_.put(words);
    out_.put(" <from@example.org>\r\nTo: <to@example.net>\r\nSubject: ");
    out_.put(words);
    out_.put("\r\nDate: ");
    out_.decimal(1 + when % 28);
    out_.put(' ');
    out_.put(months.substr((when >> 8U) % 12 * 3, 3));
    out_.put(" 20");
    out_.decimal(10 + (when >> 16U) % 15);
    out_.put(' ');
    out_.padded((when >> 24U) % 24, 2);
    out_.put(':');
    out_.padded((when >> 32U) % 60, 2);
    out_.put(":00 +0000\r\nMessage-ID: <");
    put_content_id(when);
    out_.put(">\r\nMIME-Version: 1.0\r\n");
    if (random_.below(2) == 0)
        alternative(0);
    else
        plain(false);
}

void mime_tree::add(mime_part what) noexcept {
    what.at = out_.end();
    parts_.add(what);
}

// All that was written of the body.
std::string_view mime_tree::around() const noexcept {
    return {body_, static_cast<std::size_t>(out_.end() - body_)};
}

bool mime_tree::settle(std::uint64_t octets) noexcept {
    assert(out_.end() - memory_ <= static_cast<std::ptrdiff_t>(most_octets));
    const std::size_t written = around().size();
    return written <= octets && parts_.settle(random_, octets - written);
}

void mime_tree::cut(body_parts& into) const {
    parts_.cut(random_, around(), into);
}

}  // namespace postal::mail
