// SPDX-License-Identifier: GPL-3.0-or-later
#include "bundle/temporary_folder.hpp"

#include "base/write_file.hpp"

#include <cerrno>
#include <cstdlib>
#include <filesystem>

namespace postal::bundle {

base::expected<temporary_folder> temporary_folder::make() {
    const char* const wanted = std::getenv("TMPDIR");
    std::string path = wanted != nullptr && *wanted == '/' ? wanted : "/tmp";
    path += "/postal-bundle-XXXXXX";
    if (::mkdtemp(path.data()) == nullptr)
        return base::fail("no temporary folder: {}", base::system_message(errno));
    return temporary_folder(std::move(path));
}

temporary_folder::~temporary_folder() {
    if (path_.empty()) return;
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
}

std::string temporary_folder::at(std::string_view name) const {
    return path_ + "/" + std::string(name);
}

base::expected<std::string> temporary_folder::keep(std::string_view name,
                                                   std::string_view content) const {
    std::string path = at(name);
    const auto written = base::write_file(path, content);
    if (!written) return written.error();
    return {boost::system::in_place_value, std::move(path)};
}

}  // namespace postal::bundle
