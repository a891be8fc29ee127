// SPDX-License-Identifier: GPL-3.0-or-later
#include "testbed/mounts.hpp"

#include <libmount/libmount.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <memory>

namespace postal::testbed {
namespace {

std::string text(const char* maybe) {
    return maybe != nullptr ? maybe : "";
}

mount_point from(libmnt_fs* entry) {
    mount_point one;
    one.source = text(mnt_fs_get_source(entry));
    one.folder = text(mnt_fs_get_target(entry));
    one.type = text(mnt_fs_get_fstype(entry));
    one.options = text(mnt_fs_get_options(entry));
    one.device = mnt_fs_get_devno(entry);
    one.id = mnt_fs_get_id(entry);
    one.parent = mnt_fs_get_parent_id(entry);
    return one;
}

bool is_on(const mount_point& one, dev_t device) {
    if (one.device == device) return true;
    struct stat source {};
    return one.source.starts_with("/dev/") && ::stat(one.source.c_str(), &source) == 0 &&
           S_ISBLK(source.st_mode) && source.st_rdev == device;
}

}  // namespace

std::string mount_point::line() const {
    return fmt::format("{} {} {} {}", source, folder, type, options);
}

base::expected<std::vector<mount_point>> read_mounts(const std::string& table) {
    const std::unique_ptr<libmnt_table, void (*)(libmnt_table*)> read(mnt_new_table(),
                                                                      mnt_unref_table);
    const std::unique_ptr<libmnt_iter, void (*)(libmnt_iter*)> next(mnt_new_iter(MNT_ITER_FORWARD),
                                                                    mnt_free_iter);
    if (!read || !next) return base::fail("{}: out of memory", table);
    if (const int result = mnt_table_parse_file(read.get(), table.c_str()); result != 0)
        return base::fail("{}: {}", table,
                          result < 0 ? base::system_message(-result) : "not a table of mounts");
    std::vector<mount_point> all;
    for (libmnt_fs* entry = nullptr; mnt_table_next_fs(read.get(), next.get(), &entry) == 0;)
        all.push_back(from(entry));
    return all;
}

std::vector<mount_point> mounts_of(const std::vector<mount_point>& all, dev_t device) {
    std::vector<mount_point> found;
    std::copy_if(all.begin(), all.end(), std::back_inserter(found),
                 [device](const mount_point& one) { return is_on(one, device); });
    return found;
}

std::optional<mount_point> mount_at(const std::vector<mount_point>& all,
                                    const std::string& folder) {
    std::error_code unknown;
    const auto name = std::filesystem::canonical(folder, unknown);
    const std::string wanted = unknown ? folder : name.string();
    const auto found = std::find_if(all.rbegin(), all.rend(), [&wanted](const mount_point& one) {
        return one.folder == wanted;
    });
    return found != all.rend() ? std::optional(*found) : std::nullopt;
}

}  // namespace postal::testbed
