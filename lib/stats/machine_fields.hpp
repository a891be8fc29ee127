// SPDX-License-Identifier: GPL-3.0-or-later
// What a record says of the machine, and of its clock; see record_fields.hpp.
#pragma once

#include "stats/record_form.hpp"
#include "stats/run_record.hpp"

namespace postal::stats {

template <class Archive>
void fields(Archive& each, field<Archive, base::clock_state>& of) {
    each("synchronised", of.synchronised, "by NTP, PTP or the like");
    each("estimated_error_us", of.estimated_error_us);
    each("most_error_us", of.most_error_us);
    each("status", of.status, "as adjtimex(2) has it", as{.newer = true});
    each("frequency_ppm", of.frequency_ppm, "by which the clock is corrected",
         as{.any_sign = true, .newer = true});
    each("tick_us", of.tick_us, "length of a tick", as{.newer = true});
    each("offset_us", of.offset_us, "that is still to be slewed away", as{.newer = true});
    each("slew_ppm", of.slew_ppm, "by which it is slewed", as{.any_sign = true, .newer = true});
}

template <class Archive>
void machine_fields(Archive& each, field<Archive, base::host_info>& of) {
    each("name", of.name);
    each("kernel", of.kernel);
    each("cpus", of.cpus, "that the program may run on");
    each("memory_bytes", of.memory_bytes);
    each("processor", of.processor, "its model, where the kernel names it", as{.left_out = true});
}

template <class Archive>
void fields(Archive& each, field<Archive, base::host_info>& of) {
    machine_fields<Archive>(each, of);
    each("boot_id", of.boot_id, "of the running kernel, and so of its clock");
    each("clock", of.clock, "what the kernel says of it", as{.left_out = true});
}

}  // namespace postal::stats
