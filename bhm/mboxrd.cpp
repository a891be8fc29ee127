// SPDX-License-Identifier: GPL-3.0-or-later
#include "bhm/mboxrd.hpp"

#include <array>
#include <ctime>
#include <utility>

#include <fmt/format.h>

namespace postal::bhm {
namespace {

constexpr std::string_view from = "From ";

}  // namespace

std::string mbox_separator(std::string_view reverse_path,
                           std::chrono::system_clock::time_point when) {
    const std::time_t seconds = std::chrono::system_clock::to_time_t(when);
    std::tm parts{};
    ::gmtime_r(&seconds, &parts);
    std::array<char, 32> date{};
    const std::size_t size =
        std::strftime(date.data(), date.size(), "%a %b %e %H:%M:%S %Y", &parts);
    return fmt::format("{}{} {}\n", from, reverse_path.empty() ? "MAILER-DAEMON" : reverse_path,
                       std::string_view(date.data(), size));
}

// One ">" more in front is the same as one more behind the others, so none of them is held.
void mboxrd_quoter::feed(std::string_view piece, std::string& to) {
    while (!piece.empty()) {
        if (!at_start_) {
            const std::size_t end = piece.find('\n');
            at_start_ = end != std::string_view::npos;
            line_begun_ = !at_start_;
            const std::size_t taken = at_start_ ? end + 1 : piece.size();
            to += piece.substr(0, taken);
            piece.remove_prefix(taken);
        } else if (matched_ == 0 && piece.front() == '>') {
            line_begun_ = true;
            to += '>';
            piece.remove_prefix(1);
        } else if (piece.front() == from[matched_]) {
            line_begun_ = true;
            piece.remove_prefix(1);
            if (++matched_ < from.size()) continue;
            to.append(1, '>').append(from);
            at_start_ = false;
            matched_ = 0;
        } else {
            to += from.substr(0, std::exchange(matched_, 0));
            at_start_ = false;
        }
    }
}

void mboxrd_quoter::finish(std::string& to) {
    to += from.substr(0, std::exchange(matched_, 0));
    to += std::exchange(line_begun_, false) ? "\n\n" : "\n";
    at_start_ = true;
}

}  // namespace postal::bhm
