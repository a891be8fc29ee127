// SPDX-License-Identifier: GPL-3.0-or-later
// The audit of one variant: its run is recorded, or found recorded, and for each cut and each draw
// a disk is made of the recording, recovered, and judged.
#pragma once

#include "audit/audited_run.hpp"
#include "audit/record.hpp"
#include "experiment/experiment.hpp"
#include "experiment/journal.hpp"
#include "experiment/live_console.hpp"
#include "experiment/supervisor.hpp"
#include "postal-audit/draws.hpp"
#include "postal-audit/durable_disk.hpp"
#include "postal-audit/options.hpp"
#include "postal-audit/recording.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace postal::audit {

struct variant_plan {
    const options& given;
    const experiment::experiment& of;
    std::size_t variant = 0;
    std::uint64_t seed = 0;
    bool random_order = true;  // of the cuts
    std::string out{};         // the folder of results
    std::string folder{};      // of this variant; absolute
    std::string where{};       // "2/5 barrier=0", for the live line
};

// How it ended. `left`: the audit must not go on.
struct variant_end {
    std::string why{};  // all_cuts_done, or what stopped it
    bool failed = false;
    std::vector<experiment::leftover> left{};
};

class variant_audit {
  public:
    variant_audit(variant_plan plan, experiment::journal& book, experiment::supervisor& by,
                  experiment::live_console& console, audited_variant& into,
                  std::function<bool()> on_image)
        : plan_(std::move(plan)),
          book_(book),
          by_(by),
          console_(console),
          into_(into),
          on_image_(std::move(on_image)) {}

    // Goes on behind what `into` has. `on_image` is called after each disk that was judged; false
    // ends the audit.
    [[nodiscard]] variant_end run();

  private:
    using done = base::expected<void>;

    done record();
    done open_recording();
    done cut_all();
    done cut_at(std::size_t cut);
    done examine(std::size_t cut, const draw& one);
    done examine_once(std::size_t cut, const draw& one);
    done look_at(std::size_t cut, const draw& one, const std::string& path,
                 const std::string& ledger);
    done build(std::size_t cut, const draw& one, const std::string& path);
    done judge_into(audited_image& image, const std::string& ledger);
    [[nodiscard]] std::vector<std::size_t> cuts() const;
    [[nodiscard]] std::vector<draw> draws_at(std::size_t cut) const;
    [[nodiscard]] bool is_judged(std::size_t cut, std::uint64_t draw) const;
    experiment::run_plan plan_of_run() const;
    experiment::progress progress_of_run() const;
    void show(std::string_view step, std::optional<std::chrono::seconds> left) const;
    done take_left(experiment::run_result& ended);

    variant_plan plan_;
    experiment::journal& book_;
    experiment::supervisor& by_;
    experiment::live_console& console_;
    audited_variant& into_;
    std::function<bool()> on_image_;

    recording recorded_;
    std::optional<write_log> log_;
    std::optional<durable_disk> durable_;
    const disk_image* flushed_ = nullptr;  // all entries up to the last flush before the cut
    std::uint64_t draws_ = 0;              // of the cut
    std::vector<experiment::leftover> left_;

    std::string doing_;  // "cut 3/100"
    std::uint64_t disks_left_ = 0;
    std::uint64_t disks_done_ = 0;
    std::chrono::nanoseconds spent_{};
};

}  // namespace postal::audit
