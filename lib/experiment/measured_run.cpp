// SPDX-License-Identifier: GPL-3.0-or-later
// A run that is measured: on a loop device of its own or a disk of the user's, made anew, with
// costs sampled each second.
#include "experiment/announced.hpp"
#include "experiment/capacity.hpp"
#include "experiment/one_run.hpp"
#include "experiment/sampling.hpp"
#include "experiment/variables.hpp"

#include "base/read_file.hpp"
#include "base/units.hpp"
#include "base/write_file.hpp"
#include "stats/record_reader.hpp"
#include "testbed/device_content.hpp"
#include "testbed/device_lock.hpp"
#include "testbed/image_file.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>

namespace postal::experiment {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

constexpr std::string_view ledger_name = "mail.ledger";
constexpr std::uint64_t largest_load_record = std::uint64_t{256} << 20U;

class run_for_speed final : public one_run {
  public:
    using one_run::one_run;

  private:
    std::vector<named_step> steps() override;
    done make_device(const storage& on) override {
        own_device_ = !values_["device"].front().empty();
        return own_device_ ? claim_device() : make_image(on);
    }
    bool may_use_users_disk() const override { return true; }
    done make_file_system(const storage& on) override;
    std::vector<std::string> extent_of(std::size_t program) const override {
        return timed(what_.offered, program, plan_.folder);
    }
    void sample() override {
        if (!samples_now_) return;
        const bool is_due = all_from_ && std::chrono::steady_clock::now() >= *all_from_;
        if (is_due) all_from_.reset();
        is_due ? samples_->take_all() : samples_->take();
    }
    void let_go() override { lock_.reset(); }

    done make_image(const storage& on);
    done claim_device();
    done time_flushes();
    done drop_caches();
    done put_load();
    done keep_costs();
    done keep_announced();
    done check_lingers(const load_result& one, const stats::run_record& record) const;

