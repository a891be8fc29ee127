// SPDX-License-Identifier: GPL-3.0-or-later
#include "stats/agent_counts.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace postal::stats {

void agent_counts::add_not_started() {
    exits_.add(not_started_end);
}

void agent_counts::add_end(std::string_view kind, const agent_usage& used) {
    ++ended_;
    used_.user += used.user;
    used_.system += used.system;
    used_.max_rss_bytes = std::max(used_.max_rss_bytes, used.max_rss_bytes);
    exits_.add(kind);
}

void agent_counts::add_end_with_status(int status, const agent_usage& used) {
    add_end(fmt::format("{}", status), used);  // short enough to need no memory
}

void agent_counts::add_end_by_signal(int signal, const agent_usage& used) {
    add_end(fmt::format("signal {}", signal), used);
}

void agent_counts::merge(const agent_counts& other) {
    started_ += other.started_;
    ended_ += other.ended_;
    used_.user += other.used_.user;
    used_.system += other.used_.system;
    used_.max_rss_bytes = std::max(used_.max_rss_bytes, other.used_.max_rss_bytes);
    exits_.merge(other.exits_);
}

void agent_counts::clear() noexcept {
    started_ = 0;
    ended_ = 0;
    used_ = {};
    exits_.clear();
}

std::uint64_t agent_counts::running() const noexcept {
    return started_ - std::min(started_, ended_);
}

bool agent_counts::empty() const noexcept {
    return started_ == 0 && ended_ == 0 && exits_.empty();
}

}  // namespace postal::stats
