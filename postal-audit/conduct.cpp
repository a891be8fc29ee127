// SPDX-License-Identifier: GPL-3.0-or-later
#include "postal-audit/conduct.hpp"

#include "audit/findings.hpp"
#include "audit/record.hpp"
#include "base/read_file.hpp"
#include "base/standard_output.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "base/version.hpp"
#include "base/write_file.hpp"
#include "experiment/going_on.hpp"
#include "experiment/plan.hpp"
#include "experiment/record.hpp"
#include "experiment/versions.hpp"
#include "experiment/workplace.hpp"
#include "os/host.hpp"
#include "os/terminal_size.hpp"
#include "postal-audit/check.hpp"
#include "postal-audit/controls.hpp"
#include "postal-audit/recording.hpp"
#include "postal-audit/resume.hpp"
#include "postal-audit/variant_audit.hpp"
#include "stats/record_writer.hpp"

#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>

namespace postal::audit {
namespace {

namespace fs = std::filesystem;
using cli::exit_status;
using experiment::refusal;

constexpr const char* program_name = "postal-audit";

// What is audited, in its order.
struct subject {
    const experiment::experiment* of = nullptr;
    std::size_t variant = 0;
    control as = control::no;
};

// Without what the block's number says.
std::string folder_name(const subject& one) {
    const std::string whole =
        folder_of({.block = 1, .position = one.variant, .variant = one.variant}, *one.of);
    return whole.substr(whole.find('-') + 1);
}

class auditor {
  public:
    auditor(const options& given, const experiment::experiment& whole,
            const experiment::experiment& controls)
        : given_(given),
          whole_(whole),
          controls_(controls),
          here_(program_name, given),
          out_(here_.folder()) {
        if (!given.replay) {
            subjects_.push_back({&controls_, 0, control::must_lose});
            subjects_.push_back({&controls_, 1, control::must_keep});
        }
        for (std::size_t i = 0; i < whole.variants.size(); ++i)
            if (is_wanted(given, whole.variants[i].name)) subjects_.push_back({&whole_, i});
    }

    std::optional<refusal> begin(std::uint64_t seed, const std::vector<std::string>& argv);
    void run();
    exit_status finish();
    void name_lost() const;

  private:
    std::optional<refusal> open_folder();
    std::optional<refusal> check_compared() const;
    base::expected<void> take_up();
    base::expected<void> choose_replayed();
    std::string folder_of(const subject& one) const;
    experiment::versions ask_versions() {
        return experiment::ask_versions(program_name, whole_, out_, here_.by(), here_.book());
    }
    void fill_record(std::uint64_t seed, const std::vector<std::string>& argv);
    bool audit_one(std::size_t number);
    // Which is made where there is none.
    audited_variant& entry_of(const subject& one);
    bool write_record();
    bool came_out() const;

