// SPDX-License-Identifier: GPL-3.0-or-later
// What /proc and the kernel's clocks say of one process, from files that stay open.
//
// Flow: process_files::open(); read() at each look, which is empty once the process was waited for.
// Its id cannot be another's before that, so what goes by the id is read first and counts only
// where the process was still there afterwards.
//
// Processor time is the kernel's clock of the whole process, in nanoseconds, ended threads
// included; what is not known of the rest is empty. Wake-ups are the voluntary context switches of
// all its threads; of a thread that ended between two looks those up to the first of them are
// known. Memory is PSS, and it and descriptors are looked at only where the look is thorough: the
// kernel walks all pages for it. Three descriptors stay open.
#pragma once

#include "base/file_descriptor.hpp"
#include "os/proc_texts.hpp"
#include "testbed/process_accounts.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>

namespace postal::testbed {

class process_files {
  public:
    // `proc` is a descriptor of /proc. Nothing when it is gone meanwhile, also when another has its
    // id. What else went wrong is put into `problem`, if there is none in it yet.
    [[nodiscard]] static std::optional<process_files> open(int proc, const os::process_stat& found,
                                                           std::optional<std::string>& problem);

    [[nodiscard]] std::optional<process_reading> read(int proc, closeness how);

    [[nodiscard]] const os::process_stat& stat() const noexcept { return stat_; }

  private:
    explicit process_files(os::process_stat found) : stat_(std::move(found)) {}

    std::optional<std::uint64_t> wakeups(int proc);

    os::process_stat stat_;  // as last read
    base::file_descriptor stat_file_;
    base::file_descriptor io_file_;
    base::file_descriptor status_file_;
    std::unordered_map<pid_t, std::uint64_t> threads_;  // of a process that ever had several
    std::uint64_t ended_threads_ = 0;
};

// The file of a process, from a descriptor of /proc; none when it is gone, or may not be seen.
[[nodiscard]] base::file_descriptor open_process_file(int proc, const std::string& path,
                                                      std::optional<std::string>& problem);
[[nodiscard]] std::optional<os::process_stat> stat_of_process(int proc, pid_t pid,
                                                              std::optional<std::string>& problem);

}  // namespace postal::testbed
