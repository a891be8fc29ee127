// SPDX-License-Identifier: GPL-3.0-or-later
// One run of one variant, from its setup to its teardown.
//
// In this order: the variant's setup; the storage (locked, guarded, made, mounted); files; the
// server's prepare commands, its start until it lets connections in; flushes of the storage timed;
// caches dropped; all loads at once, while costs are sampled each second; then all of it undone in
// the reverse order: server stopped, storage gone, the variant's teardown.
//
// Runs for an audit, audit/audited_run.hpp, have another disk and another load.
//
// Whatever fails or is interrupted, what had begun is undone, as far as that can be:
// run_result::left says what could not, and the experiment must not go on then. Every step of
// undoing stands in the journal before the step that it undoes begins; processes right behind their
// start.
//
// ${run} of a run afterwards holds NAME.json and NAME.log of each load, costs.json, commands.log,
// and server-N.log; with [load] ledger, mail.ledger and announced.json.
#pragma once

#include "experiment/experiment.hpp"
#include "experiment/journal.hpp"
#include "experiment/plan.hpp"
#include "experiment/supervisor.hpp"
#include "experiment/undo.hpp"

#include "testbed/drop_caches.hpp"
#include "testbed/flush_time.hpp"
#include "testbed/format_guard.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace postal::experiment {

// The step that is under way, and how long it takes still, where that is known.
using progress = std::function<void(std::string_view step, std::optional<std::chrono::seconds>)>;

struct run_plan {
    const experiment& of;
    std::size_t variant = 0;
    std::uint64_t block = 1;
    std::uint64_t position = 1;  // within the block
    std::uint64_t seed = 0;      // of the experiment; all variants of a block get the same loads
    std::string out{};           // absolute; is there
    std::string folder{};        // of this run; absolute, made here
    testbed::existing_data existing =
        testbed::existing_data::keep;  // what is on a device of the experiment's
};

struct load_result {
    std::string name{};
    std::string record{};  // path
    bool operator==(const load_result&) const = default;
};

struct step_time {
    std::string name{};
    double seconds = 0;
};

struct run_result {
    run_end end = run_end::failed;
    std::string reason{};  // empty when it is complete
    std::vector<leftover> left{};
    std::vector<std::string> notes{};
    std::vector<load_result> loads{};  // those that ended well, in the experiment's order
    std::string costs{};               // path; empty: not sampled
    std::string announced{};           // the same; empty: without [load] ledger
    std::string mount{};  // as the kernel has it in /proc/mounts; empty without storage
    std::optional<testbed::flush_time> flush{};
    std::optional<testbed::caches_dropped> caches{};  // empty: not asked for, or not come to
    std::chrono::system_clock::time_point started{};
    std::vector<step_time> steps{};
    // After a power cut.
    std::uint64_t reading_errors = 0;  // of those that read the mail
    std::string check{};               // what the look at the file system complained of
};

// What is in `by`'s place of every_second() is replaced, and gone afterwards.
[[nodiscard]] run_result run_once(const run_plan& plan, journal& book, supervisor& by,
                                  const progress& tell);

// All words of a load program as it is started; `extent` says when it ends.
[[nodiscard]] std::vector<std::string> load_words(const run_plan& plan, std::size_t program,
                                                  std::vector<std::string> words,
                                                  const std::vector<std::string>& extent);
[[nodiscard]] std::vector<std::string> timed(const load& offered, std::size_t program = 0,
                                             const std::string& folder = {});
// The same behind the words of a launcher, which is not told where the suite's programs are: the
// program's path. Fails where there is no such program.
[[nodiscard]] base::expected<std::vector<std::string>> launched(std::vector<std::string> launcher,
                                                                std::vector<std::string> words);

}  // namespace postal::experiment
