#include "postal-report/write_file.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "base/text.hpp"

namespace postal::report {

namespace {

base::failure cannot_write(const std::string& path) {
    return base::fail("{}: cannot be written: {}", base::printable(path, 300),
                      base::system_message(errno));
}

// False with errno set when not all of it reached the system.
bool write_all(std::FILE* to, std::string_view content) {
    return std::fwrite(content.data(), 1, content.size(), to) == content.size() &&
           std::fflush(to) == 0;
}

bool write_new(const std::string& path, std::string_view content) {
    std::FILE* opened = std::fopen(path.c_str(), "wb");
    if (opened == nullptr) return false;
    const bool written = write_all(opened, content);
    const int reason = errno;
    const bool closed = std::fclose(opened) == 0;
    if (!written) errno = reason;
    return written && closed;
}

bool is_special(const std::string& path) {
    struct stat found {};
    return ::stat(path.c_str(), &found) == 0 && !S_ISREG(found.st_mode);
}

}  // namespace

base::expected<void> write_file(const std::string& path, std::string_view content) {
    if (path == "-") {
        if (!write_all(stdout, content)) return cannot_write("standard output");
        return {};
    }
    if (is_special(path)) {
        if (!write_new(path, content)) return cannot_write(path);
        return {};
    }
    const std::string temporary = fmt::format("{}.{}.tmp", path, ::getpid());
    if (!write_new(temporary, content) || std::rename(temporary.c_str(), path.c_str()) != 0) {
        const auto failed = cannot_write(path);
        std::remove(temporary.c_str());
        return failed;
    }
    return {};
}

}  // namespace postal::report
