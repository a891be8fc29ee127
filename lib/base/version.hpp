// SPDX-License-Identifier: GPL-3.0-or-later
// Which build this is. The values are written by cmake/write_version.cmake at each build.
#pragma once

#include <string_view>

namespace postal::base {

// "1.0.0": the release that this is or that it came after. What messages are made of, so that the
// same seed makes the same octets in all builds of a release.
extern const std::string_view release_version;

// "1.0.0", or between releases "1.0.0+git20260131.0123456789", with ".dirty" behind it for sources
// that were changed after the commit. Letters, digits, '+' and '.'.
extern const std::string_view build_version;

}  // namespace postal::base
