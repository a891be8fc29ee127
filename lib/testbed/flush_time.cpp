// SPDX-License-Identifier: GPL-3.0-or-later
#include "testbed/flush_time.hpp"

#include "base/file_descriptor.hpp"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <vector>

namespace postal::testbed {
namespace {

constexpr std::size_t block = 4096;

// It keeps its name while it is flushed: a file without one some file systems need not keep.
base::expected<std::vector<double>> time_each(int file, unsigned flushes) {
    std::array<char, block> octets{};
    octets.fill('m');
    std::vector<double> times;
    for (unsigned i = 0; i < std::max(1U, flushes); ++i) {
        const auto begin = std::chrono::steady_clock::now();
        const ssize_t written = ::write(file, octets.data(), octets.size());
        if (written != static_cast<ssize_t>(octets.size()))
            return base::fail("cannot write: {}",
                              written < 0 ? base::system_message(errno) : "no space left");
        if (::fdatasync(file) != 0)
            return base::fail("cannot flush: {}", base::system_message(errno));
        const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begin;
        times.push_back(passed.count());
    }
    return times;
}

}  // namespace

base::expected<flush_time> time_flushes(const std::string& folder, unsigned flushes) {
    std::string path = folder + "/.postal-flush-XXXXXX";
    const base::file_descriptor file(::mkostemp(path.data(), O_CLOEXEC));
    if (!file.is_open())
        return base::fail("{}: cannot create a file: {}", folder, base::system_message(errno));
    auto times = time_each(file.get(), flushes);
    ::unlink(path.c_str());
    if (!times) return base::at(folder, times.error());
    std::sort(times->begin(), times->end());
    const std::size_t count = times->size();
    return flush_time{static_cast<unsigned>(count),
                      ((*times)[(count - 1) / 2] + (*times)[count / 2]) / 2, times->back()};
}

}  // namespace postal::testbed