    bool own_device_ = false;  // the user's disk; otherwise a loop device on
    std::string image_;        // this file
    std::optional<testbed::device_lock> lock_;
    std::unique_ptr<sampling> samples_;
    bool samples_now_ = false;
    // When memory and descriptors are looked at whatever that takes: in the measured part.
    std::optional<std::chrono::steady_clock::time_point> all_from_;
};

std::vector<one_run::named_step> run_for_speed::steps() {
    return {{"setup", [this] { return set_up(); }},
            {"storage", [this] { return make_storage(); }},
            {"files", [this] { return write_files(); }},
            {"prepare", [this] { return prepare(); }},
            {"server", [this] { return start_servers(); }},
            {"flushes", [this] { return time_flushes(); }},
            {"caches", [this] { return drop_caches(); }},
            {"load", [this] { return put_load(); }}};
}

done run_for_speed::make_image(const storage& on) {
    const auto folder = expand(on.directory, values_);
    if (!folder) return folder.error();
    const auto size_text = expand(on.size, values_);
    if (!size_text) return size_text.error();
    const auto size = base::parse_size(*size_text);
    if (!size) return size.error();
    const std::string name =
        fmt::format("postal-{}-{}-{}.image", plan_.block, plan_.position, ::getpid());
    image_ = (fs::absolute(*folder) / name).lexically_normal().string();
    if (const done kept = announce({.kind = undo_kind::file, .path = image_}); !kept) return kept;
    if (const done made = testbed::create_image(image_, *size, testbed::image_space::allocated);
        !made)
        return made;
    auto lock = testbed::device_lock::take(image_);
    if (!lock) return lock.error();
    lock_.emplace(std::move(*lock));
    return attach_loop(image_, testbed::loop_io::direct);
}

done run_for_speed::claim_device() {
    const std::string device = values_["device"].front();
    auto lock = testbed::device_lock::take(device);
    if (!lock) return lock.error();
    lock_.emplace(std::move(*lock));
    return testbed::may_format(
        device, book_.made_on(device),
        book_.is_making(device) ? testbed::existing_data::overwrite : plan_.existing);
}

// What is on a device of the user's afterwards is the experiment's, also when it was made in part.
done run_for_speed::make_file_system(const storage& on) {
    if (!own_device_) {
        if (const done made = run_commands({on.make}); !made) return made;
        // Such commands discard what was there: the image has holes by now.
        return testbed::write_out_image(image_, [this] { return may_go_on(); });
    }
    const std::string device = values_["device"].front();
    if (const done noted = book_.note_making(device); !noted) return noted;
    const done made = run_commands({on.make});
    const auto content = testbed::probe_device(device);
    if (!content) return made ? content.error() : made;
    // Nothing else would know the experiment's own again.
    if (content->uuid.empty() && content->kind != testbed::content_kind::nothing) return made;
    const done noted = book_.note_made(device, content->uuid);
    return made ? noted : made;
}

done run_for_speed::time_flushes() {
    if (!variant_.on.wanted) return {};
    const auto timed = testbed::time_flushes(values_["mount"].front());
    if (!timed) return timed.error();
    result_.flush = *timed;
    return {};
}

done run_for_speed::drop_caches() {
    if (variant_.on.wanted && variant_.on.drop_caches) result_.caches = testbed::drop_caches();
    return {};
}

done run_for_speed::put_load() {
    auto devices = expand(what_.costs.devices, values_);
    if (!devices) return base::at(what_.file, devices.error());
    const auto remote = expand(what_.costs.remote.words, values_);
    if (!remote) return base::at(at(what_.costs.remote.line), remote.error());
    if (remote->empty() && variant_.on.wanted)
        devices->insert(devices->begin(), values_["device"].front());
    auto samples = sampling::create(*devices, *remote, by_);
    if (!samples) return samples.error();
    samples_ = std::move(*samples);
    if (servers_)
        for (const pid_t each : servers_->roots())
            samples_->watch(each);
    samples_->begin();
    samples_now_ = true;
    const load& offered = what_.offered;
    const std::chrono::nanoseconds measured = offered.duration - offered.warmup;
    all_from_ = std::chrono::steady_clock::now() + offered.warmup +
                std::min<std::chrono::nanoseconds>(1s, measured / 2);
    const done load = put_loads(offered.duration + (offered.ledger ? offered.linger : 0ns));
    samples_now_ = false;
    samples_->finish();
    const done kept = keep_costs();
    if (!load) return load;
    return kept && what_.offered.ledger ? keep_announced() : kept;
}

// What a --config file asks for is not seen before: it was not told to stay.
done run_for_speed::check_lingers(const load_result& one, const stats::run_record& record) const {
    const auto& programs = what_.offered.programs;
    const auto found = std::ranges::find(programs, one.name, &load_program::name);
    const bool watches = std::ranges::any_of(
        record.options, [](const auto& option) { return option.first == "watch"; });
    if (!watches || found == programs.end() || is_watching(*found)) return {};
    return base::fail(
        "load \"{}\" watches by a file of its own, and so did not linger; want --watch in its argv",
        one.name);
}

// What was accepted before the last program's warm-up had ended is left out.
done run_for_speed::keep_announced() {
    double from_s = 0;
    for (const load_result& one : result_.loads) {
        const auto text = base::read_regular_file(one.record, largest_load_record);
        if (!text) return text.error();
        const auto record = stats::parse_record(*text);
        if (!record) return base::at(one.record, record.error());
        if (const done lingered = check_lingers(one, *record); !lingered) return lingered;
        if (record->program != "postal") continue;
        const auto started = stats::seconds_of_timestamp(record->started);
        if (!started)
            return base::fail("{}: started is \"{}\", which is no time", one.record,
                              base::printable(record->started, 60));
        from_s = std::max(from_s, *started + record->warmup_s);
    }
    const std::chrono::system_clock::time_point from{
        std::chrono::microseconds(std::llround(from_s * 1e6))};
    const auto found = read_announced(in_folder(std::string(ledger_name)), from);
    if (!found) return found.error();
    const std::string path = in_folder("announced.json");
    const done written = base::write_file(path, to_json(*found));
    if (written) result_.announced = path;
    return written;
}

done run_for_speed::keep_costs() {
    for (const std::string& each : samples_->notes())
        result_.notes.push_back(each);
    const std::string path = in_folder("costs.json");
    const done written = base::write_file(path, to_json(samples_->log()));
    if (written) result_.costs = path;
    return written;
}

}  // namespace

std::vector<std::string> timed(const load& offered, std::size_t program,
                               const std::string& folder) {
    if (offered.search) return search_words(offered, program, folder);
    const bool lingers = offered.ledger && is_watching(offered.programs[program]);
    std::vector<std::string> words{
        "--duration", base::format_duration(offered.duration + (lingers ? offered.linger : 0ns)),
        "--warmup", base::format_duration(offered.warmup)};
    if (offered.ledger)
        words.insert(words.end(), {"--ledger", (fs::path(folder) / ledger_name).string()});
    return words;
}

run_result run_once(const run_plan& plan, journal& book, supervisor& by, const progress& tell) {
    return run_for_speed(plan, book, by, tell).run();
}

}  // namespace postal::experiment
