// The steps of a run that an audit needs: a disk that remembers what was written to it and when it
// was flushed, loads of so many messages with a ledger, and what is found on an image that a power
// cut left.
#include "experiment/one_run.hpp"
#include "experiment/plan.hpp"
#include "experiment/variables.hpp"

#include "base/read_file.hpp"
#include "base/units.hpp"
#include "stats/record_reader.hpp"
#include "testbed/dirty_limit.hpp"
#include "testbed/image_file.hpp"
#include "testbed/loop_device.hpp"
#include "testbed/mounts.hpp"

#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <csignal>

namespace postal::experiment {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;
using steady_clock = std::chrono::steady_clock;

constexpr std::chrono::nanoseconds disk_start_limit = 20s;
constexpr std::chrono::nanoseconds disk_stop_limit = 30s;
constexpr std::chrono::nanoseconds drain_stop_limit = 20s;
constexpr std::chrono::nanoseconds look_step = 20ms;
constexpr int least_readings = 3;  // where something was refused
constexpr int most_readings = 12;
constexpr std::chrono::nanoseconds drained_step = 200ms;
constexpr std::uint64_t most_check_text = 1 << 16;
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

// The errors of a reader that came to its end; fails where it gave up before.
base::expected<std::uint64_t> errors_in(const std::string& record) {
    const auto text = base::read_file(record);
    if (!text) return text.error();
    const auto read = stats::parse_record(*text);
    const stats::counter* const errors = stats::find_counter(stats::all_counters(), "errors");
    if (!read || !read->totals.has(*errors)) return base::fail("{}: is no record of a run", record);
    if (read->ended != "complete")
        return base::fail("not all mailboxes were read: {}", read->ended);
    return read->totals.error_events;
}

}  // namespace

std::string recorded_disk_in(const std::string& folder) {
    return folder + "/disk.image";
}

