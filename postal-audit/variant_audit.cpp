// SPDX-License-Identifier: GPL-3.0-or-later
#include "postal-audit/variant_audit.hpp"

#include "base/text.hpp"
#include "base/units.hpp"
#include "experiment/undo.hpp"
#include "experiment/variables.hpp"
#include "postal-audit/judge.hpp"
#include "postal-audit/log_watch.hpp"
#include "postal-audit/stored_mail.hpp"
#include "stats/record_writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

namespace postal::audit {
namespace {

namespace fs = std::filesystem;
using experiment::undo_kind;
using steady_clock = std::chrono::steady_clock;

constexpr double us = 1e-6;
// A disk, its recovery and its reading, before one was timed.
constexpr std::chrono::seconds one_disk{2};
constexpr unsigned most_tries = 3;  // of a disk that cannot be read

// A ledger is up to three files.
void remove_ledger(const std::string& path) {
    std::error_code ignored;
    for (const char* part : {"", "-wal", "-shm"})
        fs::remove(path + part, ignored);
}

// How many entries were whole when the log had so many octets.
std::size_t entries_within(const write_log& log, std::uint64_t octets) {
    const auto& all = log.entries();
    const auto behind = std::upper_bound(
        all.begin(), all.end(), octets,
        [](std::uint64_t limit, const log_entry& one) { return limit < one.ends_at; });
    return static_cast<std::size_t>(behind - all.begin());
}

}  // namespace

void variant_audit::show(std::string_view step, std::optional<std::chrono::seconds> left) const {
    const auto each = disks_done_ == 0 ? std::chrono::nanoseconds(one_disk)
                                       : spent_ / static_cast<std::int64_t>(disks_done_);
    console_.show(experiment::live_line(plan_.where + "  " + doing_, step, left,
                                        each * static_cast<std::int64_t>(disks_left_)));
}

experiment::run_plan variant_audit::plan_of_run() const {
    return {.of = plan_.of,
            .variant = plan_.variant,
            .block = 1,
            .position = plan_.variant + 1,
            .seed = plan_.seed,
            .out = plan_.out,
            .folder = plan_.folder};
}

experiment::progress variant_audit::progress_of_run() const {
    return [this](std::string_view step, auto left) {
        if (console_.is_live()) show(step, left);
    };
}

// What stays behind ends everything.
base::expected<void> variant_audit::take_left(experiment::run_result& ended) {
    if (ended.left.empty()) return {};
    left_ = std::move(ended.left);
    return base::fail("something is left behind");
}

base::expected<void> variant_audit::record() {
    doing_ = "recording";
    disks_left_ = plan_.of.audited.cuts * plan_.of.audited.draws;
    std::error_code problem;
    fs::remove_all(plan_.folder, problem);  // an earlier attempt's, which did not come to its end
    if (problem)
        return base::fail("{}: cannot be removed: {}", base::printable(plan_.folder, 300),
                          problem.message());
    recorded_ = {};
    recorded_.started = stats::timestamp(std::chrono::system_clock::now());
    log_watch watch;
    base::expected<void> watching;
    std::uint64_t begin_octets = 0;
    std::uint64_t end_octets = 0;
    const std::string log = log_in(plan_.folder);
    const auto size_of = [](const std::string& path) {
        std::error_code unknown;
        return static_cast<std::uint64_t>(fs::file_size(path, unknown));
    };
    auto ended = record_once(plan_of_run(),
                             {.log = log,
                              .ledger = ledger_in(plan_.folder),
                              .begins =
                                  [&] {
                                      watching = watch.start(log);
                                      recorded_.begin_us = wall_clock_us();
                                      begin_octets = size_of(log);
                                      recorded_.disk_octets =
                                          size_of(recorded_disk_in(plan_.folder));
                                  },
                              .ends =
                                  [&] {
                                      end_octets = size_of(log);
                                      recorded_.end_us = wall_clock_us();
                                      watch.stop();
                                  }},
                             book_, by_, progress_of_run());
    for (const std::string& note : ended.notes)
        console_.say(note);
    if (const auto gone = take_left(ended); !gone) return gone;
    if (ended.end != experiment::run_end::complete) return base::failure{ended.reason};
    if (!watching) return watching;
    if (watch.error() != 0) return base::fail("{}: {}", log, base::system_message(watch.error()));
    auto opened = write_log::open(log);
    if (!opened) return opened.error();
    const auto within = [&](std::uint64_t octets) { return entries_within(*opened, octets); };
    recorded_.mounted = ended.mount;
    recorded_.first = std::max<std::size_t>(within(begin_octets), 1);
    recorded_.last = within(end_octets);
    if (recorded_.last < recorded_.first)
        return base::fail("nothing was written to the disk while mail was delivered");
    recorded_.longest_gap_s = base::seconds_of(watch.longest_gap());
    for (std::size_t entries = recorded_.first; entries <= recorded_.last; ++entries)
        recorded_.last_us.push_back(watch.last_time_at_most(opened->entries()[entries - 1].ends_at)
                                        .value_or(recorded_.begin_us));
    return keep(recorded_, plan_.folder);
}

base::expected<void> variant_audit::open_recording() {
    if (!is_recorded(plan_.folder)) {
        if (plan_.given.replay)
            return base::fail("--replay: {} holds no recording",
                              base::printable(plan_.folder, 300));
        const auto made = record();
        if (!made) return made;
    }
    auto read = read_recording(plan_.folder);
    if (!read) return read.error();
    recorded_ = std::move(*read);
    auto opened = write_log::open(log_in(plan_.folder));
    if (!opened) return opened.error();
    log_.emplace(std::move(*opened));
    if (recorded_.last > log_->entries().size())
        return base::fail("{}: is shorter than recording.json says", log_->path());
    into_.started = recorded_.started;
    into_.mounted = recorded_.mounted;
    into_.entries = recorded_.last - recorded_.first + 1;
    into_.writes = into_.flushes = into_.octets = 0;
    for (std::size_t i = recorded_.first; i < recorded_.last; ++i) {
        const log_entry& one = log_->entries()[i];
        into_.flushes += one.flush ? 1 : 0;
        if (one.octets == 0 || one.discard) continue;
        ++into_.writes;
        into_.octets += one.octets;
    }
    into_.recording_s = static_cast<double>(recorded_.end_us - recorded_.begin_us) * us;
    into_.longest_gap_s = recorded_.longest_gap_s;
    const auto all = count_acknowledged(ledger_in(plan_.folder), recorded_.end_us);
    if (!all) return all.error();
    into_.acknowledged = *all;
    return {};
}

std::vector<std::size_t> variant_audit::cuts() const {
    if (plan_.given.cut_at) return {static_cast<std::size_t>(*plan_.given.cut_at)};
    auto chosen =
        choose_cuts(*log_, recorded_.first, recorded_.last, plan_.of.audited.cuts, plan_.seed);
    return plan_.random_order ? in_random_order(std::move(chosen), plan_.seed) : chosen;
}

std::vector<draw> variant_audit::draws_at(std::size_t cut) const {
    const unsigned torn = torn_percent(plan_.of.audited);
    if (plan_.given.draw) return {draw_of(cut, *log_, *plan_.given.draw, plan_.seed, torn)};
    return draws_of(cut, *log_, plan_.of.audited.draws, plan_.seed, torn);
}

bool variant_audit::is_judged(std::size_t cut, std::uint64_t draw) const {
    return std::any_of(into_.images.begin(), into_.images.end(),
                       [&](const auto& one) { return one.cut == cut && one.draw == draw; });
}

base::expected<void> variant_audit::cut_all() {
    const auto all = cuts();
    into_.cuts = all.size();
    for (const std::size_t cut : all)
        if (const done checked = check_cut(recorded_, into_.name, cut); !checked) return checked;
    std::vector<std::uint64_t> announced;
    for (const std::string& path : durable_disk::paths(plan_.folder)) {
        const auto kept = book_.announce({.kind = undo_kind::file, .path = path});
        if (!kept) return kept.error();
        announced.push_back(*kept);
    }
    auto made = durable_disk::create(plan_.folder, recorded_.disk_octets, *log_);
    if (!made) return made.error();
    durable_.emplace(std::move(*made));
    std::size_t number = 0;
    done ended;
    for (const std::size_t cut : all) {
        doing_ = fmt::format("cut {}/{}", ++number, all.size());
        disks_left_ = (all.size() - number + 1) * plan_.of.audited.draws;
        ended = cut_at(cut);
        if (!ended) break;
    }
    durable_.reset();
    done struck;
    for (const auto kept : announced)
        if (const auto each = book_.strike_out(kept); !each) struck = each;
    return ended ? struck : ended;
}

base::expected<void> variant_audit::cut_at(std::size_t cut) {
    const auto draws = draws_at(cut);
    const bool is_new = std::any_of(draws.begin(), draws.end(),
                                    [&](const draw& one) { return !is_judged(cut, one.number); });
    if (!is_new) return {};
    const auto flushed = durable_->at(log_->last_flush_before(cut));
    if (!flushed) return flushed.error();
    flushed_ = *flushed;
    draws_ = draws.size();
    for (const draw& one : draws) {
        if (is_judged(cut, one.number)) continue;
        const auto began = steady_clock::now();
        const auto examined = examine(cut, one);
        if (!examined) return examined;
        into_.images.back().seconds = base::seconds_of(steady_clock::now() - began);
        spent_ += steady_clock::now() - began;
        ++disks_done_;
        disks_left_ -= std::min<std::uint64_t>(disks_left_, 1);
        if (!on_image_()) return base::fail("the record cannot be written");
        if (by_.is_interrupted()) return base::fail("interrupted");
    }
    return {};
}

base::expected<void> variant_audit::build(std::size_t cut, const draw& one,
                                          const std::string& path) {
    auto image = flushed_->copy_to(path);
    if (!image) return image.error();
    const auto applied = image->apply_survivors(*log_, cut, one.writes);
    if (!applied || plan_.given.keep.empty()) return applied;
    const std::string name = fmt::format("cut-{}-draw-{}.image", cut, one.number);
    const auto copy = image->copy_to((fs::path(plan_.given.keep) / name).string());
    return copy ? done{} : done{copy.error()};
}

// A disk that could not be read is made anew and looked at again: what came between, such as a
// server that a busy machine held up, is no harm that the cut did.
base::expected<void> variant_audit::examine(std::size_t cut, const draw& one) {
    std::string first;
    for (unsigned tries = 1;; ++tries) {
        const auto examined = examine_once(cut, one);
        if (!examined) return examined;
        const std::string& failure = into_.images.back().failure;
        if (failure.empty() && tries > 1)
            console_.say(fmt::format("{}: cut at {}, draw {}: read at try {}; the first: {}",
                                     into_.name, cut, one.number, tries, first));
        if (failure.empty() || tries == most_tries) return examined;
        if (tries == 1) first = failure;
        into_.images.pop_back();
        if (by_.is_interrupted()) return base::fail("interrupted");
    }
}

// Makes the disk, and takes it away again.
base::expected<void> variant_audit::examine_once(std::size_t cut, const draw& one) {
    const std::string path = plan_.folder + "/cut.image";
    const std::string ledger = plan_.folder + "/found.ledger";
    remove_ledger(ledger);
    const auto kept = book_.announce({.kind = undo_kind::file, .path = path});
    if (!kept) return kept.error();
    const done built = build(cut, one, path);
    const done looked = built ? look_at(cut, one, path, ledger) : built;
    if (!left_.empty()) return looked;  // it may still be attached
    remove_ledger(ledger);
    std::error_code ignored;
    fs::remove(path, ignored);
    const auto struck = book_.strike_out(*kept);
    return looked ? struck : looked;
}

base::expected<void> variant_audit::look_at(std::size_t cut, const draw& one,
                                            const std::string& path, const std::string& ledger) {
    audited_image image;
    image.cut = cut;
    image.at_s = static_cast<double>(recorded_.time_of(cut) - recorded_.begin_us) * us;
    image.draw = one.number;
    image.draws = draws_;
    image.seed = plan_.seed;
    image.what = one.what;
    image.at_risk = log_->at_risk(cut).size();
    image.survived = one.writes.size();
    image.torn = static_cast<std::uint64_t>(std::count_if(
        one.writes.begin(), one.writes.end(), [](const auto& each) { return !each.torn.empty(); }));
    const auto read =
        [&](const std::vector<std::string>& folders) -> base::expected<std::uint64_t> {
        const auto found = read_stored_mail(folders, ledger);
        if (!found) return found.error();
        return found->unopened;
    };
    auto ended =
        recover_once(plan_of_run(), {.image = path, .ledger = ledger, .read_maildirs = read}, book_,
                     by_, progress_of_run());
    if (const auto gone = take_left(ended); !gone) return gone;
    const bool complete = ended.end == experiment::run_end::complete;
    if (by_.is_interrupted() && !complete) return base::fail("interrupted");
    if (!complete) image.failure = ended.reason;
    image.unopened = ended.reading_errors;
    image.fsck = ended.check;
    if (const done judged = judge_into(image, ledger); !judged)
        return base::at(fmt::format("cut at {}, draw {}", cut, one.number), judged.error());
    into_.images.push_back(std::move(image));
    return {};
}

// Fails where nobody can say what is there, which is no harm that the cut did.
base::expected<void> variant_audit::judge_into(audited_image& image, const std::string& ledger) {
    const std::int64_t until = recorded_.time_of(image.cut);
    const std::string sent = ledger_in(plan_.folder);
    const auto acknowledged = count_acknowledged(sent, until);
    if (!acknowledged) return acknowledged.error();
    image.acknowledged = *acknowledged;
    if (!image.failure.empty()) return {};
    const auto found = judge(sent, ledger, until);
    if (!found) return found.error();
    image.found = found->found;
    image.lost = found->lost;
    image.misplaced = found->misplaced;
    image.duplicated = found->duplicated;
    image.truncated = found->truncated;
    image.changed = found->changed;
    image.first_lost = found->first_lost;
    if (found->oldest_lost_us)
        image.lost_window_s = static_cast<double>(until - *found->oldest_lost_us) * us;
    return {};
}

variant_end variant_audit::run() {
    done all = open_recording();
    if (all) all = cut_all();
    into_.end = all ? std::string(all_cuts_done) : all.error().message;
    return {into_.end, !all && !by_.is_interrupted(), left_};
}

}  // namespace postal::audit
