// SPDX-License-Identifier: GPL-3.0-or-later
#include "bundle/read_beneath.hpp"

#include "base/file_descriptor.hpp"
#include "base/read_file.hpp"
#include "base/text.hpp"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace postal::bundle {

base::expected<std::optional<std::string>> read_if_beneath(const std::string& folder,
                                                           const std::string& name,
                                                           std::uint64_t most) {
    const std::string path = base::printable(folder + "/" + name, 400);
    const base::file_descriptor within(::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (!within.is_open())
        return base::fail("{}: {}", base::printable(folder, 400), base::system_message(errno));
    open_how how{};
    how.flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
    how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS;
    const base::file_descriptor file(
        static_cast<int>(::syscall(SYS_openat2, within.get(), name.c_str(), &how, sizeof how)));
    if (!file.is_open() && (errno == ENOENT || errno == ELOOP)) return std::nullopt;
    if (!file.is_open()) return base::fail("{}: {}", path, base::system_message(errno));
    auto text = base::read_regular_descriptor(file.get(), folder + "/" + name, most);
    if (!text) return text.error();
    return {boost::system::in_place_value, std::move(*text)};
}

base::expected<std::string> read_beneath(const std::string& folder, const std::string& name,
                                         std::uint64_t most) {
    auto text = read_if_beneath(folder, name, most);
    if (!text) return text.error();
    if (!*text)
        return base::fail("{}: is not there, or a link, or behind one",
                          base::printable(folder + "/" + name, 400));
    return {boost::system::in_place_value, std::move(**text)};
}

}  // namespace postal::bundle
