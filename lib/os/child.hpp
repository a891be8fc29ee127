// SPDX-License-Identifier: GPL-3.0-or-later
// Children: programs started at a cost that does not grow with this process, and their ends.
//
// Flow: prepare_for_children() in main; spawner::create() for each thread, before sessions exist;
// start(); wait until pidfd is readable; signal_group() if need be; reap(); close pidfd.
//
// A child shares this process's memory until it runs its program (clone with CLONE_VM and
// CLONE_FILES), so no page table and no descriptor table is copied: only the descriptors up to the
// spawner's two slots, low numbers that are reserved when it is created. The child gets descriptors
// 0, 1 and 2 and no other, default signals, an empty signal mask, a process group of its own and no
// controlling terminal. The calling thread waits until the program runs or could not be run;
// other threads go on. It waits for 5 seconds at most, and less for a child that another user has
// stopped on the way, which he can once it has become his: then the child is killed.
//
// Fails with one line that names the step: "cannot run /x/y: No such file or directory".
//
// Limits: Linux 5.9 (close_range), 64 bit. Descriptors below the slots that are not close-on-exec
// are of no danger: the child closes them. A start as another user makes this process not dumpable
// for good, as the kernel protects the memory that it shares with the child for a moment. Who is
// root without CAP_KILL cannot kill a child that was stopped on its way (check_may_become()).
#pragma once

#include "base/file_descriptor.hpp"
#include "base/result.hpp"
#include "os/limits.hpp"
#include "os/system_user.hpp"

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace postal::os {

// Everything is read during start() only, and stays the caller's.
struct child_plan {
    const char* program = nullptr;        // a path; PATH is not searched
    char* const* argv = nullptr;          // ends in a null pointer
    char* const* environment = nullptr;   // the whole of it; ends in a null pointer
    int input = -1;                       // becomes descriptor 0
    int output = -1;                      // becomes descriptors 1 and 2
    const char* directory = nullptr;      // entered as run_as; null: this process's own
    const system_user* run_as = nullptr;  // dropped to for good; null: as this process
    std::span<const limit> limits;
    std::optional<mode_t> file_mask;  // umask(2); none: as this process
    bool ends_with_parent = false;    // gets SIGTERM when the thread that started it ends, however
    // Called with its number before its program runs, with all signals blocked: to write down that
    // it is there. The program does not run when this fails, which then is start()'s failure, nor
    // when this process is killed meanwhile. Empty: it runs at once.
    std::function<base::expected<void>(pid_t)> before_it_runs{};
};

struct child {
    pid_t pid = -1;
    int pidfd = -1;  // close-on-exec; readable once the child ended; the caller closes it
};

// How a child ended and what it used. Linux hands on the peak of the memory of the process that
// started it (ru_maxrss is kept by exec), so max_rss_bytes is at least about the starter's own.
struct child_end {
    bool signalled = false;
    int status_or_signal = 0;
    std::chrono::nanoseconds user{};
    std::chrono::nanoseconds system{};
    std::uint64_t max_rss_bytes = 0;
};

// Descriptors 0 to 2 are open afterwards (those that were not, on /dev/null), so that no session
// gets their numbers, and an inherited disregard of SIGCHLD is ended, which would make the kernel
// throw away how children end. Call it first in main.
[[nodiscard]] base::expected<void> prepare_for_children();

// Starts children for one thread; others have their own.
class spawner {
  public:
    // Reserves the slots, so create all of them before there are sessions; signals that are ignored
    // or caught by then are reset in children. Fails when the kernel lacks close_range.
    [[nodiscard]] static base::expected<spawner> create();

    spawner(spawner&&) noexcept = default;
    spawner& operator=(spawner&&) = delete;
    ~spawner();

    // Never returns a child that could not run its program. Returns after little more than 5
    // seconds, whatever happens.
    [[nodiscard]] base::expected<child> start(const child_plan& plan);

  private:
    // What a child stands on until it runs its program.
    class ground {
      public:
        [[nodiscard]] static base::expected<ground> make();
        ground() = default;
        ground(ground&& other) noexcept : mapping_(std::exchange(other.mapping_, nullptr)) {}
        ground& operator=(ground&& other) noexcept {
            std::swap(mapping_, other.mapping_);
            return *this;
        }
        ~ground();

        [[nodiscard]] bool is_there() const noexcept { return mapping_ != nullptr; }
        // The highest address of the stack.
        [[nodiscard]] char* stack() const noexcept;
        // Two words above it: one that the kernel clears when the child has left our memory, and
        // the answer to a child that asks whether it may run.
        [[nodiscard]] std::uint32_t* departed() const noexcept;
        [[nodiscard]] std::uint32_t* permission() const noexcept;
        // Never given back: somebody may still stand on it.
        void forget() noexcept { mapping_ = nullptr; }

      private:
        char* mapping_ = nullptr;  // a page that guards, the stack, the words
    };
    // Killed before it ran its program, and not gone yet.
    struct leftover {
        ground under;
        child which;
    };

    spawner() = default;

    [[nodiscard]] base::expected<void> reserve();
    void clear_away(child which);
    void reap_leftovers();

    ground ground_;
    std::vector<leftover> leftovers_;
    base::file_descriptor terminal_;  // ours, where there is one
    bool unknown_terminal_ = false;   // perhaps there is one
    base::file_descriptor null_;
    base::file_descriptor input_slot_;
    base::file_descriptor output_slot_;
    uid_t user_ = 0;
    std::vector<int> signals_;  // those that are not at their default
};

// Empty while it runs; asks without waiting. A child that somebody else has reaped ended by signal
// 0, which is never a success.
[[nodiscard]] std::optional<child_end> reap(const child& started);

// Whether it stands still, by SIGSTOP or the like; asks without waiting.
[[nodiscard]] bool is_stopped(const child& started) noexcept;

// To all of the child's process group, and to the child where it has left that, until it is reaped.
// False when none was left to signal, or none may be.
bool signal_group(const child& started, int signal) noexcept;

}  // namespace postal::os
