// SPDX-License-Identifier: GPL-3.0-or-later
// What the tests of lmtp-deliver share: files with a text, and the samples in conf/.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "../temporary_file.hpp"

namespace test {

inline std::string sample_path(std::string_view name) {
    return (std::filesystem::path(POSTAL_SAMPLES) / name).string();
}

}  // namespace test
