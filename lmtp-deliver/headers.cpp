#include "lmtp-deliver/headers.hpp"

#include <array>
#include <string_view>

#include <fmt/format.h>

namespace postal::lmtp_deliver {
namespace {

constexpr std::array<std::string_view, 7> days{"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
constexpr std::array<std::string_view, 12> months{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                  "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};

// Where the message came from: "helo ([192.0.2.1])", or no address for a Unix socket.
std::string from_text(const transaction& of) {
    if (of.client == "unix") return of.helo;
    const bool is_ipv6 = of.client.find(':') != std::string::npos;
    return fmt::format("{} ([{}{}])", of.helo, is_ipv6 ? "IPv6:" : "", of.client);
}

}  // namespace

std::string date_text(std::time_t when) {
    std::tm utc{};
    ::gmtime_r(&when, &utc);
    return fmt::format("{}, {} {} {} {:02}:{:02}:{:02} +0000",
                       days[static_cast<std::size_t>(utc.tm_wday)], utc.tm_mday,
                       months[static_cast<std::size_t>(utc.tm_mon)], utc.tm_year + 1900,
                       utc.tm_hour, utc.tm_min, utc.tm_sec);
}

std::string headers(const plan& run, const transaction& of, const mailbox* recipient) {
    const added_headers& wanted = run.chosen.headers;
    std::string text;
    if (wanted.return_path) text += fmt::format("Return-Path: <{}>\r\n", of.reverse_path);
    if (wanted.delivered_to && recipient != nullptr) {
        text += fmt::format("Delivered-To: {}\r\n", recipient->address);
    }
    if (wanted.received) {
        text += fmt::format("Received: from {}\r\n\tby {} with LMTP id {}", from_text(of),
                            run.host_name, of.id);
        if (recipient != nullptr) text += fmt::format("\r\n\tfor <{}>", recipient->address);
        text += fmt::format("; {}\r\n", date_text(std::time(nullptr)));
    }
    return text;
}

}  // namespace postal::lmtp_deliver
