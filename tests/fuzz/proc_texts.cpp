// SPDX-License-Identifier: GPL-3.0-or-later
// os/proc_texts.hpp and os/cgroup_time.hpp: texts of /proc may be anything, another machine's above
// all.
#include "os/proc_texts.hpp"
#include "os/cgroup_time.hpp"

#include <cstdlib>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
    const std::string_view text{reinterpret_cast<const char*>(data), size};
    static_cast<void>(postal::os::parse_machine_counts(text));
    static_cast<void>(postal::os::parse_process_io(text));
    static_cast<void>(postal::os::parse_voluntary_switches(text));
    static_cast<void>(postal::os::parse_proportional_memory(text));
    const auto held = postal::os::parse_throttled(text);
    if (held && !(*held >= 0)) std::abort();
    const auto half = text.size() / 2;
    if (postal::os::parse_quota_files(text.substr(0, half), text.substr(half)).size() > 64)
        std::abort();
    const auto process = postal::os::parse_process_stat(text);
    if (process && process->name.size() > size) std::abort();
    auto devices = postal::os::parse_devices(text);
    for (std::size_t at = 1; at < devices.size(); ++at) {
        const auto& before = devices[at - 1].counts;
        auto& now = devices[at].counts;
        const bool is_same = now.reads >= before.reads && now.writes >= before.writes;
        postal::os::carry_on(now, before);
        if (is_same && now.busy_ms < before.busy_ms) std::abort();
    }
    return 0;
}
