// SPDX-License-Identifier: GPL-3.0-or-later
// See multipart.hpp.
#include "mail/multipart.hpp"

#include "base/text.hpp"
#include "mail/mime_tree.hpp"

namespace postal::mail {
namespace {

// Of a plain text; those of a tree have as many octets (mime_tree::begin_container()).
constexpr std::string_view text_fields =
    "MIME-Version: 1.0\r\nContent-Type: text/plain; charset=us-ascii; format=flowed\r\n"
    "Content-Transfer-Encoding: 7bit\r\n";

const shape_row& draw_shape(base::random_source& random) noexcept {
    unsigned all = 0;
    for (const shape_row& one : mime_shapes)
        all += one.share;
    auto left = static_cast<unsigned>(random.below(all));
    for (const shape_row& one : mime_shapes) {
        if (left < one.share) return one;
        left -= one.share;
    }
    return mime_shapes.front();
}

// Writes the tree that was drawn, or the next smaller one that fits; false when none does.
bool write_tree(mime_tree& tree, base::random_source& random, std::uint64_t octets) noexcept {
    const shape_row& drawn = draw_shape(random);
    const unsigned attachments =
        drawn.most_attachments == 0
            ? 0
            : 1 + static_cast<unsigned>(random.below(drawn.most_attachments));
    tree.write(drawn.shape, attachments);
    if (tree.settle(octets)) return true;
    if (attachments > 1) {
        tree.write(drawn.shape, 1);
        if (tree.settle(octets)) return true;
    }
    tree.write(mime_shape::alternative, 0);
    return tree.settle(octets);
}

}  // namespace

multipart_stock::multipart_stock(std::uint64_t seed) : rings(seed), types(make_attachment_types()) {
    for (std::size_t i = 0; i < language_count; ++i) {
        const language& one = languages()[i];
        for (const std::string_view name : base::split(one.names, ' '))
            names[i].emplace_back(one, name);
    }
}

std::size_t multipart_source::fields_octets() const noexcept {
    return text_fields.size();
}

void multipart_source::cut(base::random_source& random, std::uint64_t octets,
                           body_parts& into) const {
    into.final_newline = true;
    into.made.resize(mime_tree::most_octets);
    mime_tree tree(stock_, random, into.made.data());
    if (!write_tree(tree, random, octets)) return cut_text(random, octets, into);
    into.fields = tree.fields();
    tree.cut(into);
}

void multipart_source::cut_text(base::random_source& random, std::uint64_t octets,
                                body_parts& into) const {
    into.fields = text_fields;
    if (octets >= unit_ring::least_octets) {
        stock_.rings.flowed.cut(random, octets, into);
    } else if (octets == 1) {
        into.final_newline = false;
        into.raw.emplace_back("z");
        into.stuffed.emplace_back("z\r\n");
    }
}

}  // namespace postal::mail
