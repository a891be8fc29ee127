// The record as a file: written beside its place and renamed, or straight to a stream.
//
// A record is the only thing that a long run leaves, so every step is checked: write, fsync, close
// and rename can each be where a full disk shows itself. On failure the temporary file is removed
// and an older record stays as it was. A symbolic link stays one: what it points to is replaced.
// Limits: the temporary file's name has this process's number, so two runs may share a folder.
#include "stats/record_writer.hpp"

#include "base/file_descriptor.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <string_view>

namespace postal::stats {
namespace {

base::failure cannot(const std::string& path, int error) {
    return base::fail("{}: cannot write the run record: {}", path, base::system_message(error));
}

// 0, or the errno of the write that failed.
int write_all(int fd, std::string_view text) {
    while (!text.empty()) {
        const ssize_t written = ::write(fd, text.data(), text.size());
        if (written < 0 && errno != EINTR) return errno;
        if (written > 0) text.remove_prefix(static_cast<std::size_t>(written));
    }
    return 0;
}

// A device, a pipe or a socket cannot be replaced by renaming.
bool is_special(const std::string& path) {
    struct stat about {};
    return ::stat(path.c_str(), &about) == 0 && !S_ISREG(about.st_mode) && !S_ISDIR(about.st_mode);
}

bool is_directory(const std::string& path) {
    struct stat about {};
    return ::stat(path.c_str(), &about) == 0 && S_ISDIR(about.st_mode);
}

// Where a symbolic link leads, so that the link stays one; any other path as it is.
std::string resolved(const std::string& path) {
    std::array<char, PATH_MAX> buffer{};
    return ::realpath(path.c_str(), buffer.data()) != nullptr ? std::string(buffer.data()) : path;
}

std::string temporary_name(const std::string& path) {
    return fmt::format("{}.{}.tmp", path, ::getpid());
}

int open_temporary(const std::string& name) {
    return ::open(name.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0666);
}

base::expected<void> write_special(const std::string& path, const std::string& text) {
    base::file_descriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
    if (!file.is_open()) return cannot(path, errno);
    int error = write_all(file.get(), text);
    if (error == 0) error = file.close();
    if (error != 0) return cannot(path, error);
    return {};
}

base::expected<void> replace_file(const std::string& path, const std::string& text) {
    const std::string target = resolved(path);
    const std::string name = temporary_name(target);
    base::file_descriptor file(open_temporary(name));
    if (!file.is_open()) return cannot(path, errno);
    int error = write_all(file.get(), text);
    // Some file systems only find the disk full when they allocate: fsync, then close, tell.
    if (error == 0 && ::fsync(file.get()) != 0) error = errno;
    const int at_close = file.close();
    if (error == 0) error = at_close;
    if (error == 0 && ::rename(name.c_str(), target.c_str()) != 0) error = errno;
    if (error == 0) return {};
    ::unlink(name.c_str());
    return cannot(path, error);
}

}  // namespace

base::expected<void> write_record(const run_report& report, const std::string& path) {
    if (path == "-") {
        // On one line, so that it can be told from the log's lines before it.
        const int error = write_all(STDOUT_FILENO, record_text(report) + "\n");
        if (error != 0) return cannot("standard output", error);
        return {};
    }
    if (is_directory(path)) return cannot(path, EISDIR);
    const std::string text = record_text(report, 2) + "\n";
    return is_special(path) ? write_special(path, text) : replace_file(path, text);
}

base::expected<void> check_record_path(const std::string& path) {
    if (path == "-") return {};
    if (path.empty()) return base::fail("the name of the run record is empty");
    if (is_directory(path)) return cannot(path, EISDIR);
    if (is_special(path)) {
        if (::access(path.c_str(), W_OK) != 0) return cannot(path, errno);
        return {};
    }
    const std::string name = temporary_name(resolved(path));
    const base::file_descriptor file(open_temporary(name));
    if (!file.is_open()) return cannot(path, errno);
    ::unlink(name.c_str());
    return {};
}

}  // namespace postal::stats
