// SPDX-License-Identifier: GPL-3.0-or-later
// postal-audit/write_log.hpp: a log may be anything; the entries of what is read lie within it, one
// behind the other, and a cut anywhere has its draws.
#include "postal-audit/draws.hpp"

#include "base/file_descriptor.hpp"
#include "base/write_file.hpp"

#include <sys/mman.h>

#include <cstdlib>
#include <string>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
    using namespace postal;
    const base::file_descriptor memory(::memfd_create("log", MFD_CLOEXEC));
    if (base::write_all(memory.get(), {reinterpret_cast<const char*>(data), size}) != 0)
        std::abort();
    const auto log = audit::write_log::open("/proc/self/fd/" + std::to_string(memory.get()));
    if (!log) return 0;
    std::uint64_t end = log->sector_size();
    for (const audit::log_entry& entry : log->entries()) {
        if (entry.data_at != end + log->sector_size() || entry.ends_at < entry.data_at)
            std::abort();
        end = entry.ends_at;
    }
    if (end + log->unread_octets() != size) std::abort();
    for (const std::size_t cut : audit::choose_cuts(*log, 0, log->entries().size(), 3, 1)) {
        for (const audit::draw& one : audit::draws_of(cut, *log, 4, 1, 50)) {
            if (one != audit::draw_of(cut, *log, one.number, 1, 50)) std::abort();
        }
    }
    return 0;
}
