// SPDX-License-Identifier: GPL-3.0-or-later
// Implementation notes: content is scanned 64 octets at a time. Three bit masks (CR, LF, dot) say
// with a few shifts where lines begin with a dot and whether a CR or LF stands alone, so the cost
// does not depend on the length of the lines: a few tenths of a microsecond for 5 KiB. Masks are
// made for some blocks ahead, few at first, because a dot ends the scan and what was made behind it
// is lost. Chunks have no dots to look for: each octet is held against the one before it.
#include "proto/smtp/data_decoder.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "proto/octet_masks.hpp"

namespace postal::proto {
namespace {

constexpr std::size_t first_ahead = 2;
constexpr std::size_t most_ahead = 16;

// What the masks of one block say, and what the block before it left to them.
struct line_tracker {
    std::uint64_t carry_cr;     // the last octet was CR
    std::uint64_t carry_start;  // a line begins with the next octet
    std::uint64_t bare = 0;

    // The place of the first of the dots at a line start among `length` octets, or `length`.
    std::size_t take(const octet_masks& masks, std::size_t length) noexcept {
        const std::uint64_t behind_cr = masks.cr << 1 | carry_cr;
        const std::uint64_t line_end = masks.lf & behind_cr;
        const std::uint64_t dotted = (line_end << 1 | carry_start) & masks.dot;
        const std::uint64_t alone = masks.lf ^ behind_cr;
        if (dotted != 0) [[unlikely]] {
            const auto at = static_cast<std::size_t>(std::countr_zero(dotted));
            bare |= alone & ((1ULL << at) - 1);
            return at;
        }
        bare |= length == mask_block ? alone : alone & ((1ULL << length) - 1);
        carry_cr = masks.cr >> (length - 1) & 1;
        carry_start = line_end >> (length - 1) & 1;
        return length;
    }
};

// Whether an LF stands without a CR before it, or a CR without an LF behind it; what is behind the
// last octet is not known yet. The last block may overlap the one before it.
bool has_bare_line_end(std::string_view octets, bool behind_cr) noexcept {
    if ((octets.front() == '\n') != behind_cr) return true;
    const char* at = octets.data() + 1;
    const char* const end = octets.data() + octets.size();
    if (const std::size_t blocks = (octets.size() - 1) / mask_block; blocks != 0) {
        const check_line_ends fine = line_end_checker();
        return !fine(at, blocks) || !fine(end - mask_block, 1);
    }
    while (at != end && (at[0] == '\n') == (at[-1] == '\r'))
        ++at;
    return at != end;
}

}  // namespace

void data_decoder::look(std::string_view input) noexcept {
    if (input.empty()) return;
    bare_newline_ = bare_newline_ || has_bare_line_end(input, ends_in_cr());
    state_ = input.back() == '\r' ? state::after_cr : state::text;
}

// Content up to the first dot at a line start; octets scanned. Keeps state_ for what follows.
std::size_t data_decoder::scan(std::string_view input) noexcept {
    line_tracker lines{.carry_cr = state_ == state::after_cr ? 1ULL : 0ULL,
                       .carry_start = state_ == state::line_start ? 1ULL : 0ULL};
    const find_octet_masks find = octet_mask_finder();
    octet_masks masks[most_ahead];
    std::size_t at = 0;
    bool dotted = false;
    for (std::size_t ahead = first_ahead; !dotted && input.size() - at >= mask_block;
         ahead = std::min(2 * ahead, most_ahead)) {
        const std::size_t blocks = std::min(ahead, (input.size() - at) / mask_block);
        find(input.data() + at, blocks, masks);
        for (std::size_t block = 0; block < blocks && !dotted; ++block) {
            const std::size_t taken = lines.take(masks[block], mask_block);
            at += taken;
            dotted = taken != mask_block;
        }
    }
    const std::size_t rest = input.size() - at;
    if (!dotted && rest != 0) {
        char tail[mask_block]{};
        std::memcpy(tail, input.data() + at, rest);
        find(tail, 1, masks);
        const std::size_t taken = lines.take(masks[0], rest);
        at += taken;
        dotted = taken != rest;
    }
    bare_newline_ = bare_newline_ || lines.bare != 0;
    state_ = dotted                   ? state::dot
             : lines.carry_cr != 0    ? state::after_cr
             : lines.carry_start != 0 ? state::line_start
                                      : state::text;
    return at;
}

// A dot at a line start has been taken: is it the end, or a stuffed dot?
data_step data_decoder::after_dot(std::string_view input) noexcept {
    std::size_t taken = 0;
    if (state_ == state::dot && input[0] == '\r') {
        state_ = state::dot_cr;
        taken = 1;
        if (input.size() == 1) return {.consumed = 1};
    }
    if (state_ == state::dot_cr) {
        if (input[taken] == '\n') {
            state_ = state::line_start;
            return {.consumed = taken + 1, .content = {}, .end = true};
        }
        // The CR held back turns out to be content, and a bare one; after_cr makes scan() see that.
        state_ = state::after_cr;
        return {.consumed = taken, .content = "\r"};
    }
    state_ = state::text;
    return {};
}

data_step data_decoder::next(std::string_view input) noexcept {
    if (input.empty()) return {};
    if (state_ == state::dot || state_ == state::dot_cr) {
        const data_step step = after_dot(input);
        if (step.consumed != 0 || !step.content.empty()) return step;
    }
    const std::size_t length = scan(input);
    const std::size_t dot = state_ == state::dot ? 1 : 0;
    return {.consumed = length + dot, .content = input.substr(0, length)};
}

}  // namespace postal::proto
