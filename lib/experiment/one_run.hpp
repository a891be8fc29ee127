// The steps of one run; for run.cpp and run_*.cpp.
#pragma once

#include "experiment/run.hpp"
#include "experiment/sampling.hpp"
#include "experiment/servers.hpp"

#include "base/text.hpp"
#include "os/process.hpp"
#include "testbed/device_lock.hpp"
#include "testbed/stall_watch.hpp"

#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace postal::experiment {

struct running_load {
    process of;
    load_result result;
    std::uint64_t number = 0;  // of its entry in the journal
    bool ended_well = false;
};

using done = base::expected<void>;

class one_run {
  public:
    one_run(const run_plan& plan, journal& book, supervisor& by, const progress& tell)
        : plan_(plan),
          what_(plan.of),
          variant_(plan.of.variants.at(plan.variant)),
          book_(book),
          by_(by),
          tell_(tell) {}

    run_result run();

  private:
    using step = done (one_run::*)();
    struct named_step {
        const char* name;
        step act;
    };
    static std::span<const named_step> steps_of(run_purpose purpose);

    done do_all();
    void begin(const char* name);
    void end_step();
    void each_second();

    done set_up();
    done make_storage();
    done write_files();
    done prepare();
    done start_servers();
    done time_flushes();
    done drop_caches();
    done put_load();

    done record_load();
    done recover();
    done start_recovered_servers();
    done read_back();
    done check_file_system();

    done make_recording_disk();
    done attach(const std::string& image);
    void bound_dirty_pages();
    void watch_for_stall();
    std::string stall_text() const;
    done start_drain();
    // The errors of the last reading.
    base::expected<std::uint64_t> read_with(const command& reader, std::size_t number,
                                            steady_time until);
    done run_reader(job one, steady_time until);
    done await_drained(steady_time until);

    done make_device(const storage& on);
    done make_image(const storage& on);
    done claim_device();
    done make_file_system(const storage& on);
    done mount(const storage& on);
    done make_folders(const std::filesystem::path& folder);

    done start_load(std::size_t program);
    // Those without an end of their own are stopped after `limit`.
    done await_loads(std::chrono::nanoseconds limit);
    done judge(running_load& one);
    done keep_costs();

    void undo();
    void undo_to(std::uint64_t mark);
    void end_strays(const std::vector<os::process_stat>& before);

    std::string at(std::uint32_t line) const { return fmt::format("{}:{}", what_.file, line); }
    base::expected<std::string> text(const std::string& from, std::uint32_t line) const;
    base::expected<job> ready_job(const command& from, const std::string& log) const;
    base::expected<job> ready_load(std::size_t program) const;
    base::expected<std::vector<job>> ready_jobs(const std::vector<command>& from,
                                                const std::string& log) const;
    done run_commands(const std::vector<command>& all);
    done announce(undo_entry how);
    bool may_go_on();
    std::uint64_t mark() const { return book_.left().empty() ? 0 : book_.left().back().number; }
    std::string in_folder(const std::string& name) const {
        return (std::filesystem::path(plan_.folder) / name).string();
    }

    const run_plan& plan_;
    const experiment& what_;
    const variant& variant_;
    journal& book_;
    supervisor& by_;
    const progress& tell_;

    variables values_;
    run_result result_;
    bool own_device_ = false;  // the user's disk; otherwise a loop device on
    std::string image_;        // this file
    std::optional<testbed::device_lock> lock_;
    std::optional<process> disk_;  // the daemon of a disk that remembers
    std::optional<testbed::stall_watch> stall_;
    std::optional<process> drain_;
    std::optional<servers> servers_;
    std::unique_ptr<sampling> samples_;
    bool samples_now_ = false;
    std::vector<running_load> loads_;

    std::uint64_t mark_before_run_ = 0;
    std::optional<std::uint64_t> mark_before_mount_;    // once there is one
    std::optional<std::uint64_t> mark_before_servers_;  // once they begin
    std::vector<os::process_stat> before_run_;
    std::optional<std::vector<os::process_stat>> after_setup_;  // who ran then, once it is over

    const char* step_ = "";
    steady_time step_began_{};
    std::optional<steady_time> step_ends_{};
};

}  // namespace postal::experiment
