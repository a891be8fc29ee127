// SPDX-License-Identifier: GPL-3.0-or-later
// Moves what stands in a ledger's log into its file, beside the thread that writes the log.
//
// Only this waits for the disk (fsync may take seconds), so that rows reach the log in time
// whatever the disk does. SQLite's "passive" checkpoints never wait for a writer or a reader, nor
// they for one: https://sqlite.org/wal.html, "checkpointing". But while writers are busy they never
// come to the end of the log, which grows then; so when it has become large, what little a passive
// one has left is moved while writers wait, and the log is emptied. That is given up for the moment
// when it cannot begin within 200 ms (somebody reads the ledger in one transaction): as long as
// that lasts the log grows. What fails here is tried again, and at the latest the last one who
// closes the ledger does it.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "base/result.hpp"
#include "ledger/database.hpp"

namespace postal::ledger {

class checkpointer {
  public:
    static constexpr int large_pages = 16'384;  // of 4 KiB

    // Of a ledger that is open already; the log is large above so many pages.
    static base::expected<std::unique_ptr<checkpointer>> open(const std::string& path,
                                                              int large = large_pages);
    // To be ended after the writer, so that the last checkpoint is this one's.
    ~checkpointer();
    checkpointer(const checkpointer&) = delete;
    checkpointer& operator=(const checkpointer&) = delete;

  private:
    checkpointer(database file, int large);
    void work();

    database file_;
    int large_;
    std::mutex mutex_;  // guards what follows
    std::condition_variable changed_;
    bool closing_ = false;
    std::thread thread_;
};

}  // namespace postal::ledger
