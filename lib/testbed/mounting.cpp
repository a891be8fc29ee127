#include "testbed/mounting.hpp"

#include "base/text.hpp"
#include "testbed/mount_holders.hpp"

#include <libmount/libmount.h>
#include <sys/mount.h>

#include <array>
#include <cerrno>
#include <memory>
#include <thread>

namespace postal::testbed {
namespace {

constexpr auto between_tries = std::chrono::milliseconds(50);

using context = std::unique_ptr<libmnt_context, int (*)(libmnt_context*)>;

int release(libmnt_context* one) {
    return mnt_free_context(one), 0;
}

// Nothing of /etc/fstab is mixed in, and nothing is noted in /run/mount.
bool fill(libmnt_context* mounting, const mount_plan& plan) {
    return mnt_context_set_optsmode(mounting, MNT_OMODE_NOTAB) == 0 &&
           mnt_context_disable_mtab(mounting, 1) == 0 &&
           mnt_context_set_source(mounting, plan.device.c_str()) == 0 &&
           mnt_context_set_target(mounting, plan.folder.c_str()) == 0 &&
           mnt_context_set_fstype(mounting, plan.type.c_str()) == 0 &&
           mnt_context_set_options(mounting, plan.options.c_str()) == 0;
}

}  // namespace

base::expected<mount_point> mount_device(const mount_plan& plan) {
    const std::string what =
        fmt::format("{} as {}{}{} on {}", plan.device, plan.type,
                    plan.options.empty() ? "" : " with ", plan.options, plan.folder);
    const context mounting(mnt_new_context(), release);
    if (!mounting || !fill(mounting.get(), plan))
        return base::fail("cannot mount {}: out of memory", what);
    const int result = mnt_context_mount(mounting.get());
    std::array<char, 512> reason{};
    if (mnt_context_get_excode(mounting.get(), result, reason.data(), reason.size()) != 0)
        return base::fail("cannot mount {}: {}", what,
                          base::printable(reason.data(), reason.size()));
    const auto all = read_mounts();
    if (!all) return all.error();
    if (auto made = mount_at(*all, plan.folder)) return std::move(*made);
    return base::fail("mounted {}, but the kernel does not show it", what);
}

base::expected<void> unmount(const std::string& folder, std::chrono::milliseconds patience) {
    const auto until = std::chrono::steady_clock::now() + patience;
    while (::umount2(folder.c_str(), 0) != 0) {
        if (errno == EINVAL) return base::fail("cannot unmount {}: it is not mounted", folder);
        if (errno != EBUSY)
            return base::fail("cannot unmount {}: {}", folder, base::system_message(errno));
        if (std::chrono::steady_clock::now() >= until)
            return base::fail("cannot unmount {}: it is in use by {}", folder,
                              mount_holders(folder));
        std::this_thread::sleep_for(between_tries);
    }
    return {};
}

}  // namespace postal::testbed
