// SPDX-License-Identifier: GPL-3.0-or-later
#include "postal-report/packed.hpp"

#include <utility>

#include "base/text.hpp"
#include "bundle/secrets.hpp"

namespace postal::report {

base::expected<std::size_t> packed_files::add_json(const std::string& name, std::string_view text) {
    auto cleaned = bundle::json_without_secrets(text);
    if (!cleaned)
        return base::fail("{}: is no JSON: {}", base::printable(name, 300),
                          base::printable(cleaned.error().message, 300));
    all[name] = std::move(cleaned->text);
    return cleaned->removed;
}

}  // namespace postal::report
