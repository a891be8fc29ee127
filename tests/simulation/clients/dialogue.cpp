// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>

#include "peers.hpp"

namespace clients {

void dialogue::heard(std::string_view octets) {
    if (mute_) return;
    input_ += octets;
    std::size_t taken = 0;
    while (!mute_) {
        const std::size_t more = take(std::string_view(input_).substr(taken));
        if (more == 0) break;
        taken += more;
    }
    input_.erase(0, taken);
}

manner dialogue::next_manner() {
    const std::size_t which = commands_++;
    const auto found = std::find_if(bad_.begin(), bad_.end(),
                                    [which](const bad_answer& one) { return one.nth == which; });
    late_ = found == bad_.end() ? nanoseconds(0) : found->late;
    return found == bad_.end() ? manner::fine : found->how;
}

bool dialogue::send_answer(manner how) {
    const bool ends = how == manner::silent || how == manner::leaves || how == manner::half;
    mute_ = ends;
    log_.slowest = std::max(log_.slowest, house_.traits.thinks + late_);
    log_.bad_manners = log_.bad_manners || how == manner::garbage;
    if (how == manner::garbage) answer_ = "\x16\x03\x01 what \xff\r\n)) {9\r\n", marks_.clear();
    if (how == manner::half) answer_.resize(answer_.size() / 2);
    if (how == manner::silent || how == manner::leaves) answer_.clear();
    const std::uint64_t before = line_.said();
    line_.say(answer_, house_.traits.thinks + late_);
    for (said one : marks_) {
        if (one.until > answer_.size()) break;
        one.until += before;
        log_.all.push_back(one);
    }
    if (how == manner::half || how == manner::leaves) line_.hang_up();
    begin_answer();
    return !mute_;
}

std::string stuffed(std::string_view text) {
    std::string out;
    out.reserve(text.size() + text.size() / 8);
    while (!text.empty()) {
        if (text.front() == '.') out += '.';
        const std::size_t line = std::min(text.find('\n'), text.size() - 1) + 1;
        out += text.substr(0, line);
        text.remove_prefix(line);
    }
    return out;
}

}  // namespace clients
