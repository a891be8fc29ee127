// SPDX-License-Identifier: GPL-3.0-or-later
#include "testbed/drop_caches.hpp"

#include "base/file_descriptor.hpp"
#include "base/result.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

namespace postal::testbed {

caches_dropped drop_caches(const std::string& control) {
    ::sync();
    const base::file_descriptor file(::open(control.c_str(), O_WRONLY | O_CLOEXEC));
    if (file.is_open() && ::write(file.get(), "3\n", 2) == 2) return {true, {}};
    return {false, fmt::format("caches not dropped: {}: {}", control, base::system_message(errno))};
}

}  // namespace postal::testbed
