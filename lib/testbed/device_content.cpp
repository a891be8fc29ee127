// SPDX-License-Identifier: GPL-3.0-or-later
#include "testbed/device_content.hpp"

#include "base/file_descriptor.hpp"
#include "base/text.hpp"

#include <blkid/blkid.h>
#include <fcntl.h>

#include <cerrno>
#include <memory>

namespace postal::testbed {
namespace {

constexpr std::size_t longest_label = 256;
constexpr int ambivalent = -2;

std::string value(blkid_probe probe, const char* name) {
    const char* found = nullptr;
    if (blkid_probe_lookup_value(probe, name, &found, nullptr) != 0 || found == nullptr) return {};
    return base::printable(found, longest_label);
}

device_content found_on(blkid_probe probe) {
    device_content found;
    found.type = value(probe, "TYPE");
    found.uuid = value(probe, "UUID");
    found.label = value(probe, "LABEL");
    const std::string table = value(probe, "PTTYPE");
    if (found.type.empty())
        return {content_kind::partition_table, table, value(probe, "PTUUID"), {}};
    if (!table.empty()) {
        found.kind = content_kind::several;
        found.type += " and " + table;
    } else {
        found.kind =
            value(probe, "USAGE") == "filesystem" ? content_kind::file_system : content_kind::other;
    }
    return found;
}

}  // namespace

std::string device_content::text() const {
    const std::string named = label.empty() ? "" : fmt::format(" with the label \"{}\"", label);
    switch (kind) {
        case content_kind::nothing:
            return "nothing";
        case content_kind::file_system:
            return fmt::format("a file system of type {}{}", type, named);
        case content_kind::partition_table:
            return fmt::format("a partition table of type {}", type);
        case content_kind::other:
            return fmt::format("data of type {}{}", type, named);
        case content_kind::several:
            break;
    }
    return type.empty() ? "signatures of several kinds" : "signatures of both " + type;
}

base::expected<device_content> probe_device(const std::string& path) {
    const base::file_descriptor device(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (!device.is_open())
        return base::fail("cannot probe {}: {}", path, base::system_message(errno));
    const std::unique_ptr<blkid_struct_probe, void (*)(blkid_probe)> probe(blkid_new_probe(),
                                                                           blkid_free_probe);
    errno = 0;
    if (!probe || blkid_probe_set_device(probe.get(), device.get(), 0, 0) != 0)
        return base::fail("cannot probe {}: {}", path,
                          errno != 0 ? base::system_message(errno) : "neither device nor file");
    blkid_probe_set_superblocks_flags(probe.get(), BLKID_SUBLKS_LABEL | BLKID_SUBLKS_UUID |
                                                       BLKID_SUBLKS_TYPE | BLKID_SUBLKS_USAGE);
    blkid_probe_enable_partitions(probe.get(), 1);
    errno = 0;
    switch (blkid_do_safeprobe(probe.get())) {
        case 0:
            return found_on(probe.get());
        case 1:
            return device_content{};
        case ambivalent:
            return device_content{content_kind::several, {}, {}, {}};
        default:
            return base::fail("cannot probe {}: {}", path,
                              errno != 0 ? base::system_message(errno) : "it cannot be read");
    }
}

}  // namespace postal::testbed
