// The parts of a run record that tell of commands and of a profile, written and read back.
//
//   "commands": {"sent", "ok", "no", "bad", "unanswered", "by_kind": {"FETCH": {the same}, ...}}
//   "profile":  {"name", "least_actions", "most_actions", "begun", "ok", "refused", "failed",
//                "nothing", "verbs": {"read-one": {"weight", "first", "last", "begun", ...,
//                "latency_us"}, ...}}
//
// Kinds of which none was sent, and verbs that are not wanted and were not begun, are left out. What is
// wrong in what is read becomes a complaint of the fields; nothing else fails.
#pragma once

#include "stats/command_counts.hpp"
#include "stats/json_fields.hpp"
#include "stats/record_reader.hpp"
#include "stats/run_description.hpp"

namespace postal::stats {

json commands_of(const run_description& run, const command_counts& counted);
json profile_of(const wanted_profile& wanted, const action_counts& counted);

// Of the record's root.
void read_commands(const json_fields& root, run_record& to);
void read_profile(const json_fields& root, run_record& to);

}  // namespace postal::stats
