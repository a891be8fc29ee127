// SPDX-License-Identifier: GPL-3.0-or-later
#include "testbed/dirty_limit.hpp"

#include "base/file_descriptor.hpp"
#include "base/read_file.hpp"
#include "base/text.hpp"

#include <fmt/format.h>

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

namespace postal::testbed {

base::expected<dirty_limit> plan_dirty_limit(const std::string& device, std::uint64_t octets) {
    namespace fs = std::filesystem;
    const fs::path folder = fs::path("/sys/block") / fs::path(device).filename() / "bdi";
    const auto value_of = [&](const char* name) -> base::expected<std::string> {
        const auto text = base::read_file(folder / name);
        if (!text) return text.error();
        return {boost::system::in_place_value, std::string(base::trim(*text))};
    };
    const auto setting = [&](const char* name, std::string value) {
        return kernel_setting{(folder / name).string(), std::move(value)};
    };
    const auto ratio = value_of("max_ratio");
    if (!ratio) return ratio.error();
    dirty_limit result;
    const auto strict = value_of("strict_limit");
    if (strict) {
        result.wanted = {setting("max_bytes", std::to_string(octets)),
                         setting("strict_limit", "1")};
        result.before = {setting("strict_limit", *strict), setting("max_ratio", *ratio)};
    } else {
        result.wanted = {setting("max_ratio", "1")};
        result.before = {setting("max_ratio", *ratio)};
    }
    return {boost::system::in_place_value, std::move(result)};
}

base::expected<void> apply(const kernel_setting& one) {
    const base::file_descriptor file(::open(one.path.c_str(), O_WRONLY | O_CLOEXEC));
    if (!file.is_open() && errno == ENOENT) return {};
    if (file.is_open() && ::write(file.get(), one.value.data(), one.value.size()) ==
                              static_cast<ssize_t>(one.value.size()))
        return {};
    return base::fail("{}: cannot be set to {}: {}", base::printable(one.path, 300),
                      base::printable(one.value, 40), base::system_message(errno));
}

}  // namespace postal::testbed
