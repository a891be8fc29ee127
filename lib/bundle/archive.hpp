// SPDX-License-Identifier: GPL-3.0-or-later
// A bundle as octets: a tar archive, compressed by gzip, of plain files with plain names.
//
// Written the same for the same files: the manifest first, so that a bundle is known by its
// beginning, then in the order of their names, with no time, owner or mode of their own; what is
// beyond the bounds would not be read, so it is not written either. Read into memory, and nowhere
// else: whoever made an archive chooses no name on a disk. It is refused, with one line, where it
// is anything but a tar within one gzip, or has what is no plain file, a name that is not
// is_plain_name() or there twice, more than the bounds allow, or anything behind the gzip; the
// bounds are held while it is read, so that a bomb ends at them. What lies within the gzip behind
// the tar's end is nothing (tar pads), and only its amount has a bound.
//
// A failure may quote names from the archive. A build without libarchive (POSTAL_BUNDLES) has the
// same functions, of which these two fail.
#pragma once

#include "base/result.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace postal::bundle {

using files = std::map<std::string, std::string, std::less<>>;  // content by name

struct archive_bounds {
    std::uint64_t archive = std::uint64_t{256} << 20U;
    std::uint64_t file = std::uint64_t{256} << 20U;
    std::uint64_t all = std::uint64_t{1} << 30U;  // of files, and of what gzip holds
    std::size_t files = 100000;
};

inline constexpr std::size_t longest_name = 255;

// Letters, digits and "._+=,@%-" between slashes: no folder's own name, no way out of one.
[[nodiscard]] bool is_plain_name(std::string_view name) noexcept;

// Whether a file that begins so may be a bundle: to be read.
[[nodiscard]] bool looks_like_archive(std::string_view beginning) noexcept;
// Whether the first octets, 4096 suffice, are those of a bundle that write_archive() made: to be
// replaced.
[[nodiscard]] bool looks_like_bundle(std::string_view beginning);

[[nodiscard]] base::expected<std::string> write_archive(const files& all,
                                                        const archive_bounds& bounds = {});
[[nodiscard]] base::expected<files> read_archive(std::string_view octets,
                                                 const archive_bounds& bounds = {});

}  // namespace postal::bundle
