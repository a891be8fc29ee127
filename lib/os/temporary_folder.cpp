// SPDX-License-Identifier: GPL-3.0-or-later
#include "os/temporary_folder.hpp"

#include "base/write_file.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>

namespace postal::os {
namespace {

// ---- when a signal ends the process ----
// Only what may be called then (signal-safety(7)): system calls, and memory that is there already.

constexpr std::array ending{SIGHUP, SIGINT, SIGTERM};
std::array<char, 4096> kept_until_then{};  // the path of one folder, which has files alone
bool is_kept = false;

void remove_files(int folder) {
    alignas(dirent64) std::array<char, 4096> some{};
    while (true) {
        const long read = ::syscall(SYS_getdents64, folder, some.data(), some.size());
        if (read <= 0) return;
        for (long at = 0; at < read;) {
            const auto* const one = reinterpret_cast<const dirent64*>(some.data() + at);
            ::unlinkat(folder, one->d_name, 0);  // of "." and ".." it fails
            at += one->d_reclen;
        }
    }
}

extern "C" void remove_and_end(int signal) {
    const int folder =
        ::open(kept_until_then.data(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (folder >= 0) remove_files(folder);
    ::rmdir(kept_until_then.data());
    ::raise(signal);  // the handler is gone, and the signal waits until this one returns
}

// Where a signal would end the process as it is: one that is ignored, or handled, stays so.
void set_handlers(void (*from)(int), void (*to)(int), int flags) {
    for (const int signal : ending) {
        struct sigaction is {};
        if (::sigaction(signal, nullptr, &is) != 0 || is.sa_handler != from) continue;
        struct sigaction wanted {};
        wanted.sa_handler = to;
        wanted.sa_flags = flags;
        ::sigaction(signal, &wanted, nullptr);
    }
}

void keep_until_signal(const std::string& path) {
    if (is_kept || path.size() >= kept_until_then.size()) return;
    std::copy(path.begin(), path.end(), kept_until_then.begin());
    kept_until_then[path.size()] = '\0';
    is_kept = true;
    set_handlers(SIG_DFL, remove_and_end, static_cast<int>(SA_RESETHAND));
}

void keep_no_more(const std::string& path) {
    if (!is_kept || path != kept_until_then.data()) return;
    set_handlers(remove_and_end, SIG_DFL, 0);
    is_kept = false;
}

}  // namespace

base::expected<temporary_folder> temporary_folder::make() {
    const char* const wanted = std::getenv("TMPDIR");
    std::string path = wanted != nullptr && *wanted == '/' ? wanted : "/tmp";
    path += "/postal-files-XXXXXX";
    if (::mkdtemp(path.data()) == nullptr)
        return base::fail("no temporary folder: {}", base::system_message(errno));
    keep_until_signal(path);
    return temporary_folder(std::move(path));
}

temporary_folder::~temporary_folder() {
    if (path_.empty()) return;
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
    keep_no_more(path_);
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

}  // namespace postal::os
