// SPDX-License-Identifier: GPL-3.0-or-later
// See read_file.hpp. POSIX calls instead of streams, because streams do not say why they fail and
// open directories without a word.
#include "base/read_file.hpp"

#include "base/file_descriptor.hpp"
#include "base/interrupted.hpp"
#include "base/text.hpp"
#include "base/units.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

namespace postal::base {
namespace {

failure wrong(const std::string& name, std::string_view reason) {
    return fail("{}: {}", printable(name, 300), reason);
}

failure cannot_read(const std::string& name, int error) {
    return wrong(name, "cannot be read: " + system_message(error));
}

}  // namespace

expected<std::string> read_file(const std::string& path, std::uint64_t most) {
    const file_descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file.is_open()) return cannot_read(path, errno);
    return read_descriptor(file.get(), path, most);
}

expected<std::string> read_regular_file(const std::string& path, std::uint64_t most) {
    // A FIFO that nobody writes to would be waited for.
    const file_descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
    if (!file.is_open()) return cannot_read(path, errno);
    return read_regular_descriptor(file.get(), path, most);
}

expected<std::string> read_regular_descriptor(int number, const std::string& name,
                                              std::uint64_t most) {
    struct stat about {};
    if (::fstat(number, &about) != 0) return cannot_read(name, errno);
    if (!S_ISREG(about.st_mode) && !S_ISDIR(about.st_mode)) return wrong(name, "is no plain file");
    return read_descriptor(number, name, most);
}

expected<std::string> read_descriptor(int number, const std::string& name, std::uint64_t most) {
    struct stat about {};
    if (::fstat(number, &about) != 0) return cannot_read(name, errno);
    if (S_ISDIR(about.st_mode)) return wrong(name, "is a directory, not a file");

    std::string text;
    if (about.st_size > 0) text.reserve(static_cast<std::size_t>(about.st_size) + 1);
    std::array<char, 65536> chunk{};
    while (true) {
        const ssize_t got =
            uninterrupted([&] { return ::read(number, chunk.data(), chunk.size()); });
        if (got == 0) return {boost::system::in_place_value, std::move(text)};
        if (got < 0) return cannot_read(name, errno);
        text.append(chunk.data(), static_cast<std::size_t>(got));
        if (text.size() > most) return wrong(name, "is longer than " + format_size(most));
    }
}

}  // namespace postal::base
