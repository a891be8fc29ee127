// SPDX-License-Identifier: GPL-3.0-or-later
#include "voice.hpp"

#include <algorithm>

namespace simulation {

using postal::proto::server_stage;

void voice::note(server_stage stage, unsigned code) {
    const said_reply one{code, said_so_far()};
    if (stage == server_stage::mail) {
        truth_.served.push_back({.mail = one});
    } else if (!truth_.served.empty()) {
        served_transaction& last = truth_.served.back();
        if (stage == server_stage::rcpt) last.rcpt.push_back(one);
        if (stage == server_stage::data) last.content = one;
        if (stage == server_stage::rset && code == 421) truth_.goodbye = one;
        if (stage == server_stage::rset && one.negative())
            truth_.deaf_from = std::min(truth_.deaf_from, one.end);
    }
}

void voice::note_ends(std::uint32_t replies, unsigned code, std::size_t said_before) {
    if (truth_.served.empty() || replies == 0) return;
    const std::size_t each = (said_so_far() - said_before) / replies;
    for (std::uint32_t i = 1; i <= replies; ++i)
        truth_.served.back().ends.push_back({code, said_before + i * each});
}

void voice::unsay() {
    if (truth_.served.empty()) return;
    served_transaction& last = truth_.served.back();
    const std::size_t said = sent_ + output_->text.size();
    const auto take_back = [said](said_reply& one) {
        if (one.end > said) one.end = said_reply::never;
    };
    take_back(last.mail);
    take_back(last.content);
    for (said_reply& one : last.rcpt)
        take_back(one);
    for (said_reply& one : last.ends)
        take_back(one);
}

void voice::say_goodbye(const postal::proto::server_reply& last_words) {
    postal::proto::append_reply(output_->text, last_words);
    truth_.goodbye = {last_words.code, sent_ + output_->text.size()};
}

bool voice::flush() {
    if (!output_->text.empty()) {
        heard_.said(output_->text.size());
        if (heard_.has_news()) heard_.sending(line_.may_have_gone(side::server), octets_left());
        liar_.tell(output_->text, unsent_);
        sent_ += output_->text.size();
        output_->text.clear();
    }
    while (!unsent_.empty()) {
        const std::size_t left = line_.write(side::server, unsent_);
        if (left == 0) break;
        unsent_.erase(0, left);
    }
    return unsent_.empty();
}

}  // namespace simulation
