// SPDX-License-Identifier: GPL-3.0-or-later
// What every run of a variant has in common: its setup, storage, servers and loads, and the undoing
// of them. A kind of run says which steps it takes, on which device, and what else may go wrong.
#pragma once

#include "experiment/run.hpp"
#include "experiment/servers.hpp"

#include "base/text.hpp"
#include "os/process.hpp"
#include "testbed/loop_device.hpp"

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace postal::experiment {

struct running_load {
    process of;
    load_result result;
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
    one_run(const one_run&) = delete;
    one_run& operator=(const one_run&) = delete;
    virtual ~one_run() = default;

    run_result run();

  protected:
    struct named_step {
        const char* name;
        std::function<done()> act;
    };
    [[nodiscard]] virtual std::vector<named_step> steps() = 0;
    // Gives ${device} its value. Only a run that asks for it may get a disk of the user's.
    [[nodiscard]] virtual done make_device(const storage& on) = 0;
    [[nodiscard]] virtual bool may_use_users_disk() const { return false; }
    [[nodiscard]] virtual done make_file_system(const storage& on) {
        return run_commands({on.make});
    }
    // What a load is told of its end.
    [[nodiscard]] virtual std::vector<std::string> extent_of(std::size_t /*program*/) const {
        return {};
    }
    // A process whose end is the reason for what loads say; null without one.
    [[nodiscard]] virtual process* below_storage() { return nullptr; }
    // Each second, and when all is undone but what storage stands on.
    virtual void sample() {}
    virtual void let_go() {}
    // Why what failed did; empty where nothing is known.
    [[nodiscard]] virtual std::string deeper_reason() const { return {}; }

    done do_all();
    void begin(const char* name);
    void end_step();
    void each_second();

    done set_up();
    done make_storage();
    done write_files();
    done prepare();
    done start_servers();
    // Starts all loads and waits for their end; those without an end of their own are stopped after
    // `limit`.
    done put_loads(std::chrono::nanoseconds limit);

    // Of a file.
    done attach_loop(const std::string& image, testbed::loop_io io);
    done mount(const storage& on);
    done make_folders(const std::filesystem::path& folder);

    done start_load(std::size_t program);
    done await_loads(std::chrono::nanoseconds limit);
    done judge(running_load& one);

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
    std::optional<servers> servers_;
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
