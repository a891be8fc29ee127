// SPDX-License-Identifier: GPL-3.0-or-later
// The one list of what stands in the record of an audit, as experiment/record_fields.hpp is for
// experiments.
#pragma once

#include "audit/record.hpp"
#include "experiment/record_fields.hpp"

namespace postal::audit {

using experiment::head_fields;
using experiment::machine_fields;
using experiment::where_there;
using stats::as;
using stats::field;
using stats::plain_fields;

template <class Archive>
void fields(Archive& each, field<Archive, lost_message>& of) {
    plain_fields(each, "run", of.run, "session", of.session, "sequence", of.sequence, "recipient",
                 of.recipient, "acknowledged", of.acknowledged);
}

template <class Archive>
void fields(Archive& each, field<Archive, audited_image>& of) {
    plain_fields(each, "cut", of.cut, "at_s", of.at_s, "draw", of.draw, "draws", of.draws, "seed",
                 of.seed, "survival", of.what, "at_risk", of.at_risk, "survived", of.survived,
                 "torn", of.torn, "acknowledged", of.acknowledged, "found", of.found, "lost",
                 of.lost, "misplaced", of.misplaced, "duplicated", of.duplicated, "truncated",
                 of.truncated, "changed", of.changed, "unopened", of.unopened, "lost_window_s",
                 of.lost_window_s, "first_lost", of.first_lost, "failure", of.failure,
                 "fsck_status", of.fsck_status, "fsck", of.fsck, "seconds", of.seconds);
}

template <class Archive>
void fields(Archive& each, field<Archive, audited_variant>& of) {
    plain_fields(each, "name", of.name, "control", of.as, "started", of.started, "mounted",
                 of.mounted, "acknowledged", of.acknowledged, "entries", of.entries, "writes",
                 of.writes, "flushes", of.flushes, "octets", of.octets, "recording_s",
                 of.recording_s, "longest_gap_s", of.longest_gap_s, "cuts", of.cuts, "end", of.end,
                 "images", of.images);
}

template <class Archive>
void fields(Archive& each, field<Archive, audit_record>& of) {
    head_fields(each, of);
    plain_fields(each, "seed", of.seed, "cuts", of.cuts);
    each("order", of.order, "of the cuts", as{.newer = true});
    each("cut_at", of.cut_at, "", where_there);
    each("draw", of.draw, "", where_there);
    plain_fields(each, "draws", of.draws, "torn_percent", of.torn_percent, "messages", of.messages);
    machine_fields(each, of);
    each("settings", of.settings, "", where_there);
    plain_fields(each, "variants", of.variants, "file", of.file, "text", of.text);
}

}  // namespace postal::audit
