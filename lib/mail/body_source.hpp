// SPDX-License-Identifier: GPL-3.0-or-later
// What bodies of one kind are cut from, and the pieces of a body. Two sources exist: pool,
// multipart_source.
//
// A body is a function of the source's seed, the random source and its size, so that who knows an
// identity header can remake it. Nothing fails, and once a body_parts has been used, cutting
// another body into it allocates nothing.
#pragma once

#include "base/random.hpp"
#include "mail/body_kind.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace postal::mail {

// The pieces of one body, in both forms, in order. They point into a source, into constants and
// into `made`.
struct body_parts {
    std::vector<std::string_view> raw;
    std::vector<std::string_view> stuffed;  // ends in CRLF unless empty
    bool final_newline = true;              // whether raw ends in CRLF (or is empty)
    std::string_view fields;                // of the header section: what the body is, with CRLF
    std::string made;                       // text of this body alone

    void clear() noexcept {
        raw.clear();
        stuffed.clear();
        final_newline = true;
        fields = {};
    }
    // A piece of which no line begins with a dot.
    void put(std::string_view piece) {
        if (piece.empty()) return;
        raw.push_back(piece);
        stuffed.push_back(piece);
    }
};

class body_source {
  public:
    body_source() = default;
    body_source(const body_source&) = delete;
    body_source& operator=(const body_source&) = delete;
    virtual ~body_source() = default;

    [[nodiscard]] virtual body_kind kind() const noexcept = 0;
    // How many octets cut() gives as `fields`, whatever it cuts.
    [[nodiscard]] virtual std::size_t fields_octets() const noexcept = 0;
    // Appends a body of exactly this many octets.
    virtual void cut(base::random_source& random, std::uint64_t octets, body_parts& into) const = 0;
};

// kind: one that is generated.
[[nodiscard]] std::unique_ptr<const body_source> make_body_source(std::uint64_t seed,
                                                                  body_kind kind);

}  // namespace postal::mail
