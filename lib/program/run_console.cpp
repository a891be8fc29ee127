// SPDX-License-Identifier: GPL-3.0-or-later
#include "program/run_console.hpp"

#include <csignal>
#include <cstdio>
#include <new>
#include <utility>

#include <unistd.h>

#include <fmt/format.h>

#include "base/text.hpp"
#include "base/units.hpp"
#include "base/write_file.hpp"
#include "os/patient_write.hpp"
#include "os/terminal_size.hpp"
#include "os/usage.hpp"
#include "stats/diagnostics.hpp"
#include "stats/record_writer.hpp"
#include "stats/shown.hpp"
#include "stats/summary.hpp"

namespace postal::program {

namespace {

// Lines in a file stay whole, for those that look for them.
std::string fitted_summary(const stats::run_record& of) {
    const auto columns = os::terminal_columns(STDERR_FILENO);
    if (!columns) return stats::format_summary(of);
    return base::wrapped(stats::format_summary(of, *columns), *columns);
}

// To standard error. That nobody reads it is no reason to hold a run up, or to end it.
void put(const std::string& text) {
    std::fflush(stderr);
    os::write_patiently(STDERR_FILENO, text, std::chrono::seconds(1));
}

}  // namespace

base::expected<std::unique_ptr<run_console>> run_console::create(stats::run_description description,
                                                                 console_options options) {
    using texts = std::vector<std::string>;
    auto thresholds =
        stats::parse_thresholds(options.silent ? texts{} : options.run.thresholds, description);
    if (!thresholds) return base::at("--threshold", thresholds.error());
    if (!options.record.empty()) {
        auto writable = base::check_writable(options.record);
        if (!writable) return base::at("--record", writable.error());
    }
    if (!options.silent && options.run.live) {
        const auto able = screen::check_terminal();
        if (!able) return base::at("--live", able.error());
    }
    if (!options.silent && !options.run.metrics.empty()) {
        auto place = metrics::parse_place(options.run.metrics);
        if (!place) return base::at("--metrics", place.error());
        options.metrics = std::move(*place);
    }
    if (!options.silent && !options.run.push.empty()) {
        auto gateway = metrics::push_gateway::find(options.run.push, description.program,
                                                   description.host.name);
        if (!gateway) return base::at("--push", gateway.error());
        options.gateway = std::move(*gateway);
    }
    return std::unique_ptr<run_console>(
        new run_console(std::move(description), std::move(options), std::move(*thresholds)));
}

run_console::run_console(stats::run_description description, console_options options,
                         std::vector<stats::threshold> thresholds)
    : options_(std::move(options)),
      report_(std::move(description)),
      log_(stdout, options_.run.format, report_.description()),
      thresholds_(std::move(thresholds)),
      second_(report_.description().phases.size()),
      live_(!options_.silent && !options_.run.live &&
            (options_.run.progress || isatty(STDERR_FILENO) == 1)) {}

void run_console::starts(std::chrono::system_clock::time_point when) {
    report_.starts(when);
    log_ = stats::interval_log(stdout, options_.run.format, report_.description());
}

base::expected<void> run_console::let_scrapers_in() {
    if (!options_.metrics) return {};
    auto opened = metrics::scrape_endpoint::open(*options_.metrics);
    if (!opened) return opened.error();
    scraped_ = std::move(*opened);
    scraped_->show(report_, stats::time_slice(report_.description().phases.size()));
    say("metrics at " + scraped_->url());
    return {};
}

base::expected<void> run_console::take_terminal() {
    if (options_.silent || !options_.run.live) return {};
    auto opened = screen::live_screen::open();
    if (!opened) return base::at("--live", opened.error());
    screen_ = std::move(*opened);
    screen_->leave();  // until there is something to show
    return {};
}

base::expected<void> run_console::begin() {
    const auto scraped = let_scrapers_in();
    if (!scraped) return scraped;
    const auto taken = take_terminal();
    if (!taken) return taken;
    if (!logs_to_errors()) return log_.write_header();
    if (const std::string header = log_.header(); !header.empty()) put(header + "\n");
    return {};
}

void run_console::on_time_slice(const stats::time_slice& time_slice) {
    const auto closed = report_.add_time_slice(time_slice);
    if ((live_ || screen_) && second_.add(time_slice)) {
        if (live_) note_latency(second_.whole());
        if (screen_) screen_->note(report_, second_.whole());
    }
    if (sampler_ != nullptr) note_samples();
    if (search_ != nullptr) search_->note(time_slice);
    if (scraped_) scraped_->show(report_, time_slice);
    if (options_.gateway) options_.gateway->note(time_slice);
    if (closed) show(*closed);
    judge();
    if (closed && options_.after_interval) options_.after_interval();
    if (options_.after_time_slice) options_.after_time_slice();
}

void run_console::note_latency(const stats::time_slice& second) {
    const stats::histogram& messages = second.counts.latency[report_.description().message_phase];
    recent_p50_ = stats::known_quantile(messages, 0.5);
    recent_p99_ = stats::known_quantile(messages, 0.99);
}

void run_console::note_samples() {
    report_.latest_samples = sampler_->now();
    for (const std::string& trouble : sampler_->take_troubles())
        say(trouble);
}

void run_console::keep_samples(load::steady_time start) {
    if (sampler_ == nullptr) return;
    report_.samples = sampler_->finish(start);
    note_samples();
    sampler_ = nullptr;
}

void run_console::show(const stats::closed_interval& closed) {
    if (options_.silent) return;
    clear_terminal();
    if (logs_to_errors()) {
        put(log_.line(closed.row) + "\n");
    } else {
        note(log_.write(closed.row));
    }
    if (const unsigned all = report_.description().ranks; closed.row.ranks.value_or(all) < all)
        say(fmt::format("{} of {} ranks in this interval", *closed.row.ranks, all));
    for (const std::string& line : stats::interval_diagnostics(closed.counts.errors.by_count())) {
        say(line);
    }
}

void run_console::on_live(const stats::live_state& state) {
    tell_silence(state);
    if (scraped_) scraped_->show(state);
    if (!live_ && !screen_) return;
    stats::live_state shown = state;
    shown.remaining = stats::estimate_remaining(state, options_.run.duration, options_.messages);
    if (search_ != nullptr) {
        shown.remaining = search_->to_go();
        shown.trial = search_->current();
    }
    if (screen_) return screen_->show(report_, shown);
    shown.p50 = recent_p50_;
    shown.p99 = recent_p99_;
    put("\r\033[K" + stats::format_live_line(shown));
    live_shown_ = true;
}

// An error is counted when a server was waited for long enough; people need not wait so long.
void run_console::tell_silence(const stats::live_state& state) {
    constexpr auto long_silence = std::chrono::seconds(5);
    if (options_.silent || !options_.hint || said_silence_ || state.heard) return;
    if (state.elapsed < long_silence || state.open_connections == 0 || state.errors > 0) return;
    said_silence_ = true;
    say(fmt::format("nothing was heard from any server for {}, with {} open",
                    base::format_duration(long_silence),
                    base::format_amount(state.open_connections, "connection")));
    const std::string hint =
        options_.hint({{"banner", 0, std::string(stats::timeout_reason), 1, {}}, {}});
    if (!hint.empty()) say("hint: " + hint);
}

void run_console::on_gave_up() {
    say("gave up: no progress for " + base::format_duration(options_.give_up));
}

void run_console::tell_first(const stats::first_error& what, const std::string& whose) {
    if (options_.silent) return;
    if (options_.worth_telling && !options_.worth_telling(what.what)) return;
    if (!first_errors_.add(what.what)) return;
    const std::string who = whose.empty() ? "" : whose + ": ";
    say(fmt::format("{}first error of its kind: {}{}", who, stats::describe_first(what),
                    patience_with(what.what)));
    const std::string hint = options_.hint ? options_.hint(what) : "";
    if (!hint.empty()) say("hint: " + hint);
    if (options_.fail_fast) end_run(load::run_ending::first_error);
}

// Behind a connection that could not be made, while none has brought anything: how long this goes
// on.
std::string run_console::patience_with(const stats::error_entry& what) const {
    const bool absent = what.stage == "connect" && report_.totals_with_warmup().started == 0;
    if (!absent || options_.fail_fast) return {};
    if (options_.give_up.count() > 0)
        return "; tried again, and given up after " + base::format_duration(options_.give_up) +
               " without progress";
    if (options_.run.duration.count() > 0)
        return "; tried again until the run ends, " + base::format_duration(options_.run.duration) +
               " after its start";
    return "; tried again until the run is interrupted";
}

// With every time slice, until one is missed.
void run_console::judge() {
    if (ended_run_) return;
    for (const stats::threshold& one : thresholds_) {
        if (!one.missed_already(report_)) continue;
        missed_early_ = one.evaluate(report_);
        say(fmt::format("--threshold: {} is missed with {}; the run ends",
                        missed_early_->expression, stats::threshold_value_text(*missed_early_)));
        return end_run(load::run_ending::threshold);
    }
}

void run_console::end_run(load::run_ending why) {
    if (ended_run_) return;
    ended_run_ = why;
    if (stop_) stop_(why);
}

void run_console::on_interrupt(const stats::live_state& now, std::chrono::nanoseconds grace) {
    if (options_.silent) return;
    if (screen_) screen_->stopping();
    const std::uint64_t open = now.open_connections;
    const std::string whom =
        open == 0 ? "for what was begun"
                  : fmt::format("for {} to finish what {} began",
                                base::format_amount(open, "connection"), open == 1 ? "it" : "they");
    say(fmt::format("stopping: waits {}, at most {}; again to end at once", whom,
                    base::format_duration(grace)));
}

void run_console::on_cut_short() {
    if (!options_.silent) say("what is still in flight is abandoned");
}

void run_console::clear_terminal() {
    if (screen_) screen_->leave();
    if (!live_shown_) return;
    put("\r\033[K");
    live_shown_ = false;
}

void run_console::say(const std::string& line) {
    if (screen_) screen_->note(line);
    if (options_.diagnostics) return options_.diagnostics(line);
    clear_terminal();
    const std::string who = options_.who.empty() ? "" : options_.who + ": ";
    put(os::fitted(fmt::format("{}: {}{}\n", report_.description().program, who, line),
                   STDERR_FILENO));
}

// Standard output that cannot be written is said once and makes the run a failed one.
void run_console::note(const base::expected<void>& written) {
    if (written || output_failed_) return;
    output_failed_ = true;
    say(written.error().message);
}

namespace {

std::string_view name_of_signal(int number) {
    switch (number) {
        case SIGINT:
            return "SIGINT";
        case SIGTERM:
            return "SIGTERM";
        case SIGUSR1:
            return "SIGUSR1";
        default:
            return {};
    }
}

std::optional<stats::interruption> interruption_of(const load::worker_pool& workers) {
    const auto& by = workers.interrupted();
    if (!by) return std::nullopt;
    return stats::interruption{.signal = std::string(name_of_signal(by->signal)),
                               .at_s = base::seconds_of(by->at),
                               .early = by->early,
                               .cut_short = by->cut_short};
}

}  // namespace

stats::run_end end_of(const load::worker_pool& workers, unsigned most_connections) {
    const os::usage used = os::process_usage();
    return {.duration_s = base::seconds_of(workers.lasted()),
            .why = workers.ended_by(),
            .cpu_user_s = used.user_s,
            .cpu_system_s = used.system_s,
            .max_rss_bytes = used.max_rss_bytes,
            .most_connections = most_connections,
            .interrupted = interruption_of(workers)};
}

// What memory was kept for: the record of a run that used up all the rest. Want of it may also be
// over a moment later.
void run_console::with_reserve(const std::function<void()>& act) {
    try {
        act();
    } catch (const std::bad_alloc&) {
        reserve_.reset();
        act();
    }
}

cli::exit_status run_console::finish(const stats::run_end& end) {
    report_.finish(end);
    bool passed = stats::check_thresholds(thresholds_, report_) && !ended_run_;
    if (search_ != nullptr) {
        report_.search = search_->record();
        passed = passed && search_->found();
        if (auto verdict = search_->verdict()) {
            passed = passed && verdict->passed;
            report_.thresholds.push_back(std::move(*verdict));
        }
    }
    // What was finished since may have mended it: that it ended the run stands.
    for (stats::threshold_result& one : report_.thresholds) {
        if (!missed_early_ || one.expression != missed_early_->expression) continue;
        one = *missed_early_;
    }
    clear_terminal();
    screen_.reset();
    stats::run_record record;
    with_reserve([&] { record = report_.record(); });
    if (!options_.silent) with_reserve([&] { put(fitted_summary(record)); });
    if (!options_.record.empty()) {
        with_reserve([&] { note(stats::write_record(record, options_.record)); });
    }
    if (options_.gateway) {
        const auto pushed = options_.gateway->push(report_);
        if (!pushed) note(base::at("--push", pushed.error()));
    }
    const bool measured = report_.measured_s() > 0 || report_.description().warmup.count() == 0;
    if (!measured && !options_.silent)
        say(
            fmt::format("--warmup: the run was over within the {} of its warm-up, and nothing was "
                        "measured; give a shorter warm-up, or let it run for longer",
                        base::format_duration(report_.description().warmup)));
    if (output_failed_) return cli::exit_status::system_error;
    if (!passed) return cli::exit_status::threshold_not_met;
    return !measured && !options_.silent ? cli::exit_status::bad_parameters
                                         : cli::exit_status::done;
}

}  // namespace postal::program
