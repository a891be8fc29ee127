// SPDX-License-Identifier: GPL-3.0-or-later
#include "serve/client_input.hpp"

#include <algorithm>
#include <functional>
#include <utility>

#include "base/text.hpp"

namespace postal::serve {
namespace {

// Octets that are read at once at a rate: those of a fifth of a second, and never nothing.
std::size_t room_for(std::uint64_t rate, std::size_t most) {
    return static_cast<std::size_t>(std::clamp<std::uint64_t>(rate / 5, 1, most));
}

}  // namespace

void client_input::keep() {
    const auto begins = [](std::string_view first, std::string_view then) {
        return std::less_equal<>()(first.data(), then.data());
    };
    const std::string_view behind(kept_.data() + kept_.size(), 0);
    if (begins(kept_, left_) && begins(left_, behind)) return;  // there already
    std::string kept(left_);
    kept_.swap(kept);
    left_ = kept_;
}

net::read_result client_input::read(net::connection& from) {
    const net::read_result got =
        from.read_ready(slow() ? room_.first(room_for(rate_, room_.size())) : room_);
    // What came before a rate was set was read as it came.
    read_at_once_ = slow() ? got.size : 0;
    left_ = {room_.data(), got.size};
    return got;
}

std::chrono::nanoseconds client_input::take_time() noexcept {
    if (read_at_once_ == 0) return {};
    const std::chrono::duration<double> seconds(
        static_cast<double>(std::exchange(read_at_once_, 0)) / static_cast<double>(rate_));
    return std::chrono::duration_cast<std::chrono::nanoseconds>(seconds);
}

bool client_input::ends_in_quit(net::connection& from) {
    static constexpr std::string_view quit = "\nQUIT\r\n";
    const auto end_of = [](std::string_view text) {
        return text.substr(text.size() - std::min(text.size(), quit.size()));
    };
    const std::size_t unread = from.peek(room_);
    if (unread == room_.size()) return false;
    std::string said = "\n";
    said.append(end_of(left_)).append(end_of({room_.data(), unread}));
    return base::iequals(end_of(said), quit);
}

// A command stands in the transcript when it is whole, so that what AUTH must hide can be seen.
void client_input::write_down(std::string_view taken, kind what,
                              const proto::smtp_server& machine) {
    constexpr std::size_t longest_shown = 4096;
    if (what == kind::content) return transcript_->received_data(taken);
    half_secret_ = half_secret_ || what == kind::secrets;
    half_line_.append(taken.substr(0, longest_shown));
    if (machine.in_line()) return half_line_.resize(std::min(half_line_.size(), longest_shown));
    const std::string line = std::exchange(half_line_, {});
    const bool secret = std::exchange(half_secret_, false);
    transcript_->received(secret ? "***" : proto::without_secret(line));
}

}  // namespace postal::serve
