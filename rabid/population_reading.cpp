// SPDX-License-Identifier: GPL-3.0-or-later
// What population_visit does when all is filled: folders are read back, and what is there is held
// against what they were made to hold.
#include <algorithm>
#include <chrono>
#include <span>

#include <fmt/format.h>

#include "base/units.hpp"
#include "rabid/flag_check.hpp"
#include "rabid/population_visit.hpp"

namespace postal::rabid {
namespace {

constexpr std::size_t read_at_once = 1000;  // messages
constexpr std::size_t most_named = 10;      // messages of a folder, by their numbers
constexpr std::uint64_t second_us = 1'000'000;

// What the reading of a folder has brought of each message, by its number.
struct read_message {
    found_identity id{};  // as it was listed, or stands in the message itself
    bool chosen = false;  // to be read whole
    bool came = false;
    bool intact = true;
};

}  // namespace

// A folder counts once, when all of it was read; a visit that breaks off later has counted it.
asio::awaitable<bool> population_visit::read_all() {
    for (std::size_t i = 0; i < all_.recipe().plan.folders.size(); ++i) {
        if (books_.closed(i)) continue;
        const bool fine = co_await read_back(i);
        if (!fine) co_return false;
    }
    co_return true;
}

asio::awaitable<bool> population_visit::read_back(std::size_t folder) {
    const std::uint32_t validity = dialogue_.mailbox().uid_validity();
    const bool alone = all_.recipe().plan.folders.size() == 1;
    visit_.messages.close({visit_.connection.first_problem(), visit_.stopping()});
    visit_.messages.open(visit_.who, ledger::way::imap,
                         static_cast<std::uint32_t>(visit_.appends.session),
                         ledger_name_of(folder));
    visit_.messages.notes().listing();
    examiner::findings held;
    visit_.messages.hold(&held);
    const look_at reading = [&] {
        held = {};
        return read_messages();
    };
    const taken had = co_await survey(folder, reading);
    visit_.messages.hold(nullptr);
    reader_.tell({});
    if (had != taken::yes) co_return had == taken::no;
    if (alone && validity != 0 && dialogue_.mailbox().uid_validity() != validity)
        visit_.connection.refused(stage::check, "uid_validity",
                                  "the mailbox was made anew while it was filled");
    const folder_state found = books_.end();
    books_.close(folder);
    count(held);
    tell(folder, found);
    co_await note_present(folder, found);
    co_return true;
}

// Of the mailbox that is selected: all, or the share that is to be read whole; of the others the
// identity. A message that was chosen and does not come is missing, and one that comes as another
// than it was listed as, is changed.
asio::awaitable<population_visit::taken> population_visit::read_messages() {
    const double share = all_.recipe().verify;
    const bool all_whole = share >= 1;
    const std::uint32_t there = dialogue_.mailbox().exists();
    visit_.messages.notes().listed(there);
    if (!all_whole) visit_.messages.notes().left_out(ledger::verified_no_more);
    sizes_.clear();
    std::vector<read_message> messages(there);
    std::vector<std::uint32_t> chosen;
    for (std::uint32_t number = 1; number <= there; ++number) {
        messages[number - 1].chosen = all_whole || visit_.random.uniform() < share;
        if (messages[number - 1].chosen) chosen.push_back(number);
    }
    const flag_check flags(all_.recipe().plan, dialogue_.told().permanent_flags);
    if (!all_whole) {
        const listed_listener note_one = [&](const listed_message& one,
                                             const identity_reader& beside) {
            read_message& into = messages[one.number - 1];
            into.id = identity_of(one);
            into.intact = as_made(into.id, flags, beside);
        };
        const taken listed = co_await list_identities(note_one);
        if (listed != taken::yes) co_return listed;
    }
    identity_reader beside;  // what is said beside the message
    reader_.begin_reading(there);
    reader_.tell([&](const message_key& key, examination_result what) {
        const std::uint32_t number = dialogue_.mailbox().fetched();
        if (number == 0 || number > there) return;
        read_message& into = messages[number - 1];
        if (!into.chosen || into.came) return;
        into.came = true;
        const found_identity id{key.run, key.session, key.sequence};
        if (all_whole) into.id = id;
        into.intact =
            what == examination_result::verified && id == into.id && as_made(id, flags, beside);
    });
    std::span<const std::uint32_t> left = chosen;
    while (!left.empty()) {
        std::string set;
        const std::size_t most = std::min(left.size(), read_at_once);
        left = left.subspan(proto::append_imap_set(set, left.first(most)));
        reader_.begin(std::chrono::steady_clock::now());
        const imap_tag tag = dialogue_.commands().fetch(dialogue_.out(), imap_verb::fetch, set,
                                                        "(UID FLAGS INTERNALDATE BODY.PEEK[])");
        const bool fine = co_await dialogue_.command(stage::retrieve, tag,
                                                     {.reader = &reader_, .identities = &beside});
        if (visit_.connection.broken() || visit_.stopping()) co_return taken::broken;
        if (!fine || !undisturbed(there)) co_return taken::no;
    }
    visit_.messages.notes().looked_at(reader_.came(), there);
    for (const read_message& one : messages)
        if (one.came || !one.chosen) books_.found(one.id, one.intact);
    co_return taken::yes;
}

// With the flags and the date that were given with it; of others nobody knows.
bool population_visit::as_made(const found_identity& id, const flag_check& flags,
                               const identity_reader& beside) const {
    if (!books_.ours(id)) return true;
    const mail::planned_message& planned = books_.box().messages[id.sequence];
    return beside.arrived_us() == static_cast<std::uint64_t>(planned.date_s) * second_us &&
           flags.same(planned.flags, beside.flags());
}

void population_visit::count(const examiner::findings& held) {
    stats::tally& counts = visit_.context.shared.counts();
    counts.verified += held.counts.verified;
    counts.corrupt += held.counts.corrupt;
    counts.foreign += held.counts.foreign;
    counts.original += held.counts.original;
    for (stats::error_entry one : held.errors.entries()) {
        // The first of a kind is told to those who listen.
        counts.errors.add(one.stage, one.code, one.detail, one.sample);
        if (--one.count > 0) counts.errors.add(one);
    }
}

void population_visit::tell(std::size_t folder, const folder_state& found) {
    stats::tally& counts = visit_.context.shared.counts();
    counts.confirmed += found.there - found.changed.size();
    counts.present += found.fresh.size();
    counts.missing += found.gone.size();
    counts.changed += found.changed.size();
    counts.duplicate += found.surplus;
    counts.misplaced += found.misplaced;
    counts.others += found.others;
    const auto say = [&](base::error_name reason, std::uint64_t how_many, std::string_view what) {
        if (how_many == 0) return;
        visit_.connection.refused(
            stage::check, reason,
            fmt::format("{} {} in {} of {}", base::format_amount(how_many, "message"), what,
                        name_of(folder), visit_.who.address));
    };
    say("surplus", found.surplus, "more than once");
    say("misplaced", found.misplaced, "of other folders");
    tell_numbers(folder, "missing", "not found in", found.gone);
    tell_numbers(folder, "changed", "without the content, flags and date of their making in",
                 found.changed);
}

void population_visit::tell_numbers(std::size_t folder, base::error_name reason,
                                    std::string_view what, std::span<const std::uint32_t> which) {
    if (which.empty()) return;
    std::string numbers;
    for (std::size_t i = 0; i < std::min(which.size(), most_named); ++i)
        numbers += fmt::format("{}{}", i == 0 ? "" : ", ", which[i]);
    visit_.connection.refused(
        stage::check, reason,
        fmt::format("{} {} {} of {}: {} {}{}", base::format_amount(which.size(), "message"), what,
                    name_of(folder), visit_.who.address, which.size() == 1 ? "number" : "numbers",
                    numbers, which.size() > most_named ? " and more" : ""));
}

}  // namespace postal::rabid
