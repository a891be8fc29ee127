// SPDX-License-Identifier: GPL-3.0-or-later
// What the machine's processors have done so far, as /proc/stat and /proc/pressure/cpu (PSI) say
// it, and what CPU quotas kept from this process (cgroup_time.hpp).
//
// Only processors that this process may run on count: where it is bound to one of eight, the other
// seven are no help. Resolution is that of the kernel's accounting, some 10 ms. Nothing here fails:
// what a kernel or a container does not show is not known.
#pragma once

#include "base/host.hpp"
#include "os/cgroup_time.hpp"

#include <string_view>
#include <vector>

namespace postal::os {

// Since the machine was started; without quotas.
[[nodiscard]] base::machine_time machine_time();

// From the texts of the two files, either of which may be anything, for the processors of these
// numbers; all where none are named.
[[nodiscard]] base::machine_time parse_machine_time(std::string_view stat,
                                                    std::string_view pressure,
                                                    const std::vector<unsigned>& processors);

// What happens from one call to the next.
class machine_watch {
  public:
    machine_watch() : before_(machine_time()) {}
    [[nodiscard]] base::machine_time since_last();

  private:
    base::machine_time before_;
    quota_watch quota_;
};

}  // namespace postal::os
