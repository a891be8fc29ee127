// SPDX-License-Identifier: GPL-3.0-or-later
#include "postal-audit/check.hpp"

#include "experiment/check.hpp"
#include "experiment/supervisor.hpp"

#include <unistd.h>

namespace postal::audit {

base::expected<void> check_machine(const options& given, const experiment::experiment& whole) {
    if (::geteuid() != 0) return base::fail("for root only: file systems are made and mounted");
    for (const char* program : {"qemu-storage-daemon", "eatmydata", "mkfs.ext4"}) {
        const auto found = experiment::find_program(program);
        if (!found) return found.error();
    }
    if (::access("/dev/fuse", R_OK | W_OK) != 0)
        return base::fail("there is no /dev/fuse, over which a disk is shown");
    auto audited = whole;
    const experiment::audit& after = whole.audited;
    // What runs once the power is back is looked for as the server's commands are.
    for (experiment::variant& one : audited.variants) {
        auto& commands = one.of.prepare;
        for (const auto* list : {&after.recover, &after.read, &after.after_start})
            commands.insert(commands.end(), list->begin(), list->end());
        for (const experiment::command* each : {&after.drain, &after.drained, &after.check})
            if (!each->words.empty()) commands.push_back(*each);
    }
    return experiment::check_machine(audited, {.out = results_folder(given)});
}

}  // namespace postal::audit
