// SPDX-License-Identifier: GPL-3.0-or-later
// See environment_file.hpp.
#include "lmtp-deliver/environment_file.hpp"

#include <algorithm>
#include <cerrno>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file_descriptor.hpp"
#include "base/read_file.hpp"
#include "base/text.hpp"

namespace postal::lmtp_deliver {
namespace {

constexpr std::uint64_t most_octets = 64 * 1024;

bool is_variable_name(std::string_view text) {
    return !text.empty() && !base::is_digit(text.front()) &&
           std::all_of(text.begin(), text.end(), [](char c) {
               const char lower = base::ascii_lower(c);
               return (lower >= 'a' && lower <= 'z') || base::is_digit(c) || c == '_';
           });
}

base::expected<void> check_secrecy(int file, const std::string& path) {
    struct stat about {};
    if (::fstat(file, &about) != 0)
        return base::at(path, base::fail("{}", base::system_message(errno)));
    if (!S_ISREG(about.st_mode)) return base::fail("{}: is no regular file", path);
    if (about.st_uid != 0 && about.st_uid != ::geteuid()) {
        return base::fail("{}: belongs to user number {}; it must be root's or of who runs this",
                          path, about.st_uid);
    }
    if ((about.st_mode & 077U) == 0) return {};
    return base::fail("{}: others may use it (mode {:04o}); 'chmod 600' closes it to them", path,
                      about.st_mode & 07777U);
}

}  // namespace

base::expected<std::vector<std::string>> parse_environment(std::string_view text,
                                                           const std::string& name) {
    std::vector<std::string> settings;
    std::size_t number = 0;
    for (std::string_view line : base::split(text, '\n')) {
        ++number;
        if (line.ends_with('\r')) line.remove_suffix(1);
        const std::string_view seen = base::trim(line);
        if (seen.empty() || seen.front() == '#') continue;
        const std::size_t equals = line.find('=');
        // Not what the line says, which may be a secret.
        if (equals == line.npos || !is_variable_name(line.substr(0, equals))) {
            return base::fail("{}:{}: is not NAME=VALUE, with letters, digits and _ in the name",
                              name, number);
        }
        const std::string_view variable = line.substr(0, equals + 1);
        if (line.find('\0') != line.npos) {
            return base::fail("{}:{}: the value of {} has a NUL in it", name, number,
                              line.substr(0, equals));
        }
        const bool twice =
            std::any_of(settings.begin(), settings.end(),
                        [&](const std::string& one) { return one.starts_with(variable); });
        if (twice) {
            return base::fail("{}:{}: {} stands there twice", name, number, line.substr(0, equals));
        }
        settings.emplace_back(line);
    }
    return settings;
}

base::expected<std::vector<std::string>> load_environment(const std::string& path) {
    const std::string name = base::printable(path, 300);
    // A FIFO would be waited for.
    const base::file_descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (!file.is_open()) return base::fail("{}: {}", name, base::system_message(errno));
    const auto closed = check_secrecy(file.get(), name);
    if (!closed) return closed.error();
    const auto text = base::read_descriptor(file.get(), path, most_octets);
    if (!text) return text.error();
    return parse_environment(*text, name);
}

}  // namespace postal::lmtp_deliver
