// SPDX-License-Identifier: GPL-3.0-or-later
#include "bhm/kept_paths.hpp"

#include "base/release.hpp"

#include <string_view>

namespace postal::bhm {
namespace {

constexpr std::size_t kept_octets = 1024;  // octets, in an idle session
constexpr std::size_t least_room = 64;

}  // namespace

kept_paths::place kept_paths::keep(const proto::path& one) {
    place where;
    where.begin_ = static_cast<std::uint32_t>(octets_.size());
    where.octets_ = static_cast<std::uint16_t>(one.mailbox.size());
    where.local_octets_ = static_cast<std::uint16_t>(one.local_part.size());
    where.quoted_ = one.quoted;
    where.non_ascii_ = one.non_ascii;
    where.null_ = one.null;
    // By a quarter, not by all of it, as insert() alone would.
    const std::size_t needed = octets_.size() + one.mailbox.size();
    if (needed > octets_.capacity()) octets_.reserve(needed + needed / 4 + least_room);
    octets_.insert(octets_.end(), one.mailbox.begin(), one.mailbox.end());
    return where;
}

proto::path kept_paths::at(const place& where) const noexcept {
    proto::path made;
    made.mailbox =
        std::string_view(octets_.data(), octets_.size()).substr(where.begin_, where.octets_);
    made.local_part = made.mailbox.substr(0, where.local_octets_);
    if (where.local_octets_ < where.octets_)
        made.domain = made.mailbox.substr(where.local_octets_ + std::size_t{1});
    made.quoted = where.quoted_;
    made.non_ascii = where.non_ascii_;
    made.null = where.null_;
    return made;
}

void kept_paths::clear() {
    octets_.clear();
    if (octets_.capacity() > kept_octets) base::release(octets_);
}

}  // namespace postal::bhm
