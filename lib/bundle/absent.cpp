// SPDX-License-Identifier: GPL-3.0-or-later
// Bundles in a build without libarchive.
#include "bundle/archive.hpp"

namespace postal::bundle {

base::expected<std::string> write_archive(const files&, const archive_bounds&) {
    return base::fail("this build has no bundles");
}

base::expected<files> read_archive(std::string_view, const archive_bounds&) {
    return base::fail("this build has no bundles");
}

}  // namespace postal::bundle
