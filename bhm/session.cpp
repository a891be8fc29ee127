#include "bhm/session.hpp"

#include <utility>

namespace postal::bhm {

boost::asio::awaitable<void> serve_guest(room& here, serve::visitor who) {
    session guest(here, who);
    co_await guest.run();
}

proto::server_reply session::judge_recipient() {
    return here_.of_run.valid.valid(machine().current_path()) ? proto::replies::recipient_ok
                                                              : proto::replies::no_such_user;
}

void session::begin_message() {
    if (here_.of_run.chosen.verify) checker_ = here_.lend_checker();
}

void session::take_content(std::string_view text) {
    if (checker_) checker_->feed(text);
}

// The answers are appended here and counted when they are let go.
void session::end_message() {
    verdict_due found{.octets = machine().message_octets(),
                      .recipients = machine().recipients(),
                      .units = units_begun()};
    if (checker_) {
        found.found = checker_->finish().what;
        here_.take_back(std::move(checker_));
    }
    while (machine().answers_due() != 0) {
        machine().answer_delivery(proto::replies::message_ok, output());
    }
    due_ = found;
}

void session::answers_due_now() {
    if (!due_) return;
    stats::tally& counts = tally();
    counts.messages += due_->units;
    counts.recipients += due_->recipients;
    // over LMTP once for each recipient, as the messages are, so that bytes/messages is a size
    counts.bytes += due_->octets * due_->units;
    if (here_.of_run.chosen.verify) count_integrity();
    units_ended(due_->units);
    answered();
    due_.reset();
}

void session::count_integrity() {
    switch (due_->found) {
        case mail::verdict::verified:
            tally().verified += due_->units;
            break;
        case mail::verdict::foreign:
            tally().foreign += due_->units;
            break;
        case mail::verdict::corrupt:
            tally().corrupt += due_->units;
            tally().errors.add("end", 0, "corrupt", "a message differs from what was sent");
            break;
    }
}

void session::drop_message() {
    due_.reset();
    if (checker_) here_.take_back(std::move(checker_));
}

}  // namespace postal::bhm
