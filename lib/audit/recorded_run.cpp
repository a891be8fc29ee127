// SPDX-License-Identifier: GPL-3.0-or-later
// A run that is recorded: on a disk that remembers what was written to it and when it was flushed.
#include "audit/audited_run.hpp"

#include "base/units.hpp"
#include "experiment/one_run.hpp"
#include "experiment/variables.hpp"
#include "testbed/dirty_limit.hpp"
#include "testbed/image_file.hpp"
#include "testbed/stall_watch.hpp"

#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <csignal>

namespace postal::audit {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;
using steady_clock = std::chrono::steady_clock;
using namespace experiment;

constexpr std::chrono::nanoseconds disk_start_limit = 20s;
constexpr std::chrono::nanoseconds disk_stop_limit = 30s;
constexpr std::chrono::nanoseconds look_step = 20ms;
constexpr std::uint64_t most_dirty = std::uint64_t{64} << 20U;

// QEMU's lists of options take a comma that is written twice.
std::string option_value(const std::string& text) {
    std::string escaped;
    for (const char c : text)
        escaped += c == ',' ? std::string(",,") : std::string(1, c);
    return escaped;
}

// A disk on `image` that is seen at `exported`, and of which every write and flush goes to `log`,
// in the format of the kernel's dm-log-writes. What reaches the files below need not reach a disk.
std::vector<std::string> disk_words(const std::string& image, const std::string& log,
                                    const std::string& exported) {
    const auto file = [](const char* node, const std::string& path) {
        return fmt::format("driver=file,node-name={},filename={},cache.no-flush=on,discard=unmap",
                           node, option_value(path));
    };
    return {"qemu-storage-daemon",
            "--blockdev",
            file("image", image),
            "--blockdev",
            file("writes", log),
            "--blockdev",
            "driver=blklogwrites,node-name=disk,file=image,log=writes,discard=unmap",
            "--export",
            "type=fuse,id=export,node-name=disk,writable=on,mountpoint=" + option_value(exported)};
}

bool has_size(const std::string& path, std::uint64_t octets) {
    struct stat found {};
    return ::stat(path.c_str(), &found) == 0 && found.st_size == static_cast<off_t>(octets);
}

class recorded_run final : public one_run {
  public:
    recorded_run(const run_plan& plan, const recording_plan& recorded, journal& book,
                 supervisor& by, const progress& tell)
        : one_run(plan, book, by, tell), recorded_(recorded) {}

  private:
    std::vector<named_step> steps() override;
    done make_device(const storage& on) override;
    std::vector<std::string> extent_of(std::size_t) const override {
        return {"--messages", std::to_string(what_.audited.messages), "--ledger", recorded_.ledger};
    }
    process* below_storage() override { return disk_ ? &*disk_ : nullptr; }
    void let_go() override {
        if (stall_) stall_->stop();
    }
    std::string deeper_reason() const override;

    void bound_dirty_pages();
    void watch_for_stall();
    done record_load();

