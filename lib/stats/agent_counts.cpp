// Counting agents' ends: a short list, scanned, with the place of the previous hit tried first.
//
// Kinds are few (256 statuses and 64 signals at the very most), so a scan beats a map. Statuses and
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

agent_exit& agent_counts::exit_of(std::string_view kind) {
    if (last_ < exits_.size() && exits_[last_].kind == kind) return exits_[last_];
    for (last_ = 0; last_ < exits_.size(); ++last_) {
        if (exits_[last_].kind == kind) return exits_[last_];
    }
    return exits_.emplace_back(agent_exit{std::string(kind), 0});
}

void agent_counts::add_not_started() {
    ++exit_of(not_started_end).count;
}

void agent_counts::add_end(std::string_view kind, const agent_usage& used) {
    ++ended_;
    used_.user += used.user;
    used_.system += used.system;
    used_.max_rss_bytes = std::max(used_.max_rss_bytes, used.max_rss_bytes);
    ++exit_of(kind).count;
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
    for (const auto& theirs : other.exits_) {
        if (theirs.count > 0) exit_of(theirs.kind).count += theirs.count;
    }
}

void agent_counts::clear() noexcept {
    started_ = 0;
    ended_ = 0;
    used_ = {};
    for (auto& one : exits_)
        one.count = 0;
}

std::uint64_t agent_counts::running() const noexcept {
    return started_ - std::min(started_, ended_);
}

std::vector<agent_exit> agent_counts::exits() const {
    std::vector<agent_exit> counted;
    for (const auto& one : exits_) {
        if (one.count > 0) counted.push_back(one);
    }
    std::sort(counted.begin(), counted.end(), [](const auto& a, const auto& b) {
        return a.count != b.count ? a.count > b.count : a.kind < b.kind;
    });
    return counted;
}

bool agent_counts::empty() const noexcept {
    return started_ == 0 && ended_ == 0 &&
           std::all_of(exits_.begin(), exits_.end(),
                       [](const auto& one) { return one.count == 0; });
}

}  // namespace postal::stats
