// Counting agents' ends. Kinds are few: 256 statuses and 64 signals at the very most. Statuses and
// signals become text in a buffer on the stack. Nothing here fails.
#include "stats/agent_counts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace postal::stats {
namespace {

// "signal -2147483648" fits.
using kind_buffer = std::array<char, 24>;

std::string_view written(kind_buffer& buffer, std::string_view before, int number) {
    auto* const end = fmt::format_to_n(buffer.data(), buffer.size(), "{}{}", before, number).out;
    return {buffer.data(), static_cast<std::size_t>(end - buffer.data())};
}

}  // namespace

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
    kind_buffer buffer{};
    add_end(written(buffer, "", status), used);
}

void agent_counts::add_end_by_signal(int signal, const agent_usage& used) {
    kind_buffer buffer{};
    add_end(written(buffer, "signal ", signal), used);
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
