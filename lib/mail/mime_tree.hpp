// SPDX-License-Identifier: GPL-3.0-or-later
// The tree of one multipart body (multipart.hpp): everything of it but the contents of its parts.
//
// Flow: mime_tree tree(stock, random, memory); tree.write(shape, attachments);
//       if (tree.settle(octets)) tree.cut(into)
// What stands around the contents is written to memory, which has room for most_octets; the parts'
// places in it are kept, and with the octets left their sizes are settled. Nothing is allocated.
#pragma once

#include "mail/mime_parts.hpp"
#include "mail/multipart.hpp"
#include "mail/text_writer.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace postal::mail {

// How many of a hundred messages have each: chosen so that most messages have text and HTML, about
// half have files, and that a run of some hundred has several of each. It is no claim about what
// mail is like.
enum class mime_shape : std::uint8_t {
    alternative,          // text, HTML
    mixed_plain,          // text, an attachment
    mixed_alternative,    // (text, HTML), one to three attachments
    alternative_related,  // text, (HTML, one or two inline images)
    mixed_related,        // (text, (HTML, an inline image)), one or two attachments
    mixed_message         // text, a message of text, or of text and HTML
};
struct shape_row {
    mime_shape shape;
    unsigned share;
    unsigned most_attachments;
};
inline constexpr std::array<shape_row, 6> mime_shapes{{{mime_shape::alternative, 40, 0},
                                                       {mime_shape::mixed_plain, 15, 1},
                                                       {mime_shape::mixed_alternative, 20, 3},
                                                       {mime_shape::alternative_related, 10, 2},
                                                       {mime_shape::mixed_related, 5, 2},
                                                       {mime_shape::mixed_message, 10, 1}}};

class mime_tree {
  public:
    static constexpr std::size_t most_octets = 8192;

    mime_tree(const multipart_stock& stock, base::random_source& random, char* memory) noexcept;

    // attachments: or inline images, or messages, as the shape has them.
    void write(mime_shape shape, unsigned attachments) noexcept;

    // The sizes of the contents, so that all has this many octets; false when it has more.
    bool settle(std::uint64_t octets) noexcept;
    void cut(body_parts& into) const;

    [[nodiscard]] std::string_view fields() const noexcept {
        return {memory_, static_cast<std::size_t>(body_ - memory_)};
    }

  private:
    static constexpr std::size_t most_depth = 4;

    struct boundary {
        std::array<char, 48> text{};
        std::size_t octets = 0;
        [[nodiscard]] std::string_view view() const noexcept { return {text.data(), octets}; }
    };

    void begin_container(std::string_view subtype) noexcept;
    void begin_part() noexcept;
    void end_container() noexcept;

    void alternative(unsigned images) noexcept;
    void related(unsigned images) noexcept;
    void plain(bool may_be_coded) noexcept;
    void html(std::span<const std::uint64_t> content_ids) noexcept;
    void attachment() noexcept;
    void file(const attachment_type& type, const std::uint64_t* content_id) noexcept;
    void enclosed_message() noexcept;

    const attachment_name& choose_name(attachment_name::choice& chosen) noexcept;
    void put_content_id(std::uint64_t number) noexcept;
    void add(mime_part what) noexcept;
    [[nodiscard]] std::string_view around() const noexcept;

    const multipart_stock& stock_;
    base::random_source& random_;
    char* memory_;
    const char* body_ = nullptr;
    text_writer out_;
    std::size_t language_ = 0;
    std::uint64_t style_ = 0;
    std::array<boundary, most_depth> boundaries_{};
    std::size_t depth_ = 0;
    mime_parts parts_;
};

}  // namespace postal::mail
