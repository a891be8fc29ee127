// SPDX-License-Identifier: GPL-3.0-or-later
// See mime_parts.hpp.
#include "mail/mime_parts.hpp"

#include <algorithm>
#include <cassert>

namespace postal::mail {
namespace {

constexpr std::size_t least_text = 40;
static_assert(least_text >= unit_ring::least_octets);

}  // namespace

std::uint64_t mime_part::least() const noexcept {
    if (units != nullptr) return least_text;
    return is_file ? head.size() + tail.size() : base64_ring::line_octets;
}

void mime_parts::add(const mime_part& what) noexcept {
    assert(count_ < most);
    parts_[count_] = what;
    parts_[count_++].octets = what.least();
}

bool mime_parts::settle(base::random_source& random, std::uint64_t octets) noexcept {
    std::uint64_t used = 0;
    bool any_file = false;
    for (const mime_part& one : all()) {
        used += one.octets;
        any_file = any_file || one.is_file;
    }
    if (used > octets) return false;
    std::uint64_t spare = octets - used;
    // Text is short beside files, however large these are.
    const std::uint64_t texts = any_file ? std::min(spare / 2, 300 + random.below(6000)) : spare;
    spare -= share_out(spare - texts, true);
    spare -= share_out(texts, false);
    const auto rest = std::find_if(parts_.begin(), parts_.end(), [](const mime_part& one) {
        return one.units != nullptr && !one.is_file;
    });
    rest->octets += spare;
    return true;
}

std::uint64_t mime_parts::share_out(std::uint64_t octets, bool files) noexcept {
    std::uint64_t weights = 0;
    for (const mime_part& one : all())
        weights += one.is_file == files ? one.weight : 0;
    if (weights == 0) return 0;
    std::uint64_t taken = 0;
    for (mime_part& one : all()) {
        if (one.is_file != files) continue;
        std::uint64_t more = octets / weights * one.weight;
        if (one.lines != nullptr) more -= more % base64_ring::line_octets;
        one.octets += more;
        taken += more;
    }
    return taken;
}

void mime_parts::cut(base::random_source& random, std::string_view around, body_parts& into) const {
    for (std::size_t i = 0; i < count_; ++i) {
        const mime_part& one = parts_[i];
        const auto before = static_cast<std::size_t>(one.at - around.data());
        into.put(around.substr(0, before));
        around.remove_prefix(before);
        if (one.units != nullptr) {
            one.units->cut(random, one.octets, into);
            continue;
        }
        into.put(one.head);
        const std::uint64_t coded = one.octets - one.head.size() - one.tail.size();
        one.lines->cut(random, coded / base64_ring::line_octets, into);
        into.put(one.tail);
    }
    into.put(around);
}

}  // namespace postal::mail
