// SPDX-License-Identifier: GPL-3.0-or-later
#include "lmtp-deliver/agent_log.hpp"

#include <chrono>

#include <unistd.h>

#include <spdlog/async.h>
#include <spdlog/details/null_mutex.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/sinks/syslog_sink.h>
#include <spdlog/spdlog.h>

#include "base/text.hpp"
#include "os/patient_write.hpp"

namespace postal::lmtp_deliver {
namespace {

constexpr const char* program = "lmtp-deliver";
constexpr std::size_t most_queued_lines = 1024;  // lines
constexpr std::size_t most_agents_remembered = 1000;
constexpr std::size_t longest_line = 1000;

// Standard error, for which nothing waits long: once nobody read it for a second, lines are dropped
// until somebody does.
class error_sink final : public spdlog::sinks::base_sink<spdlog::details::null_mutex> {
  private:
    void sink_it_(const spdlog::details::log_msg& message) override {
        spdlog::memory_buf_t line;
        formatter_->format(message, line);
        const auto patience = std::chrono::milliseconds(read_ ? 1000 : 0);
        read_ = os::write_patiently(STDERR_FILENO, {line.data(), line.size()}, patience);
    }
    void flush_() override {}

    bool read_ = true;
};

spdlog::sink_ptr make_sink(log_target where) {
    if (where == log_target::syslog) {
        return std::make_shared<spdlog::sinks::syslog_sink_mt>(program, LOG_PID, LOG_MAIL, false);
    }
    auto sink = std::make_shared<error_sink>();
    sink->set_pattern("lmtp-deliver: %v");
    return sink;
}

std::string reply_text(const delivery_reply& one) {
    return fmt::format("{} {} {}", one.code, one.enhanced, one.text);
}

}  // namespace

std::string log_text(const agent_report& what) {
    std::string text =
        fmt::format("{}: to=<{}>: {}", what.id, base::printable(what.recipient, longest_line),
                    reply_text(what.answer));
    std::string_view rest = what.printed;
    while (!rest.empty()) {
        const std::size_t end = rest.find('\n');
        text += "\n    " + base::printable(rest.substr(0, end), longest_line);
        rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    }
    return text;
}

agent_log::agent_log(log_target where) {
    spdlog::init_thread_pool(most_queued_lines, 1);
    logger_ =
        std::make_shared<spdlog::async_logger>(program, make_sink(where), spdlog::thread_pool(),
                                               spdlog::async_overflow_policy::overrun_oldest);
    logger_->set_level(spdlog::level::info);
    logger_->flush_on(spdlog::level::info);
}

agent_log::~agent_log() {
    logger_.reset();
    spdlog::shutdown();
}

void agent_log::add(const agent_report& what) {
    {
        const std::scoped_lock lock(mutex_);
        if (said_.size() >= most_agents_remembered || !said_.insert(reply_text(what.answer)).second)
            return;
    }
    logger_->log(what.answer.code < 400 ? spdlog::level::info : spdlog::level::warn,
                 log_text(what));
}

void agent_log::say(const std::string& line) {
    logger_->info(line);
}

void agent_log::say_once(const std::string& line) {
    {
        const std::scoped_lock lock(mutex_);
        if (said_.size() >= most_agents_remembered || !said_.insert(line).second) return;
    }
    logger_->warn(line);
}

void agent_log::next_interval() {
    const std::scoped_lock lock(mutex_);
    said_.clear();
}

}  // namespace postal::lmtp_deliver
