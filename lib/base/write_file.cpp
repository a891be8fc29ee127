// SPDX-License-Identifier: GPL-3.0-or-later
// See write_file.hpp. What is written may be the only thing that a long run leaves, so every step
// is checked: write, fsync, close and rename can each be where a full disk shows itself.
//
// The folder may be one that others can write to. The octets go into a file without a name
// (O_TMPFILE, open(2)), which gets one, by chance, only when it is whole, and is then renamed;
// where a file system has no such files the name is there from the beginning. It is made with
// O_EXCL, in the folder that was opened before, so nobody's link is followed and nobody's file
// written to.
#include "base/write_file.hpp"

#include "base/file_descriptor.hpp"
#include "base/interrupted.hpp"
#include "base/random.hpp"
#include "base/text.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>

namespace postal::base {
namespace {

constexpr const char* names_of_files = "/proc/self/fd";  // how one without a name gets one
constexpr std::size_t longest_beginning = 200;           // of a name; there is room for 255

failure cannot_write(const std::string& path, int error) {
    return fail("{}: cannot be written: {}", printable(path, 300), system_message(error));
}

// A file that others do not see under the name that it is to have, until it is whole. Functions
// give 0 or an errno value; what was not put in its place is gone with its owner.
class unseen_file {
  public:
    unseen_file() = default;
    unseen_file(const unseen_file&) = delete;
    unseen_file& operator=(const unseen_file&) = delete;
    ~unseen_file() {
        if (!temporary_.empty()) ::unlinkat(folder_.get(), temporary_.c_str(), 0);
    }

    int open(const std::string& path) {
        const std::filesystem::path whole(path);
        const std::string folder = whole.has_parent_path() ? whole.parent_path().string() : ".";
        name_ = whole.filename().string();
        folder_ = file_descriptor(::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
        if (!folder_.is_open()) return errno;
        if (::access(names_of_files, X_OK) == 0) {
            file_ = file_descriptor(
                ::openat(folder_.get(), ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666));
            if (file_.is_open()) return 0;
            if (errno != EOPNOTSUPP && errno != EISDIR) return errno;
        }
        temporary_ = fresh_name();
        file_ =
            file_descriptor(::openat(folder_.get(), temporary_.c_str(),
                                     O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666));
        if (file_.is_open()) return 0;
        temporary_.clear();
        return errno;
    }

    int get() const noexcept { return file_.get(); }

    int put_in_place() {
        if (const int error = give_name(); error != 0) return error;
        if (const int error = file_.close(); error != 0) return error;
        if (::renameat(folder_.get(), temporary_.c_str(), folder_.get(), name_.c_str()) != 0) {
            return errno;
        }
        temporary_.clear();
        return 0;
    }

  private:
    std::string fresh_name() const {
        return fmt::format("{}.{:016x}.tmp", name_.substr(0, longest_beginning), fresh_entropy());
    }

    int give_name() {
        if (!temporary_.empty()) return 0;
        const std::string unnamed = fmt::format("{}/{}", names_of_files, file_.get());
        const std::string name = fresh_name();
        if (::linkat(AT_FDCWD, unnamed.c_str(), folder_.get(), name.c_str(), AT_SYMLINK_FOLLOW) !=
            0) {
            return errno;
        }
        temporary_ = name;
        return 0;
    }

    std::string name_;
    std::string temporary_;  // empty: there is no such name
    file_descriptor folder_;
    file_descriptor file_;
};

// A device, a pipe or a socket is written straight to.
struct place {
    std::string path;
    bool straight = false;
};

expected<place> place_of(const std::string& path) {
    std::error_code unknown;
    const auto status = std::filesystem::status(path, unknown);
    if (path.empty()) return cannot_write(path, ENOENT);
    // The kernel does not follow a stranger's link in /tmp (protected_symlinks, proc(5)); nor do
    // we.
    if (unknown && unknown != std::errc::no_such_file_or_directory)
        return cannot_write(path, unknown.value());
    if (std::filesystem::is_directory(status)) return cannot_write(path, EISDIR);
    if (std::filesystem::is_other(status)) return place{path, true};
    const std::string target = std::filesystem::canonical(path, unknown).string();
    return place{unknown ? path : target};
}

int write_straight(const std::string& path, std::string_view text) {
    file_descriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
    if (!file.is_open()) return errno;
    const int error = write_all(file.get(), text);
    const int at_close = file.close();
    return error != 0 ? error : at_close;
}

int write_beside(const std::string& path, std::string_view text) {
    unseen_file file;
    if (const int error = file.open(path); error != 0) return error;
    if (const int error = write_all(file.get(), text); error != 0) return error;
    // Some file systems only find the disk full when they allocate: fsync, then close, tell.
    if (::fsync(file.get()) != 0) return errno;
    return file.put_in_place();
}

}  // namespace

int write_all(int number, std::string_view text) noexcept {
    while (!text.empty()) {
        const ssize_t written =
            uninterrupted([&] { return ::write(number, text.data(), text.size()); });
        if (written < 0) return errno;
        if (written == 0) return EIO;  // it would be so for ever
        text.remove_prefix(static_cast<std::size_t>(written));
    }
    return 0;
}

int write_all(int number, std::string_view text, std::uint64_t at) noexcept {
    while (!text.empty()) {
        const ssize_t written = uninterrupted(
            [&] { return ::pwrite(number, text.data(), text.size(), static_cast<off_t>(at)); });
        if (written < 0) return errno;
        if (written == 0) return EIO;  // it would be so for ever
        text.remove_prefix(static_cast<std::size_t>(written));
        at += static_cast<std::uint64_t>(written);
    }
    return 0;
}

expected<void> write_file(const std::string& path, std::string_view text) {
    if (path == "-") {
        const int error = write_all(STDOUT_FILENO, text);
        if (error != 0) return cannot_write("standard output", error);
        return {};
    }
    const auto where = place_of(path);
    if (!where) return where.error();
    const int error =
        where->straight ? write_straight(where->path, text) : write_beside(where->path, text);
    if (error != 0) return cannot_write(path, error);
    return {};
}

expected<void> check_writable(const std::string& path) {
    if (path == "-") return {};
    const auto where = place_of(path);
    if (!where) return where.error();
    if (where->straight) {
        if (::access(path.c_str(), W_OK) != 0) return cannot_write(path, errno);
        return {};
    }
    unseen_file file;
    const int error = file.open(where->path);
    if (error != 0) return cannot_write(path, error);
    return {};
}

}  // namespace postal::base
