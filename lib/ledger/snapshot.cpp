// SPDX-License-Identifier: GPL-3.0-or-later
#include "ledger/snapshot.hpp"

#include "base/file_descriptor.hpp"
#include "ledger/schema.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <string_view>

namespace postal::ledger {

bool looks_like_ledger(const std::string& path) {
    constexpr std::string_view magic("SQLite format 3\0", 16);
    const base::file_descriptor file(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
    struct stat is {};
    if (!file.is_open() || ::fstat(file.get(), &is) != 0 || !S_ISREG(is.st_mode)) return false;
    std::array<char, magic.size()> begins{};
    return ::read(file.get(), begins.data(), begins.size()) ==
               static_cast<ssize_t>(begins.size()) &&
           std::string_view(begins.data(), begins.size()) == magic;
}

base::expected<std::string> snapshot(const std::string& path, std::uint64_t most) {
    auto opened = open_to_read(path);
    if (!opened) return opened.error();
    return opened->octets(most);
}

}  // namespace postal::ledger
