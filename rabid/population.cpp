// SPDX-License-Identifier: GPL-3.0-or-later
#include "rabid/population.hpp"

#include <chrono>
#include <cmath>
#include <numeric>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "base/random.hpp"

namespace postal::rabid {
namespace {

// The same on every host and of every version, for as long as messages are made alike.
constexpr std::string_view population_host = "populate.invalid";
constexpr std::string_view population_version = "populate-1";
constexpr std::uint64_t subject_salt = 0x7375626a65637473;
constexpr std::uint64_t sender_salt = 0x73656e6465727321;
constexpr std::uint64_t account_salt = 0x6163636f756e7473;
constexpr double correspondents = 200;

void append_id(std::string& to, const account_books::owner& whose, std::uint32_t sequence) {
    to += '<';
    mail::append_run(whose.run, to);
    to += fmt::format(".{}.{}@{}>", whose.session, sequence, population_host);
}

// The number of an account in identities. It is another where the account is to have more messages
// or fewer, for then its messages are others.
std::uint64_t session_of(std::string_view address, std::uint64_t messages) {
    return base::mix(mail::account_number(address), messages, account_salt) >> 16U;
}

}  // namespace

base::expected<std::unique_ptr<population>> population::make(population_recipe recipe,
                                                             const accounts& ours,
                                                             const load::run_share& share,
                                                             std::size_t accounts_of_all) {
    std::unique_ptr<population> made(new population(std::move(recipe)));
    const population_recipe& of = made->recipe_;
    made->run_ = of.run();
    const std::vector<std::uint64_t> all = of.messages_of(accounts_of_all);
    made->wanted_of_all_ = std::accumulate(all.begin(), all.end(), std::uint64_t{0});
    std::unordered_map<std::uint64_t, std::size_t> numbers;
    for (std::size_t i = 0; i < ours.size(); ++i) {
        made->messages_of_.push_back(all[share.number(i)]);
        made->wanted_ += made->messages_of_.back();
        const auto [other, fresh] =
            numbers.emplace(session_of(ours.at(i).address, made->messages_of_.back()), i);
        if (!fresh)
            return base::fail(
                "USER-LIST: {} and {} cannot be told apart in identities; leave one out",
                ours.at(other->second).address, ours.at(i).address);
    }
    made->books_.resize(ours.size());
    mail::message_options wanted;
    wanted.seed = of.plan.seed;
    wanted.run = made->run_;
    wanted.host = population_host;
    wanted.version = population_version;
    wanted.sizes = of.sizes;
    wanted.bodies = of.bodies;
    auto messages = mail::message_plan::create(std::move(wanted));
    if (!messages) return messages.error();
    made->messages_ = std::move(*messages);
    return made;
}

account_books& population::books(std::size_t number, const account& whose) {
    std::unique_ptr<account_books>& books = books_[number];
    if (!books)
        books = std::make_unique<account_books>(
            account_books::owner{run_, session_of(whose.address, messages_of_[number])},
            mail::plan_mailbox(recipe_.plan, whose.address, messages_of_[number]),
            recipe_.plan.folders.size());
    return *books;
}

population_maker::population_maker(const population& of) : of_(of), factory_(of.messages()) {}

const mail::message& population_maker::make(const account& whose, const account_books& books,
                                            std::uint32_t sequence) {
    write_subject(books, sequence);
    write_fields(books, sequence);
    const std::string_view to = whose.address;
    base::random_source random(
        base::mix(of_.recipe().plan.seed ^ sender_salt, books.whose().session, sequence));
    const double who = std::floor(std::pow(correspondents, random.uniform()));
    const std::string from = fmt::format("correspondent-{}@example.org", who);
    const std::chrono::sys_seconds date{
        std::chrono::seconds(books.box().messages[sequence].date_s)};
    factory_.make({.session = books.whose().session,
                   .sequence = sequence,
                   .from = from,
                   .recipients = {&to, 1},
                   .now = date,
                   .subject = subject_,
                   .fields = fields_},
                  made_);
    return made_;
}

// That of the thread's first message.
void population_maker::write_subject(const account_books& books, std::uint32_t sequence) {
    const std::uint32_t root = books.box().messages[sequence].root;
    const auto kind = of_.recipe().bodies.has(mail::body_kind::multipart)
                          ? mail::body_kind::multipart
                          : mail::body_kind::ascii;
    const auto chosen = of_.messages()->subjects().choose(
        base::mix(of_.recipe().plan.seed ^ subject_salt, books.whose().session, root), kind);
    subject_ = root == sequence ? "" : "Re:";
    for (std::size_t i = 0; i < chosen.count; ++i) {
        if (!subject_.empty()) subject_ += ' ';
        subject_ += chosen.words[i];
    }
}

// RFC 5322 3.6.4.
void population_maker::write_fields(const account_books& books, std::uint32_t sequence) {
    fields_.clear();
    const mail::planned_message& one = books.box().messages[sequence];
    if (one.parent == mail::no_parent) return;
    fields_ = "In-Reply-To: ";
    append_id(fields_, books.whose(), one.parent);
    fields_ += "\r\nReferences:";
    std::string_view before = " ";
    for (const std::uint32_t each : mail::references_of(books.box(), sequence)) {
        fields_ += std::exchange(before, "\r\n ");
        append_id(fields_, books.whose(), each);
    }
    fields_ += "\r\n";
}

}  // namespace postal::rabid
