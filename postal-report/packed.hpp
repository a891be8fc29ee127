// SPDX-License-Identifier: GPL-3.0-or-later
// Files on their way into a bundle: read, without what is known to be secret.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "bundle/manifest.hpp"

namespace postal::report {

struct packed_files {
    bundle::files all{};
    std::vector<bundle::left_out_file> left_out{};
    std::vector<std::string> remarks{};  // where a secret may lie, one each

    // A JSON document, without its secrets; how many were left out. Fails where it is no JSON.
    base::expected<std::size_t> add_json(const std::string& name, std::string_view text);
};

}  // namespace postal::report
