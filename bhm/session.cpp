// SPDX-License-Identifier: GPL-3.0-or-later
#include "bhm/session.hpp"

#include <algorithm>
#include <chrono>
#include <new>
#include <optional>
#include <utility>

#include "base/release.hpp"
#include "bhm/phases.hpp"
#include "ledger/returned.hpp"

namespace postal::bhm {

namespace {

constexpr std::size_t idle_recipients = 64;  // room for them in an idle session

std::int64_t wall_clock_us() {
    using namespace std::chrono;
    return duration_cast<microseconds>(system_clock::now().time_since_epoch()).count();
}

// Of users with d, r, g (RFC 3463: the mailbox takes no messages, or for another reason).
constexpr proto::server_reply deferred_user{450, "4.2.1", "Deferred on request"};
constexpr proto::server_reply rejected_user{550, "5.2.1", "Rejected on request"};
constexpr proto::server_reply too_many_bounces{452, "4.5.3", "Too many recipients"};
constexpr proto::server_reply greylisted_user{450, "4.2.0", "Greylisted, try again later"};

// By the third column of the user list; `grey` is what its greylist says.
proto::server_reply answer_for(fate what, std::optional<behaviour::grey_verdict> grey) {
    switch (what) {
        case fate::deferred:
            return deferred_user;
        case fate::rejected:
            return rejected_user;
        case fate::greylisted:
            return grey == behaviour::grey_verdict::passes ? proto::replies::recipient_ok
                                                           : greylisted_user;
        case fate::bounced:
        case fate::accepted:
            break;
    }
    return proto::replies::recipient_ok;
}

}  // namespace

void session::greeted(std::string_view name) {
    if (context_.of_run.delivery.store) helo_ = name;
}

proto::server_reply session::judge_sender() {
    const proto::path& who = machine().current_path();
    ++messages_;
    note_sender();
    const auto own =
        conduct_ ? obey(conduct_->at_sender(who, machine().declared_octets(), since_start()))
                 : std::nullopt;
    if (own && !own->positive()) return *own;
    if (context_.of_run.delivery.wanted())
        delivery_ = std::make_unique<final_delivery>(context_, who, number_, messages_);
    return own.value_or(proto::replies::sender_ok);
}

// A rule's reply comes before that of the user list.
proto::server_reply session::judge_recipient() {
    const proto::path& who = machine().current_path();
    const recipient* listed = context_.of_run.valid.find(who);
    const fate what = listed == nullptr ? fate::accepted : listed->what;
    behaviour::decision judged;
    if (conduct_) judged = conduct_->at_recipient(who, listed != nullptr, since_start());
    auto own = obey(judged);
    // Who hears nothing is not refused.
    if (judged.close != proto::cut::no && !own) own = proto::replies::recipient_ok;
    if (!own && what == fate::greylisted) judged.grey = ask_greylist(who);
    proto::server_reply answer = own                 ? *own
                                 : listed != nullptr ? answer_for(what, judged.grey)
                                                     : proto::replies::no_such_user;
    if (answer.positive() && what == fate::bounced && !delivery_->may_bounce_another())
        answer = too_many_bounces;
    note_recipient(judged, answer.code);
    if (answer.positive() && !may_hold_recipient(who)) answer = serve::too_much_in_hand;
    if (!answer.positive()) return answer;
    if (conduct_) conduct_->took_recipient(who);
    if (delivery_) delivery_->add(who, what);
    if (context_.ledger_feed() != nullptr) {
        if (machine().recipients() == 0) recipients_.clear();
        recipients_.push_back(context_.ledger_feed()->row_buffer().address(who.mailbox));
    }
    return answer;
}

// What nobody asks about later is not kept.
bool session::may_hold_recipient(const proto::path& who) {
    constexpr std::size_t around = 256;
    const bool kept = delivery_ || attempts_ || context_.ledger_feed() != nullptr;
    if (machine().recipients() == 0) held_ = share_of_held();
    return !kept || held_.add(around + who.mailbox.size());
}

// Of users with g.
behaviour::grey_verdict session::ask_greylist(const proto::path& recipient) {
    return context_.of_run.delivery.greylists->judge(attempts_->triplet(recipient), since_start());
}

void session::begin_message() {
    if (delivery_ && delivery_->keeps_copy()) {
        delivery_->begin({.client = client_name(),
                          .helo = helo_,
                          .how = {.lmtp = context_.of_run.chosen.dialect == proto::dialect::lmtp,
                                  .extended = machine().extended(),
                                  .utf8 = machine().smtputf8(),
                                  .secure = connection().secure(),
                                  .authenticated = machine().authenticated()}});
    }
    if (context_.of_run.chosen.verify) examination_ = context_.lend_examination();
}

void session::take_content(std::string_view text) {
    if (delivery_ && delivery_->keeps_copy() && !no_room_) no_room_ = !held_.add(text.size());
    if (delivery_ && !no_room_) delivery_->take(text);
    if (!examination_) return;
    if (context_.ledger_feed() != nullptr && !examination_->skipping())
        return examination_->feed(text);
    examination_->check(text);
}

// The answers are appended here and counted when they are let go.
void session::end_message() {
    delayed_reply found{.octets = machine().message_octets(),
                        .recipients = machine().recipients(),
                        .units = units_begun()};
    if (examination_) {
        const mail::check_result result = examination_->finish();
        found.found = result.what;
        count_transit(result);
        if (context_.ledger_feed() != nullptr) describe(result, found);
        context_.take_back(std::move(examination_));
    }
    judge_deliveries(found);
    if (no_room_) refuse_for_want_of_room(found);
    keep_first(found);
    due_ = std::move(found);
    late_ = context_.ledger_feed() != nullptr && !context_.ledger_feed()->keeps_up();
    if (!late_) return answer();
    late_reply_ = std::exchange(due_, {});
    context_.hold(*this);
}

// With --store-sync 250 means that the message is on the disk: what is not there is refused.
void session::keep_first(delayed_reply& found) {
    if (!context_.of_run.chosen.delivery.store.sync || !delivery_ || found.units == 0) return;
    if (!delivery_->keeps_copy() || delivery_->keep_now()) return;
    if (!unanswered_) own_answers_.resize(machine().answers_due());
    for (auto& one : own_answers_) {
        if (one && !one->positive()) continue;
        one = proto::server_reply{452, "4.3.1", "Cannot store the message"};
        found.refusals.push_back(*one);
    }
    found.units = found.recipients = 0;
    recipients_.clear();
}

// More mail than --max-held allows is on its way into the store: this one is for later, whatever
// rules say.
void session::refuse_for_want_of_room(delayed_reply& found) {
    delivery_.reset();
    own_answers_.assign(machine().answers_due(), serve::too_much_in_hand);
    found.refusals.assign(machine().answers_due(), serve::too_much_in_hand);
    found.units = found.recipients = 0;
    recipients_.clear();
    unanswered_ = false;
}

void session::answer() {
    for (std::size_t i = 0; machine().answers_due() != 0; ++i) {
        if (unanswered_ && i == own_answers_.size()) break;
        const bool own = i < own_answers_.size() && own_answers_[i];
        const proto::server_reply said = own ? *own_answers_[i] : proto::replies::message_ok;
        if (attempts_) attempts_->answered(i, said.code);
        machine().answer_delivery(said, output());
    }
    own_answers_.clear();
}

// The ledger has caught up; how long that took is delay enough.
void session::give_answers() {
    due_ = std::exchange(late_reply_, {});
    answer();
    answers_due_now();
}

void session::go_on() {
    late_ = false;
    wake();
}

void session::stop_now() {
    if (!late_) return;
    context_.forget(*this);
    go_on();
}

// What the ledger will say, but for the mailbox.
void session::describe(const mail::check_result& result, delayed_reply& into) const {
    ledger::seen_row& row = into.sighting;
    const bool lmtp = context_.of_run.chosen.dialect == proto::dialect::lmtp;
    row.through = lmtp ? ledger::way::lmtp : ledger::way::smtp;
    row.time_us = static_cast<std::uint64_t>(wall_clock_us());
    examination_->describe(result, row, context_.rebuilder());
    if (row.what != ledger::condition::foreign) return;
    ledger::returned_row when;
    when.time_us = row.time_us;
    when.through = row.through;
    if (const auto report = examination_->returned())
        into.returned = ledger::rows_of(*report, when, context_.ledger_feed()->row_buffer());
}

void session::answers_due_now() {
    if (!due_) return;
    // First, since these may find no memory: then nothing of it is counted as accepted.
    if (delivery_ && due_->units != 0) delivery_->accept();
    delivery_.reset();
    if (context_.ledger_feed() != nullptr) write_sightings();
    stats::tally& counts = tally();
    counts.accepted(due_->units, now());
    counts.recipients += due_->recipients;
    // over LMTP once for each recipient, as the messages are, so that bytes/messages is a size
    counts.bytes += due_->octets * due_->units;
    units_ended(due_->units);
    if (context_.of_run.chosen.verify) count_integrity();
    if (attempts_) attempts_->let_go(since_start());
    if (due_->units != 0) answered(due_->units);
    count_refusals();
    due_.reset();
    held_.give_back();
    no_room_ = false;
}

void session::count_refusals() {
    stats::tally& counts = tally();
    for (const proto::server_reply& one : due_->refusals) {
        ++(one.code < 500 ? counts.deferred : counts.rejected);
        count_refusal(proto::server_stage::end, one);
    }
    units_ended(static_cast<std::uint32_t>(due_->refusals.size()));
}

// From when postal made it. By a clock behind postal's it would come before it was made: that
// counts as 0.
void session::count_transit(const mail::check_result& result) {
    if (result.id == nullptr) return;
    const std::int64_t passed = wall_clock_us() - static_cast<std::int64_t>(result.id->time_us);
    tally().latency[static_cast<std::size_t>(phase::transit)].record(
        std::chrono::microseconds(std::max<std::int64_t>(passed, 0)));
}

void session::count_integrity() {
    using enum mail::integrity;
    stats::tally& counts = tally();
    (due_->found == verified  ? counts.verified
     : due_->found == foreign ? counts.foreign
                              : counts.corrupt) += due_->units;
    if (due_->found != corrupt) return;
    const std::string& detail = due_->sighting.detail;
    counts.errors.add("end", 0, "corrupt",
                      detail.empty() ? "a message differs from what was sent" : detail);
}

// Of several recipients all have their row or none: one for which memory was short is tried again.
void session::write_sightings() {
    const auto twice = [](auto&& write) {
        try {
            write();
        } catch (const std::bad_alloc&) {
            write();
        }
    };
    for (const ledger::address_id mailbox : recipients_) {
        due_->sighting.mailbox = mailbox;
        twice([this] {
            if (client_may_have_gone()) return doubtful_.push_back(due_->sighting);
            context_.ledger_feed()->row_buffer().add(due_->sighting);
        });
    }
    // What a notification says is so, whether its client hears of this or brings it again.
    for (ledger::returned_row& row : due_->returned) {
        if (recipients_.empty()) break;
        row.mailbox = recipients_.front();
        twice([&] { context_.ledger_feed()->row_buffer().add(row); });
    }
    recipients_.clear();
    if (recipients_.capacity() > idle_recipients) base::release(recipients_);
}

void session::doubtful_answers(bool heard) {
    for (ledger::seen_row& row : doubtful_) {
        if (!heard) row.detail += row.detail.empty() ? "not heard" : "; not heard";
        context_.ledger_feed()->row_buffer().add(std::move(row));
    }
    doubtful_.clear();
}

void session::drop_message() {
    own_answers_.clear();
    unanswered_ = no_room_ = false;
    held_.give_back();
    due_.reset();
    late_reply_.reset();
    delivery_.reset();
    if (attempts_) attempts_->drop();
    late_ = false;
    context_.forget(*this);
    if (examination_) context_.take_back(std::move(examination_));
}

}  // namespace postal::bhm
