// SPDX-License-Identifier: GPL-3.0-or-later
#include "testbed/image_file.hpp"

#include "base/file_descriptor.hpp"
#include "base/units.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <memory>
#include <new>

namespace postal::testbed {
namespace {

constexpr std::size_t chunk = std::size_t{4} << 20U;
constexpr off_t octets_between_questions = off_t{64} << 20U;
constexpr off_t direct_alignment = 4096;

struct free_memory {
    void operator()(void* memory) const noexcept { std::free(memory); }
};

// Past the page cache where the file system can.
base::file_descriptor open_image(const std::string& path) {
    base::file_descriptor direct(::open(path.c_str(), O_RDWR | O_DIRECT | O_CLOEXEC));
    if (direct.is_open() || errno != EINVAL) return direct;
    return base::file_descriptor(::open(path.c_str(), O_RDWR | O_CLOEXEC));
}

}  // namespace

base::expected<void> create_image(const std::string& path, std::uint64_t octets,
                                  image_space space) {
    const base::file_descriptor file(
        ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (!file.is_open())
        return base::fail("cannot create {}: {}", path, base::system_message(errno));
    const auto size = static_cast<off_t>(octets);
    const bool made = space == image_space::sparse ? ::ftruncate(file.get(), size) == 0
                                                   : ::fallocate(file.get(), 0, 0, size) == 0;
    if (made) return {};
    const int reason = errno;
    ::unlink(path.c_str());
    return base::fail("cannot {} {} of {} for an image: {}",
                      space == image_space::sparse ? "make" : "allocate", base::format_size(octets),
                      path, base::system_message(reason));
}

base::expected<void> write_out_image(const std::string& path, const std::function<bool()>& go_on) {
    const auto failed = [&] {
        return base::fail("cannot write zeros to {}: {}", path, base::system_message(errno));
    };
    const base::file_descriptor file = open_image(path);
    if (!file.is_open()) return failed();
    const std::unique_ptr<void, free_memory> zeros(std::aligned_alloc(direct_alignment, chunk));
    if (!zeros) throw std::bad_alloc();
    std::fill_n(static_cast<char*>(zeros.get()), chunk, '\0');
    const off_t length = ::lseek(file.get(), 0, SEEK_END);
    if (length < 0) return failed();
    if (length % direct_alignment != 0) ::fcntl(file.get(), F_SETFL, 0);  // no O_DIRECT
    off_t unasked = 0;
    for (off_t begin = 0; begin < length;) {
        begin = ::lseek(file.get(), begin, SEEK_HOLE);
        if (begin < 0) return failed();
        if (begin == length) break;
        off_t end = ::lseek(file.get(), begin, SEEK_DATA);
        if (end < 0 && errno == ENXIO) end = length;  // no data behind it
        if (end < 0) return failed();
        while (begin < end) {
            const auto piece = std::min(end - begin, static_cast<off_t>(chunk));
            const ssize_t written =
                ::pwrite(file.get(), zeros.get(), static_cast<std::size_t>(piece), begin);
            if (written <= 0) return failed();
            begin += written;
            unasked += written;
            if (unasked < octets_between_questions) continue;
            unasked = 0;
            if (!go_on()) return base::fail("interrupted while zeros were written to {}", path);
        }
    }
    if (::fdatasync(file.get()) != 0) return failed();
    return {};
}

}  // namespace postal::testbed