done one_run::make_recording_disk() {
    const auto size_text = expand(what_.audited.size, values_);
    if (!size_text) return size_text.error();
    const auto size = base::parse_size(*size_text);
    if (!size) return size.error();
    image_ = recorded_disk_in(plan_.folder);
    const std::string exported = in_folder("exported.image");
    for (const auto& [path, octets] :
         {std::pair(image_, *size), {exported, std::uint64_t{0}}, {plan_.recorded.log, 0}}) {
        const bool stays = path == plan_.recorded.log;
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
    auto started = by_.start({.words = disk_words(image_, plan_.recorded.log, exported),
                              .where = at(what_.audited.line),
                              .log = in_folder("disk.log"),
                              .outlives = true});
    if (!started) return started.error();
    const auto kept =
        book_.announce_process(started->started.pid, at(what_.audited.line), disk_stop_limit);
    disk_.emplace(std::move(*started));
    if (!kept) return kept.error();
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
    if (const done attached = attach(exported); !attached) return attached;
    bound_dirty_pages();
    watch_for_stall();
    return {};
}

// What waits to be written to this disk can only be written by a process that may need memory for it.
void one_run::bound_dirty_pages() {
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
void one_run::watch_for_stall() {
    stall_.emplace();
    stall_->start(values_["device"].front(), what_.audited.stall_limit,
                  [daemon = disk_->ended.get()] {
                      ::syscall(SYS_pidfd_send_signal, daemon, SIGKILL, nullptr, 0);
                  });
}

done one_run::attach(const std::string& image) {
    if (const done kept = announce({.kind = undo_kind::loop, .path = image}); !kept) return kept;
    // Direct I/O above a disk of FUSE's has corrupted file systems.
    const auto attached = testbed::attach_loop(image, testbed::loop_io::buffered);
    if (!attached) return attached.error();
    values_["device"] = {attached->path};
    return {};
}

done one_run::record_load() {
    if (plan_.recorded.begins) plan_.recorded.begins();
    done load;
    for (std::size_t i = 0; load && i < what_.offered.programs.size(); ++i)
        load = start_load(i);
    if (load) load = await_loads(what_.audited.limit);
    if (plan_.recorded.ends) plan_.recorded.ends();
    for (const running_load& each : loads_)
        if (each.ended_well) result_.loads.push_back(each.result);
    return load;
}

done one_run::recover() {
    return run_commands(what_.audited.recover);
}

done one_run::start_drain() {
    const command& from = what_.audited.drain;
    if (from.words.empty()) return {};
    auto one = ready_job(from, "drain.log");
    if (!one) return one.error();
    one->words.insert(one->words.end(), {"--ledger", plan_.recovered.ledger, "--interval", "1s"});
    mark_before_servers_ = mark();
    auto started = by_.start(std::move(*one));
    if (!started) return started.error();
    drain_.emplace(std::move(*started));
    const auto kept = book_.announce_process(drain_->started.pid, at(from.line), drain_stop_limit);
    if (!kept) return kept.error();
    return {};
}

// Servers are for those who ask them.
done one_run::start_recovered_servers() {
    const audit& after = what_.audited;
    if (after.read.empty() && after.drain.words.empty()) return {};
    const auto before = mark();
    if (const done drain = start_drain(); !drain) return drain;
    if (const done started = start_servers(); !started) return started;
    mark_before_servers_ = before;
    return run_commands(after.after_start);
}

done one_run::read_back() {
    const auto until = steady_clock::now() + what_.audited.limit;
    step_ends_ = until;
    if (const done drained = await_drained(until); !drained) return drained;
    std::size_t number = 0;
    for (const command& each : what_.audited.read) {
        const auto errors = read_with(each, ++number, until);
        if (!errors) return errors.error();
        result_.reading_errors += *errors;
    }
    if (what_.audited.maildirs.empty()) return {};
    const auto folders = expand(what_.audited.maildirs, values_);
    if (!folders) return base::at(at(what_.audited.line), folders.error());
    const auto unread = plan_.recovered.read_maildirs(*folders);
    if (!unread) return unread.error();
    result_.reading_errors += *unread;
    return {};
}

// Mailboxes that were refused are asked for again, three times in all and then as long as they become
// fewer: Dovecot refuses one whose index it finds broken, and mends it. Mail that was seen twice is known by its UID.
base::expected<std::uint64_t> one_run::read_with(const command& reader, std::size_t number,
                                                 steady_time until) {
    auto one = ready_job(reader, fmt::format("read-{}.log", number));
    if (!one) return one.error();
    const std::string record = in_folder(fmt::format("read-{}.json", number));
    one->words.insert(one->words.end(),
                      {"--ledger", plan_.recovered.ledger, "--interval", "1s", "--record", record});
    std::uint64_t before = 0;
    for (int reading = 1;; ++reading) {
        ::unlink(record.c_str());  // that of an earlier reading
        if (const done read = run_reader(*one, until); !read) return read.error();
        const auto errors = errors_in(record);
        if (!errors) return base::at(at(reader.line), errors.error());
        const bool again = reading < least_readings || *errors < before;
        if (*errors == 0 || !again || reading == most_readings) return errors;
        before = *errors;
    }
}

// rabid's status says whether anything was read (4: nothing), which is for the ledgers to judge.
done one_run::run_reader(job one, steady_time until) {
    constexpr int read_all = 0;
    constexpr int read_nothing = 4;
    auto started = by_.start(std::move(one));
    if (!started) return started.error();
    const auto kept = book_.announce_process(started->started.pid, started->of.where, 5s);
    if (!kept) return kept.error();
    const std::array watched{started->ended.get()};
    while (!by_.has_ended(*started)) {
        const auto why = by_.wait(watched, until, patience::until_interrupted);
        if (why == woken::by_interruption) return base::fail("interrupted while mail was read");
        if (why == woken::by_time)
            return base::fail("{}: reading was not done within {}", started->of.where,
                              base::format_duration(what_.audited.limit));
    }
    if (const done struck = book_.strike_out(*kept); !struck) return struck;
    const auto& end = *started->end;
    if (!end.signalled &&
        (end.status_or_signal == read_all || end.status_or_signal == read_nothing))
        return {};
    return base::fail("{}: {}", started->of.where, ending_of(*started));
}

// The ledger of what came is whole once bhm has ended.
done one_run::await_drained(steady_time until) {
    if (!drain_) return {};
    const auto asked = ready_job(what_.audited.drained, "drained.log");
    if (!asked) return asked.error();
    while (!by_.run(*asked, what_.command_limit, patience::until_interrupted, book_)) {
        if (by_.is_interrupted()) return base::fail("interrupted while mail was drained");
        if (steady_clock::now() >= until)
            return base::fail("{}: mail is left after {}", asked->where,
                              base::format_duration(what_.audited.limit));
        by_.wait({}, steady_clock::now() + drained_step, patience::until_interrupted);
    }
    if (!by_.end(*drain_, drain_stop_limit))
        return base::fail("{}: bhm did not end by itself", at(what_.audited.drain.line));
    return {};
}

// Once more without anybody on it: what recovery left is to be whole.
done one_run::check_file_system() {
    const command& from = what_.audited.check;
    if (from.words.empty() || !mark_before_mount_) return {};
    if (mark_before_servers_) undo_to(*mark_before_servers_);
    undo_to(*mark_before_mount_);
    if (!result_.left.empty()) return base::fail("the file system cannot be unmounted");
    const auto one = ready_job(from, "check.log");
    if (!one) return one.error();
    const auto ran = by_.run(*one, what_.command_limit, patience::until_interrupted, book_);
    if (by_.is_interrupted()) return base::fail("interrupted while the file system was looked at");
    if (!ran) result_.check = ran.error().message;
    return {};
}

}  // namespace postal::experiment
