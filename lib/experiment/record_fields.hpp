// SPDX-License-Identifier: GPL-3.0-or-later
// The one list of what stands in the records of experiments and in their journal: as
// stats/record_fields.hpp is for runs, which says what an archive is.
#pragma once

#include "experiment/journal.hpp"
#include "experiment/record.hpp"
#include "stats/record_fields.hpp"

namespace postal::experiment {

using stats::as;
using stats::field;
using stats::plain_fields;

inline constexpr as where_there{.left_out = true};

template <class Archive>
void fields(Archive& each, field<Archive, kept_file>& of) {
    plain_fields(each, "name", of.name, "path", of.path, "sha256", of.sha256);
}

template <class Archive>
void fields(Archive& each, field<Archive, recorded_run>& of) {
    plain_fields(each, "block", of.at.block, "position", of.at.position, "variant", of.at.variant,
                 "state", of.end, "reason", of.reason, "folder", of.folder, "started", of.started,
                 "seconds", of.seconds, "mounted", of.mounted, "flush_median_s", of.flush_median_s,
                 "flush_max_s", of.flush_max_s, "caches", of.caches, "loads", of.loads, "costs",
                 of.costs, "devices", of.devices);
    each("announced", of.announced, "", where_there);
}

template <class Archive>
void fields(Archive& each, field<Archive, verdict_rules>& of) {
    plain_fields(each, "metric", of.about, "program", of.program, "margin", of.margin, "confidence",
                 of.confidence, "max_errors", of.max_errors);
    each("size", of.size, "", where_there);
}

template <class Archive>
void fields(Archive& each, field<Archive, recorded_variant>& of) {
    plain_fields(each, "name", of.name, "same_as", of.same_as, "values", of.values);
}

template <class Archive>
void fields(Archive& each, field<Archive, kept_result>& of) {
    plain_fields(each, "folder", of.folder, "started", of.started, "values", of.values);
    each("never", of.never, "", where_there);
}

// What the records of an experiment and of an audit begin with.
template <class Archive, class Record>
void head_fields(Archive& each, Record& of) {
    plain_fields(each, "version", of.version, "argv", of.argv, "title", of.title, "started",
                 of.started, "ended", of.ended, "end", of.end);
}

// And what they go on with.
template <class Archive, class Record>
void machine_fields(Archive& each, Record& of) {
    each.group("host", [&](auto& inner) { stats::machine_fields<Archive>(inner, of.host); });
    each("versions", of.versions);
}

// Behind the analysis, which is written and not read.
template <class Archive>
void rest_fields(Archive& each, field<Archive, experiment_record>& of) {
    each("verdict", of.verdict, "", as{.needed = true});
    plain_fields(each, "seed", of.seed, "duration_s", of.duration_s, "warmup_s", of.warmup_s,
                 "blocks", of.blocks, "until_width", of.until_width);
    each("gates", of.gates, "", where_there);
    each("baseline", of.baseline, "", where_there);
    each("kept", of.kept, "", where_there);
    machine_fields(each, of);
    plain_fields(each, "programs", of.programs, "variants", of.variants, "runs", of.runs, "file",
                 of.file, "text", of.text);
}

template <class Archive>
void fields(Archive& each, field<Archive, experiment_record>& of) {
    head_fields(each, of);
    rest_fields(each, of);
}

template <class Archive>
void fields(Archive& each, field<Archive, undo_entry>& of) {
    plain_fields(each, "undo", of.number, "kind", of.kind);
    each("path", of.path, "", where_there);
    each("device", of.device, "", where_there);
    each("words", of.words, "", where_there);
    each("where", of.where, "", where_there);
    each("log", of.log, "", where_there);
    each("pid", of.pid, "", where_there);
    each("started", of.started, "", where_there);
    each("limit_ms", of.limit, "", where_there);
    each("boot", of.boot);
}

}  // namespace postal::experiment
