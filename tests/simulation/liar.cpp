// SPDX-License-Identifier: GPL-3.0-or-later
#include "liar.hpp"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "proto/smtp/reply_parser.hpp"

namespace simulation {

namespace {

using postal::proto::reply_parser;

// The first reply, to the end of its last line.
std::string_view first_of(std::string_view replies) {
    for (std::size_t line = 0; line < replies.size();) {
        const std::size_t end = std::min(replies.find('\n', line), replies.size() - 1) + 1;
        if (end - line < 4 || replies[line + 3] != '-') return replies.substr(0, end);
        line = end;
    }
    return replies;
}

}  // namespace

liar::liar(const scenario& of, const line_number& which) {
    std::copy_if(of.lies.begin(), of.lies.end(), std::back_inserter(lies_),
                 [&](const auto& one) { return one.where == which; });
}

void liar::tell(std::string_view replies, std::string& into) {
    if (honest()) {
        into.append(replies);
        return;
    }
    while (!replies.empty()) {
        const std::string_view reply = first_of(replies);
        replies.remove_prefix(reply.size());
        const auto lie = std::find_if(lies_.begin(), lies_.end(),
                                      [this](const auto& one) { return one.nth == told_; });
        ++told_;
        lie == lies_.end() ? void(into.append(reply)) : tell_instead(*lie, reply, into);
    }
}

void liar::tell_instead(const lying_reply& one, std::string_view reply, std::string& into) {
    switch (one.how) {
        case lie::other_code:
            into.append(fmt::format("{} So it is\r\n", one.code));
            break;
        case lie::swallowed:
            break;
        case lie::doubled:
            into.append(reply).append(reply);
            break;
        case lie::garbage:
            into.append("* OK [CAPABILITY IMAP4rev1]\r\n");
            break;
        case lie::endless_line:
            into.append("250 ").append(reply_parser::max_line, 'a').append("\r\n");
            break;
        case lie::endless_reply:
            for (std::size_t line = 0; line <= reply_parser::max_lines; ++line)
                into.append("250-a\r\n");
            break;
        case lie::mixed_codes:
            into.append("250-This\r\n550 or that\r\n");
            break;
    }
}

}  // namespace simulation
