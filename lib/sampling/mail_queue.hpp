// SPDX-License-Identifier: GPL-3.0-or-later
// How many messages wait in a mail server's queue, counted in its folders and without asking the
// server.
//
//   Postfix    files in maildrop, incoming, active, deferred and hold, and in their folders with
//              names of one character (hash_queue_names), four deep at most
//   Exim       files whose names end in -H in input, and in its folders with names of one character
//              (split_spool_directory)
//   OpenSMTPD  folders with names of eight hexadecimal digits in the folders of queue
//   chasquid   files whose names begin with m: in queue
//   Courier    files whose names are C and digits in the folders of msgs
//
// Only names are read, no file is opened. A message that moves while it is counted is counted once,
// twice or not at all: a count is as good as the time that it takes is short.
//
// Fails with one line that names the folder: one that is not there, or may not be read, or one in
// which counting takes longer than it may. A folder that goes while it is read is an empty one.
// Limit: a file system that does not answer holds the caller up.
#pragma once

#include "base/result.hpp"
#include "sampling/choice.hpp"
#include "stats/samples.hpp"

#include <chrono>
#include <string>
#include <vector>

namespace postal::sampling {

class mail_queue {
  public:
    // Finds the directory where none was chosen, and counts once. `name`: what its figures are
    // called, alone that of all that wait.
    [[nodiscard]] static base::expected<mail_queue> open(const queue_choice& chosen,
                                                         std::string name,
                                                         std::chrono::nanoseconds limit);

    // All that wait, and where a server has several queues each of them.
    [[nodiscard]] base::expected<std::vector<stats::sampled_value>> count(
        std::chrono::nanoseconds limit) const;

    [[nodiscard]] const std::string& directory() const noexcept { return directory_; }

    // What count() gives of such a server: the names of its figures, that of all that wait first.
    [[nodiscard]] static std::vector<std::string> figures(queue_kind kind, const std::string& name);

  private:
    mail_queue(queue_kind kind, std::string name, std::string directory)
        : kind_(kind), name_(std::move(name)), directory_(std::move(directory)) {}

    queue_kind kind_;
    std::string name_;
    std::string directory_;
};

}  // namespace postal::sampling