    const recording_plan& recorded_;
    std::optional<process> disk_;  // the daemon of the disk
    std::optional<testbed::stall_watch> stall_;
};

std::vector<one_run::named_step> recorded_run::steps() {
    return {{"setup", [this] { return set_up(); }},
            {"storage", [this] { return make_storage(); }},
            {"files", [this] { return write_files(); }},
            {"prepare", [this] { return prepare(); }},
            {"server", [this] { return start_servers(); }},
            {"load", [this] { return record_load(); }}};
}

done recorded_run::make_device(const storage&) {
    const auto size_text = expand(what_.audited.size, values_);
    if (!size_text) return size_text.error();
    const auto size = base::parse_size(*size_text);
    if (!size) return size.error();
    const std::string image = recorded_disk_in(plan_.folder);
    const std::string exported = in_folder("exported.image");
    for (const auto& [path, octets] :
         {std::pair(image, *size), {exported, std::uint64_t{0}}, {recorded_.log, 0}}) {
        const bool stays = path == recorded_.log;
        if (!stays)
            if (const done kept = announce({.kind = undo_kind::file, .path = path}); !kept)
                return kept;
        const done made = testbed::create_image(path, octets, testbed::image_space::sparse);
        if (!made) return made;
    }
    // It goes with the daemon, unless that is killed.
    if (const done kept =
            announce({.kind = undo_kind::mount, .path = exported, .device = "/dev/fuse"});
        !kept)
        return kept;
    auto started = by_.start({.words = disk_words(image, recorded_.log, exported),
                              .where = at(what_.audited.line),
                              .log = in_folder("disk.log"),
                              .outlives = true},
                             book_, disk_stop_limit);
    if (!started) return started.error();
    disk_.emplace(std::move(*started));
    const auto until = steady_clock::now() + disk_start_limit;
    const std::array watched{disk_->ended.get()};
    while (!has_size(exported, *size)) {
        if (by_.has_ended(*disk_)) return base::fail("{}", ending_of(*disk_));
        if (steady_clock::now() >= until)
            return base::fail("qemu-storage-daemon shows no disk at {} after {}",
                              base::printable(exported, 300),
                              base::format_duration(disk_start_limit));
        if (by_.wait(watched, steady_clock::now() + look_step, patience::until_interrupted) ==
            woken::by_interruption)
            return base::fail("the start of the disk was interrupted");
    }
    // Direct I/O above a disk of FUSE's has corrupted file systems.
    if (const done attached = attach_loop(exported, testbed::loop_io::buffered); !attached)
        return attached;
    bound_dirty_pages();
    watch_for_stall();
    return {};
}

// What waits to be written to this disk can only be written by a process that may need memory for
// it.
void recorded_run::bound_dirty_pages() {
    const auto note = [&](const base::failure& why) {
        result_.notes.push_back("what waits in memory for the recorded disk is not bounded: " +
                                why.message);
    };
    const auto limit = testbed::plan_dirty_limit(values_["device"].front(), most_dirty);
    if (!limit) return note(limit.error());
    for (auto one = limit->before.rbegin(); one != limit->before.rend(); ++one)
        if (const done kept =
                announce({.kind = undo_kind::setting, .path = one->path, .words = {one->value}});
            !kept)
            return note(kept.error());
    for (const testbed::kernel_setting& one : limit->wanted)
        if (const auto set = testbed::apply(one); !set) return note(set.error());
}

// Without the daemon the kernel answers with errors, and whoever is stuck goes on.
void recorded_run::watch_for_stall() {
    stall_.emplace();
    stall_->start(values_["device"].front(), what_.audited.stall_limit,
                  [daemon = disk_->ended.get()] {
                      ::syscall(SYS_pidfd_send_signal, daemon, SIGKILL, nullptr, 0);
                  });
}

std::string recorded_run::deeper_reason() const {
    if (!stall_ || !stall_->has_stalled()) return {};
    return fmt::format(
        "{}: the recorded disk did nothing for {} and was taken away; memory may be too short for "
        "it: a smaller size, fewer sessions or fewer messages need less",
        at(what_.audited.line), base::format_duration(what_.audited.stall_limit));
}

done recorded_run::record_load() {
    if (recorded_.begins) recorded_.begins();
    const done load = put_loads(what_.audited.limit);
    if (recorded_.ends) recorded_.ends();
    return load;
}

}  // namespace

std::string recorded_disk_in(const std::string& folder) {
    return folder + "/disk.image";
}

postal::experiment::run_result record_once(const postal::experiment::run_plan& plan,
                                           const recording_plan& recorded,
                                           postal::experiment::journal& book,
                                           postal::experiment::supervisor& by,
                                           const postal::experiment::progress& tell) {
    return recorded_run(plan, recorded, book, by, tell).run();
}

}  // namespace postal::audit