    const options& given_;
    experiment::experiment whole_;
    experiment::experiment controls_;
    experiment::workplace here_;
    const std::string& out_;  // its folder
    std::vector<subject> subjects_;
    audit_record record_;
    std::vector<experiment::leftover> left_;
    bool failed_ = false;
};

// A folder of postal-compare's for the same file gets the audit beside it.
std::optional<refusal> auditor::check_compared() const {
    const auto text = base::read_regular_file(out_ + "/experiment.json");
    if (!text)
        return refusal{
            base::fail("--out: {} is there already, and holds no results of "
                       "postal-compare; name another folder",
                       base::printable(out_, 300))};
    const auto record = experiment::parse_experiment_record(*text);
    if (!record) return refusal{record.error()};
    if (record->text == whole_.text) return std::nullopt;
    return refusal{base::fail("--out: {} holds the results of another experiment",
                              base::printable(out_, 300))};
}

std::optional<refusal> auditor::open_folder() {
    std::error_code problem;
    const bool goes_on = given_.resume || given_.replay;
    const char* option = action_of(given_);
    const bool is_there = fs::exists(out_, problem);
    if (goes_on && !is_audited_folder(out_))
        return refusal{
            base::fail("{}: there is no audit in {}", option, base::printable(out_, 300))};
    if (!goes_on && is_audited_folder(out_))
        return refusal{
            base::fail("--out: {} holds an audit already; --resume goes on with it, "
                       "--out names another folder",
                       base::printable(out_, 300))};
    if (!goes_on && is_there)
        if (auto refused = check_compared()) return refused;
    if (!is_there) fs::create_directories(out_, problem);
    if (problem) return here_.no_folder(problem);
    return std::nullopt;
}

base::expected<void> auditor::take_up() {
    auto read = read_audit(out_);
    if (!read) return read.error();
    record_ = std::move(*read);
    if (const auto taken = audit::take_up(record_, given_, whole_); !taken) return taken;
    const char* option = action_of(given_);
    if (record_.settings.empty() && !given_.set.empty())
        here_.say(
            fmt::format("{}: whether --set is as it was is not known: the record of an older "
                        "version does not hold it",
                        option));
    const auto other =
        experiment::machine_difference(record_.host, record_.versions, ask_versions());
    // Whoever looks again at a cut may do so below another kernel, and is told.
    if (other && given_.replay) here_.say(fmt::format("{}: {}", option, *other));
    if (other && !given_.replay)
        return base::fail("{}: {}: begin anew with another --out", option, *other);
    return {};
}

// Below the folder of results; of a control by what it is for.
std::string auditor::folder_of(const subject& one) const {
    const std::string name = one.as == control::no          ? folder_name(one)
                             : one.as == control::must_lose ? "0-must-lose"
                                                            : "0-must-keep";
    return out_ + "/audit/" + name;
}

// What has a recording in which there is such a cut. The record has the controls beside it, and
// nothing else.
base::expected<void> auditor::choose_replayed() {
    if (given_.variants.empty())
        std::erase_if(subjects_, [&](const subject& one) { return !is_recorded(folder_of(one)); });
    if (subjects_.empty())
        return base::fail("--replay: there is no recording in {}", base::printable(out_, 300));
    const auto cut = static_cast<std::size_t>(*given_.cut_at);
    for (const subject& one : subjects_) {
        const auto kept = read_recording(folder_of(one));
        if (!kept) return base::at("--replay", kept.error());
        const auto checked = check_cut(*kept, one.of->variants[one.variant].name, cut);
        if (!checked) return checked;
    }
    std::erase_if(record_.variants, [&](const audited_variant& each) {
        return each.as == control::no && std::ranges::none_of(subjects_, [&](const subject& one) {
                   return one.of->variants[one.variant].name == each.name;
               });
    });
    record_.cuts = 1;
    if (given_.draw) record_.draws = 1;
    return {};
}

void auditor::fill_record(std::uint64_t seed, const std::vector<std::string>& argv) {
    record_.version = base::build_version;
    record_.argv = argv;
    record_.title = whole_.title;
    record_.file = whole_.file;
    record_.text = whole_.text;
    record_.seed = seed;
    record_.cuts = whole_.audited.cuts;
    record_.order = cut_order::random;
    record_.draws = whole_.audited.draws;
    record_.cut_at = given_.cut_at;
    record_.draw = given_.draw;
    record_.torn_percent = torn_percent(whole_.audited);
    record_.messages = whole_.audited.messages;
    record_.started = stats::timestamp(std::chrono::system_clock::now());
    record_.host = os::describe_host();
    record_.versions = ask_versions();
    record_.settings = experiment::recorded_variants(whole_);
}

std::optional<refusal> auditor::begin(std::uint64_t seed, const std::vector<std::string>& argv) {
    if (auto refused = open_folder()) return refused;
    if (auto refused = here_.open()) return refused;
    if (auto refused = here_.clear_up()) return refused;
    if (const auto checked = check_machine(given_, whole_); !checked)
        return refusal{checked.error()};
    if (given_.resume || given_.replay) {
        auto taken = take_up();
        if (taken && given_.replay) taken = choose_replayed();
        if (!taken) return refusal{taken.error()};
    } else {
        fill_record(seed, argv);
    }
    if (!given_.keep.empty()) {
        std::error_code problem;
        fs::create_directories(given_.keep, problem);
        if (problem)
            return refusal{
                base::fail("--keep: {}: {}", base::printable(given_.keep, 300), problem.message())};
    }
    for (const subject& one : subjects_)
        entry_of(one);
    record_.ended.clear();
    record_.end.clear();
    if (!write_record())
        return refusal{base::fail("the record cannot be written"), exit_status::system_error};
    return std::nullopt;
}

// A replay is for those who look: the audit's record stays as it is.
bool auditor::write_record() {
    if (given_.replay) return true;
    const auto written = base::write_file(out_ + "/" + audit_name, audit_text(record_));
    if (!written) here_.say(written.error().message);
    failed_ = failed_ || !written;
    return written.has_value();
}

audited_variant& auditor::entry_of(const subject& one) {
    const std::string& wanted = one.of->variants[one.variant].name;
    const auto found = std::find_if(record_.variants.begin(), record_.variants.end(),
                                    [&](const auto& each) { return each.name == wanted; });
    if (found != record_.variants.end()) return *found;
    audited_variant& made = record_.variants.emplace_back();
    made.name = wanted;
    made.as = one.as;
    return made;
}

// Whether the audit goes on.
bool auditor::audit_one(std::size_t number) {
    const subject& one = subjects_[number];
    audited_variant& entry = entry_of(one);
    if (given_.replay) entry.images.clear();
    if (!given_.replay && entry.end == all_cuts_done) return true;
    // Of a control the cuts are its own business.
    options given = given_;
    if (one.as != control::no) {
        given.cut_at.reset();
        given.draw.reset();
        given.keep.clear();
    }
    variant_audit under_way(
        {.given = given,
         .of = *one.of,
         .variant = one.variant,
         .seed = record_.seed,
         .random_order = record_.order == cut_order::random,
         .out = out_,
         .folder = folder_of(one),
         .where = fmt::format("{}/{} {}", number + 1, subjects_.size(), entry.name)},
        here_.book(), here_.by(), here_.console(), entry, [this] { return write_record(); });
    const variant_end ended = under_way.run();
    const bool written = write_record();
    left_ = ended.left;
    failed_ = failed_ || ended.failed;
    if (here_.by().is_interrupted()) {
        entry.end = record_.end = "interrupted";
        return false;
    }
    here_.say(fmt::format("{} of {}: {}: {} looked at{}", number + 1, subjects_.size(), entry.name,
                          base::format_amount(entry.images.size(), "disk"),
                          ended.why == all_cuts_done ? "" : "; " + ended.why));
    if (!left_.empty()) record_.end = "something is left behind";
    if (!written) record_.end = "the record cannot be written";
    return written && left_.empty();
}

void auditor::run() {
    bool goes_on = true;
    for (std::size_t i = 0; goes_on && i < subjects_.size(); ++i)
        goes_on = audit_one(i);
    if (goes_on) record_.end = all_cuts_done;
    record_.ended = stats::timestamp(std::chrono::system_clock::now());
    write_record();
}

// What --expect asks for, and the controls.
bool auditor::came_out() const {
    const auto found = analyse(record_);
    bool as_expected = given_.replay || found.counts();
    for (const auto& [name, wanted] : given_.expect) {
        const std::string& variant = name;
        const auto at = std::find_if(record_.variants.begin(), record_.variants.end(),
                                     [&](const auto& one) { return one.name == variant; });
        const auto place = static_cast<std::size_t>(at - record_.variants.begin());
        // What a replay found no recording of is not there.
        const variant_result* result =
            at == record_.variants.end() ? nullptr : &found.variants[place];
        // What was not cut to the end may lose mail yet.
        const std::string is =
            result == nullptr || result->harmed + result->counted == 0 ? "not audited"
            : result->harmed > 0                                       ? "lost"
            : given_.replay || at->end == all_cuts_done                ? "kept"
                                                                       : "not audited to the end";
        if (is == wanted) continue;
        as_expected = false;
        cli::complain(program_name, fmt::format("--expect: mail of {} was {}, not {}",
                                                base::printable(variant, 100), is, wanted));
    }
    return as_expected;
}

// Which messages a replayed cut lost; the record has them of every cut.
void auditor::name_lost() const {
    for (const audited_variant& variant : record_.variants) {
        if (variant.as != control::no) continue;
        for (const audited_image& image : variant.images)
            for (const lost_message& one : image.first_lost)
                base::print(fmt::format(
                    "{}: cut {}, draw {} lost message {} of session {} to {}, acknowledged {}\n",
                    base::printable(variant.name, 100), image.cut, image.draw,
                    base::printable(one.sequence, 20), base::printable(one.session, 20),
                    base::printable(one.recipient, 300), base::printable(one.acknowledged, 40)));
    }
}

exit_status auditor::finish() {
    here_.console().finish();
    base::print(report::render_text(document_of(record_, analyse(record_), report::medium::text),
                                    os::terminal_columns(STDOUT_FILENO)));
    if (given_.replay) name_lost();
    if (!given_.replay) base::print(here_.tables_hint());
    if (record_.end != all_cuts_done) here_.say("ended before all cuts were done: " + record_.end);
    if (here_.tell_leftovers(left_)) return exit_status::system_error;
    const bool any = std::any_of(record_.variants.begin(), record_.variants.end(),
                                 [](const auto& one) { return !one.images.empty(); });
    if (!any) return exit_status::nothing_delivered;
    if (failed_) return exit_status::system_error;
    return came_out() ? exit_status::done : exit_status::threshold_not_met;
}

}  // namespace

exit_status conduct(const options& given, const experiment::experiment& whole, std::uint64_t seed,
                    const std::vector<std::string>& argv) {
    const auto controls = make_controls();
    if (!controls) return cli::refuse(program_name, controls.error(), exit_status::system_error);
    auditor by(given, whole, *controls);
    if (const auto refused = by.begin(seed, argv))
        return cli::refuse(program_name, refused->why, refused->status);
    by.run();
    return by.finish();
}

}  // namespace postal::audit
