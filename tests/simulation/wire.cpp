// SPDX-License-Identifier: GPL-3.0-or-later
#include "wire.hpp"

#include <utility>

namespace simulation {

using postal::proto::reply_event;

namespace {

constexpr std::size_t client_reads_at_once = 64 * 1024;

}  // namespace

bool wire::open(const line_number& number, actor& who) {
    const dialled got = house_.dial(number);
    house_.shown.note(number, got.line == nullptr ? "is refused" : "connects");
    line_ = got.line;
    truth_ = got.truth;
    if (line_ == nullptr) return false;
    line_->attach(side::client, who);
    parser_.reset();
    unsaid_.clear();
    be_patient();
    return true;
}

void wire::close() {
    if (line_ != nullptr) line_->close(side::client);
    wait_for_ever();
}

void wire::be_patient() {
    deadline_ = house_.time.now() + house_.of.client_timeout;
}

wire::fault wire::trouble() const {
    if (house_.stopped_now) return fault::stopped;
    if (line_->is_reset(side::client)) return fault::reset;
    if (line_->has_ended(side::client)) return fault::closed;
    return house_.time.now() >= deadline_ ? fault::timeout : fault::none;
}

void wire::say(std::string_view command) {
    unsaid_ = command;
    first_line_ = true;
    be_patient();
}

wire::answer wire::read_reply(postal::proto::capabilities* greeting) {
    while (!unsaid_.empty()) {
        const std::size_t left = line_->write(side::client, unsaid_);
        // What answers a command before it has left is heard behind it.
        if (left == 0) return trouble() == fault::none ? answer::nothing_yet : answer::failed;
        unsaid_.erase(0, left);
    }
    for (;;) {
        std::string_view heard = read();
        if (heard.empty()) return trouble() == fault::none ? answer::nothing_yet : answer::failed;
        while (!heard.empty()) {
            const reply_event event = parser_.feed(heard);
            if (event == reply_event::malformed) return answer::failed;
            if (event == reply_event::need_more) continue;
            if (greeting != nullptr && !std::exchange(first_line_, false))
                greeting->add(parser_.text());
            if (event == reply_event::line) continue;
            if (!heard.empty()) return answer::failed;
            return parser_.code() >= 400       ? answer::negative
                   : parser_.code() / 100 == 2 ? answer::positive
                                               : answer::failed;
        }
    }
}

std::string_view wire::read() {
    const std::string_view got = line_->read(side::client, client_reads_at_once);
    if (got.empty()) return got;
    truth_->heard.push_back({line_->from(side::server).octets_read(), house_.time.now()});
    house_.shown.octets(line_->number(), "client <-", got);
    return got;
}

std::size_t wire::write(std::string_view octets) {
    const std::size_t left = line_->write(side::client, octets);
    if (left > 0) house_.shown.octets(line_->number(), "client ->", octets.substr(0, left));
    return left;
}

}  // namespace simulation
