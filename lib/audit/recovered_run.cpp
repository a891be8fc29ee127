// SPDX-License-Identifier: GPL-3.0-or-later
// A run that recovers: what is found on an image that a power cut left. There is no load; servers
// are started for one program that reads what is there, and the file system is looked at when it is
// unmounted.
#include "audit/audited_run.hpp"

#include "base/read_file.hpp"
#include "base/units.hpp"
#include "base/words.hpp"
#include "experiment/one_run.hpp"
#include "experiment/variables.hpp"
#include "stats/record_reader.hpp"

#include <unistd.h>

#include <array>

namespace postal::audit {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;
using steady_clock = std::chrono::steady_clock;
using namespace experiment;

constexpr std::chrono::nanoseconds drain_stop_limit = 20s;
constexpr int least_readings = 3;  // where something was refused
constexpr int most_readings = 12;
constexpr std::chrono::nanoseconds drained_step = 200ms;

// The errors of a reader that came to its end; fails where it gave up before.
base::expected<std::uint64_t> errors_in(const std::string& record) {
    const auto text = base::read_regular_file(record);
    if (!text) return text.error();
    const auto read = stats::parse_record(*text);
    const stats::counter* const errors = stats::find_counter(stats::all_counters(), "errors");
    if (!read || !read->totals.has(*errors)) return base::fail("{}: is no record of a run", record);
    if (read->ended != stats::run_ending::complete)
        return base::fail("not all mailboxes were read: {}", stats::shown_ending(read->ended));
    return read->totals.error_events;
}

class recovered_run final : public one_run {
  public:
    recovered_run(const run_plan& plan, const recovery_plan& recovered, journal& book,
                  supervisor& by, const progress& tell)
        : one_run(plan, book, by, tell), recovered_(recovered) {}

  private:
    std::vector<named_step> steps() override;
    done make_device(const storage&) override {
        return attach_loop(recovered_.image, testbed::loop_io::buffered);
    }
    done make_file_system(const storage&) override { return {}; }

    done recover();
    done start_recovered_servers();
    done start_drain();
    done read_back();
    // The errors of the last reading.
    base::expected<std::uint64_t> read_with(const command& reader, std::size_t number,
                                            steady_time until);
    done run_reader(job one, steady_time until);
    done await_drained(steady_time until);
    done check_file_system();

    const recovery_plan& recovered_;
    std::optional<process> drain_;
};

std::vector<one_run::named_step> recovered_run::steps() {
    return {{"setup", [this] { return set_up(); }},
            {"storage", [this] { return make_storage(); }},
            {"files", [this] { return write_files(); }},
            {"recover", [this] { return recover(); }},
            {"server", [this] { return start_recovered_servers(); }},
            {"reading", [this] { return read_back(); }},
            {"check", [this] { return check_file_system(); }}};
}

done recovered_run::recover() {
    return run_commands(what_.audited.recover);
}

done recovered_run::start_drain() {
    const command& from = what_.audited.drain;
    if (from.words.empty()) return {};
    auto one = ready_job(from, "drain.log");
    if (!one) return one.error();
    one->words.insert(one->words.end(), {"--ledger", recovered_.ledger, "--interval", "1s"});
    mark_before_servers_ = mark();
    auto started = by_.start(std::move(*one), book_, drain_stop_limit);
    if (!started) return started.error();
    drain_.emplace(std::move(*started));
    return {};
}

// Servers are for those who ask them.
done recovered_run::start_recovered_servers() {
    const postal::experiment::audit& after = what_.audited;
    if (after.read.empty() && after.drain.words.empty()) return {};
    const auto before = mark();
    if (const done drain = start_drain(); !drain) return drain;
    if (const done started = start_servers(); !started) return started;
    mark_before_servers_ = before;
    return run_commands(after.after_start);
}

done recovered_run::read_back() {
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
    const auto unread = recovered_.read_maildirs(*folders);
    if (!unread) return unread.error();
    result_.reading_errors += *unread;
    return {};
}

// Mailboxes that were refused are asked for again, three times in all and then as long as they
// become fewer: Dovecot refuses one whose index it finds broken, and mends it. Mail that was seen
// twice is known by its UID.
base::expected<std::uint64_t> recovered_run::read_with(const command& reader, std::size_t number,
                                                       steady_time until) {
    auto one = ready_job(reader, fmt::format("read-{}.log", number));
    if (!one) return one.error();
    const std::string record = in_folder(fmt::format("read-{}.json", number));
    one->words.insert(one->words.end(),
                      {"--ledger", recovered_.ledger, "--interval", "1s", "--record", record});
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
done recovered_run::run_reader(job one, steady_time until) {
    constexpr int read_all = 0;
    constexpr int read_nothing = 4;
    auto started = by_.start(std::move(one), book_, 5s);
    if (!started) return started.error();
    const std::array watched{started->ended.get()};
    while (!by_.has_ended(*started)) {
        const auto why = by_.wait(watched, until, patience::until_interrupted);
        if (why == woken::by_interruption) return base::fail("interrupted while mail was read");
        if (why == woken::by_time)
            return base::fail("{}: reading was not done within {}", started->of.where,
                              base::format_duration(what_.audited.limit));
    }
    if (const done struck = book_.strike_out(started->number); !struck) return struck;
    const auto& end = *started->end;
    if (!end.signalled &&
        (end.status_or_signal == read_all || end.status_or_signal == read_nothing))
        return {};
    return base::fail("{}: {}", started->of.where, ending_of(*started));
}

// The ledger of what came is whole once bhm has ended.
done recovered_run::await_drained(steady_time until) {
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
done recovered_run::check_file_system() {
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

}  // namespace

postal::experiment::run_result recover_once(const postal::experiment::run_plan& plan,
                                            const recovery_plan& recovered,
                                            postal::experiment::journal& book,
                                            postal::experiment::supervisor& by,
                                            const postal::experiment::progress& tell) {
    return recovered_run(plan, recovered, book, by, tell).run();
}

}  // namespace postal::audit
