// SPDX-License-Identifier: GPL-3.0-or-later
#include "postal-audit/disk_image.hpp"

#include "postal-audit/sparse_copy.hpp"
#include "testbed/image_file.hpp"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <limits>

namespace postal::audit {

base::expected<disk_image> disk_image::create(const std::string& path, std::uint64_t octets) {
    if (octets > static_cast<std::uint64_t>(std::numeric_limits<off_t>::max()))
        return base::fail("cannot create {}: no file can have {} octets", path, octets);
    if (auto made = testbed::create_image(path, octets, testbed::image_space::sparse); !made)
        return made.error();
    base::file_descriptor file(::open(path.c_str(), O_RDWR | O_CLOEXEC));
    if (!file.is_open()) return base::fail("{}: {}", path, base::system_message(errno));
    return disk_image(path, octets, std::move(file));
}

base::expected<void> disk_image::apply(const write_log& log, std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) {
        if (auto done = apply_one(log, i); !done) return done;
    }
    return {};
}

base::expected<void> disk_image::apply_one(const write_log& log, std::size_t index,
                                           std::span<const sector_run> torn) {
    const log_entry& entry = log.entries().at(index);
    if (!changes_disk(entry)) return {};
    if (entry.octets > octets_ || entry.at > octets_ - entry.octets)
        return base::fail("{}: entry {} is for octets {} to {} of a disk of {}", log.path(), index,
                          entry.at, entry.at + entry.octets, octets_);
    const auto apply_part = [&](std::uint64_t begin, std::uint64_t octets) -> base::expected<void> {
        const file_place target{file_.get(), entry.at + begin};
        const auto done =
            entry.discard ? punch_hole(target, octets)
                          : copy_sparse({log.descriptor(), entry.data_at + begin}, target, octets);
        if (!done)
            return base::fail("entry {} of {} into {}: {}", index, log.path(), path_,
                              done.error().message);
        return {};
    };
    if (torn.empty()) return apply_part(0, entry.octets);
    for (const sector_run& run : torn) {
        const std::uint64_t begin = run.first * log.sector_size();
        if (auto done = apply_part(begin, run.sectors * log.sector_size()); !done) return done;
    }
    return {};
}

base::expected<void> disk_image::apply_survivors(const write_log& log, std::size_t cut,
                                                 const std::vector<survivor>& survivors) {
    auto next = survivors.begin();
    const std::size_t end = std::min(cut, log.entries().size());
    for (std::size_t i = log.last_flush_before(end); i < end; ++i) {
        const bool survived = next != survivors.end() && next->index == i;
        if (!survived && !log.entries()[i].fua) continue;
        auto done = survived ? apply_one(log, i, next->torn) : apply_one(log, i);
        if (!done) return done;
        if (survived) ++next;
    }
    return {};
}

base::expected<disk_image> disk_image::copy_to(const std::string& path) const {
    auto copy = create(path, octets_);
    if (!copy) return copy;
    const auto done = copy_sparse({file_.get(), 0}, {copy->file_.get(), 0}, octets_);
    if (!done) return base::fail("{} into {}: {}", path_, path, done.error().message);
    return copy;
}

}  // namespace postal::audit
