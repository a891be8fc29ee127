// See write_file.hpp. What is written may be the only thing that a long run leaves, so every step
// is checked: write, fsync, close and rename can each be where a full disk shows itself. The
// temporary file's name has this process's number, so two processes may share a folder.
#include "base/write_file.hpp"

#include "base/file_descriptor.hpp"
#include "base/text.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>

namespace postal::base {
namespace {

failure cannot(const std::string& path, int error) {
    return fail("{}: cannot be written: {}", printable(path, 300), system_message(error));
}

// Where the octets go, and to what that is renamed; nothing to rename where a device, a pipe or a
// socket is written to.
struct place {
    std::string written;
    std::string renamed_to;

    file_descriptor open() const {
        const int create = renamed_to.empty() ? 0 : O_CREAT | O_TRUNC | O_NOFOLLOW;
        return file_descriptor(::open(written.c_str(), O_WRONLY | O_CLOEXEC | create, 0666));
    }
};

expected<place> place_of(const std::string& path) {
    std::error_code unknown;
    const auto status = std::filesystem::status(path, unknown);
    if (path.empty()) return cannot(path, ENOENT);
    if (std::filesystem::is_directory(status)) return cannot(path, EISDIR);
    if (std::filesystem::is_other(status)) return place{path, {}};
    const std::string target = std::filesystem::canonical(path, unknown).string();
    const std::string& whole = unknown ? path : target;
    return place{fmt::format("{}.{}.tmp", whole, ::getpid()), whole};
}

}  // namespace

int write_all(int number, std::string_view text) noexcept {
    while (!text.empty()) {
        const ssize_t written = ::write(number, text.data(), text.size());
        if (written < 0 && errno != EINTR) return errno;
        if (written > 0) text.remove_prefix(static_cast<std::size_t>(written));
    }
    return 0;
}

expected<void> write_file(const std::string& path, std::string_view text) {
    if (path == "-") {
        const int error = write_all(STDOUT_FILENO, text);
        if (error != 0) return cannot("standard output", error);
        return {};
    }
    const auto where = place_of(path);
    if (!where) return where.error();
    file_descriptor file = where->open();
    if (!file.is_open()) return cannot(path, errno);
    const bool renamed = !where->renamed_to.empty();
    int error = write_all(file.get(), text);
    // Some file systems only find the disk full when they allocate: fsync, then close, tell.
    if (error == 0 && renamed && ::fsync(file.get()) != 0) error = errno;
    const int at_close = file.close();
    if (error == 0) error = at_close;
    if (error == 0 && renamed) {
        if (std::rename(where->written.c_str(), where->renamed_to.c_str()) != 0) error = errno;
    }
    if (error == 0) return {};
    if (renamed) ::unlink(where->written.c_str());
    return cannot(path, error);
}

expected<void> check_writable(const std::string& path) {
    if (path == "-") return {};
    const auto where = place_of(path);
    if (!where) return where.error();
    const bool renamed = !where->renamed_to.empty();
    if (!renamed && ::access(path.c_str(), W_OK) == 0) return {};
    if (!renamed || !where->open().is_open()) return cannot(path, errno);
    ::unlink(where->written.c_str());
    return {};
}

}  // namespace postal::base
