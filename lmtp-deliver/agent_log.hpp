// SPDX-License-Identifier: GPL-3.0-or-later
// The daemon's log: what agents said, and the program's own lines; to standard error or syslog.
//
// A delivery that failed, or whose agent printed something, leaves a line with its id, recipient
// and reply, and then what was printed, made printable, line by line. The same reply with the same
// first line comes once an interval, and at most a thousand different ones do: the interval's error
// counts say how often. Lines are handed to
// a thread of their own through a bounded queue; when nobody reads the log, the oldest are dropped
// and no delivery waits.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "lmtp-deliver/exit_statuses.hpp"

namespace spdlog {
class logger;
}

namespace postal::lmtp_deliver {

enum class log_target : std::uint8_t { standard_error, syslog };

struct agent_report {
    const std::string& id;
    const std::string& recipient;
    const delivery_reply& answer;
    std::string_view printed;
};

// The line and what was printed below it, indented: nothing of it can forge another line.
[[nodiscard]] std::string log_text(const agent_report& what);

class agent_log {
  public:
    explicit agent_log(log_target where);
    agent_log(const agent_log&) = delete;
    agent_log& operator=(const agent_log&) = delete;
    ~agent_log();  // writes what is left

    // From any thread.
    void add(const agent_report& what);
    void say(const std::string& line);
    // Until the next interval.
    void say_once(const std::string& line);
    // What was said once may be said again.
    void next_interval();

  private:
    std::shared_ptr<spdlog::logger> logger_;
    std::mutex mutex_;  // guards what follows
    std::set<std::string> said_;
};

}  // namespace postal::lmtp_deliver
