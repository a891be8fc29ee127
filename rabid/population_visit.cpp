// SPDX-License-Identifier: GPL-3.0-or-later
#include "rabid/population_visit.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "base/text.hpp"
#include "base/units.hpp"
#include "proto/imap/date.hpp"
#include "rabid/folder_names.hpp"
#include "rabid/imap_login.hpp"

namespace postal::rabid {
namespace {

constexpr std::size_t sent_at_once = std::size_t{64} << 10U;
constexpr std::uint32_t listed_at_once = 10'000;
constexpr std::size_t noted_at_once = 1000;
constexpr std::chrono::milliseconds others_turn{1};
constexpr int most_refused = 3;  // one after the other
constexpr int most_surveys = 3;

}  // namespace

population_visit::population_visit(const visit_context& who, population& all)
    : visit_(who),
      all_(all),
      books_(all.books(who.at.account, who.who)),
      dialogue_(who.connection),
      reader_(who.context, who.messages, who.random) {}

asio::awaitable<bool> population_visit::run() {
    visit_.connection.set_fruitless(books_.fruitless());
    bool fine = co_await begin();
    visit_.connection.set_hurried(false);
    bool done = fine && !names_differ();
    if (fine && !done) {
        fine = co_await fill_all();
        filled_ = fine && !visit_.stopping();
        if (filled_) done = co_await read_all();
    }
    if (!visit_.connection.broken()) {
        visit_.connection.set_hurried(true);
        const auto logout = dialogue_.commands().plain(dialogue_.out(), imap_verb::logout);
        co_await dialogue_.command(stage::quit, logout);
    }
    dialogue_.finish();
    co_return done;
}

asio::awaitable<bool> population_visit::begin() {
    bool fine = co_await dialogue_.greet();
    if (fine && visit_.connection.tls().in_dialogue()) fine = co_await dialogue_.start_tls();
    if (fine) fine = co_await log_in(dialogue_, visit_);
    if (!fine) co_return false;
    // What is offered before the login may be less.
    const auto ask = dialogue_.commands().plain(dialogue_.out(), imap_verb::capability);
    fine = co_await dialogue_.command(stage::login, ask);
    if (!fine) co_return false;
    dialogue_.commands().literals(proto::imap_literals_of(dialogue_.offered()));
    const proto::imap_capabilities& offered = dialogue_.offered();
    const bool spaces =
        offered.has(imap_capability::name_space) || offered.has(imap_capability::imap4rev2);
    imap_tag tag = spaces ? dialogue_.commands().plain(dialogue_.out(), imap_verb::name_space)
                          : dialogue_.commands().list(dialogue_.out(), "", "");
    co_await dialogue_.command(stage::list, tag);
    if (spaces && dialogue_.told().delimiter == 0 && !visit_.connection.broken()) {
        tag = dialogue_.commands().list(dialogue_.out(), "", "");
        co_await dialogue_.command(stage::list, tag);
    }
    co_return !visit_.connection.broken();
}

// Two folders in one mailbox would each be filled, and neither be what it is to be.
bool population_visit::names_differ() {
    const std::vector<std::string>& folders = all_.recipe().plan.folders;
    std::map<std::string, std::size_t> known;
    for (std::size_t i = 0; i < folders.size(); ++i) {
        const auto [other, fresh] = known.emplace(name_of(i), i);
        if (fresh) continue;
        visit_.connection.refused(
            stage::check, "names",
            fmt::format("folders {} and {} of {} would both be mailbox {} here; give others",
                        folders[other->second], folders[i], visit_.who.address, other->first));
        return false;
    }
    return true;
}

std::string population_visit::name_of(std::size_t folder) const {
    const imap_untagged& told = dialogue_.told();
    return mailbox_name(all_.recipe().plan.folders[folder], told.prefix, told.delimiter);
}

std::string population_visit::ledger_name_of(std::size_t folder) const {
    const std::string& plain = all_.recipe().plan.folders[folder];
    return plain == "INBOX" ? std::string() : "/" + plain;
}

// ---- filling ----

asio::awaitable<bool> population_visit::fill_all() {
    for (std::size_t i = 0; i < all_.recipe().plan.folders.size(); ++i) {
        if (visit_.stopping()) co_return true;
        if (books_.closed(i)) continue;
        const bool fine = co_await look(i);
        if (!fine) co_return false;
    }
    co_return true;
}

// Makes it where it is to be filled, and selects it.
asio::awaitable<population_visit::taken> population_visit::open(std::size_t folder) {
    const std::string name = name_of(folder);
    if (name != "INBOX" && !filled_) {
        const imap_tag create = dialogue_.commands().create(dialogue_.out(), name);
        co_await dialogue_.command(stage::command, create, {.refusal = imap_refusal::expected});
        if (visit_.connection.broken()) co_return taken::broken;
    }
    const load::steady_time begun = visit_.connection.now();
    const bool fine = co_await dialogue_.select(name, {});
    visit_.connection.took(phase::list, visit_.connection.now() - begun);
    if (fine) co_return taken::yes;
    co_return visit_.connection.broken() ? taken::broken : taken::no;
}

// Selects it, and has what lies in it looked at, from the beginning again where that does not hold
// together. No: it cannot be had, and the run does without it.
asio::awaitable<population_visit::taken> population_visit::survey(std::size_t folder,
                                                                  const look_at& look) {
    for (int i = 0; i < most_surveys; ++i) {
        taken had = co_await open(folder);
        if (had == taken::no) {
            books_.close(folder);
            co_return taken::no;
        }
        books_.begin(folder);
        if (had == taken::yes) had = co_await look();
        if (had != taken::no) co_return visit_.stopping() ? taken::broken : had;
    }
    visit_.connection.refused(
        stage::list, "incomplete",
        fmt::format("{} of {} is left alone: the server did not say what each message in it is",
                    name_of(folder), visit_.who.address));
    books_.close(folder);
    co_return taken::no;
}

asio::awaitable<bool> population_visit::look(std::size_t folder) {
    may_create_ = true;
    const bool sizes = visit_.context.row_buffer() != nullptr;
    const look_at listing = [&] {
        sizes_.clear();
        return list_identities([this, sizes](const listed_message& one, const identity_reader&) {
            const found_identity id = identity_of(one);
            books_.found(id, true);
            if (sizes && id.run != 0 && one.octets != 0)
                sizes_.emplace_back(static_cast<std::uint32_t>(id.sequence), one.octets);
        });
    };
    const taken had = co_await survey(folder, listing);
    if (had != taken::yes) co_return had == taken::no;
    const folder_state found = books_.end();
    stats::tally& counts = visit_.context.shared.counts();
    counts.present += found.fresh.size();
    if (!found.gone.empty()) {
        counts.append_lost += found.gone.size();
        visit_.connection.refused(
            stage::check, "gone",
            fmt::format("{} of {}, seen there or acknowledged before, gone from {}",
                        base::format_amount(found.gone.size(), "message"), visit_.who.address,
                        name_of(folder)));
    }
    co_await note_present(folder, found);
    if (given_up_) co_return true;
    co_return co_await fill(folder, found.missing);
}

// Run 0 for what is none of this account's.
found_identity population_visit::identity_of(const listed_message& one) const {
    if (one.id == nullptr) return {};
    const found_identity id{one.id->run, one.id->session, one.id->sequence};
    return books_.ours(id) ? id : found_identity{};
}

// Of the mailbox that is selected, some thousand at a time. No: it is not known what each is.
asio::awaitable<population_visit::taken> population_visit::list_identities(listed_listener who) {
    identity_reader* told = nullptr;
    identity_reader reader([&](const listed_message& one) { who(one, *told); });
    told = &reader;
    const std::uint32_t there = dialogue_.mailbox().exists();
    for (std::uint64_t first = 1; first <= there; first += listed_at_once) {
        const auto last =
            static_cast<std::uint32_t>(std::min<std::uint64_t>(there, first + listed_at_once - 1));
        reader.expect(static_cast<std::uint32_t>(first), last);
        const imap_tag tag = dialogue_.commands().fetch(
            dialogue_.out(), imap_verb::fetch, fmt::format("{}:{}", first, last), identity_items);
        const bool fine = co_await dialogue_.command(stage::list, tag, {.identities = &reader});
        if (visit_.connection.broken() || visit_.stopping()) co_return taken::broken;
        if (!fine || !reader.complete() || !undisturbed(there)) co_return taken::no;
    }
    co_return taken::yes;
}

// No number has come to mean another message within the last command.
bool population_visit::undisturbed(std::uint32_t there) const noexcept {
    return dialogue_.told().expunged == 0 && dialogue_.mailbox().exists() >= there;
}

asio::awaitable<bool> population_visit::fill(std::size_t folder,
                                             std::vector<std::uint32_t> missing) {
    std::span<const std::uint32_t> left = missing;
    while (!left.empty() && !visit_.stopping() && !given_up_) {
        const taken how = co_await append(folder, left);
        const std::span<const std::uint32_t> batch = left.first(octets_.size());
        left = left.subspan(batch.size());
        if (how == taken::broken) co_return false;
        if (how == taken::yes) continue;
        const bool go_on = co_await append_each(folder, batch);
        if (!go_on) co_return false;
    }
    co_return true;
}

// The command was refused: which of its messages is it about? False: the connection is lost.
asio::awaitable<bool> population_visit::append_each(std::size_t folder,
                                                    std::span<const std::uint32_t> batch) {
    for (std::size_t i = 0; i < batch.size() && !visit_.stopping() && !given_up_; ++i) {
        const auto one = batch.subspan(i, 1);
        // A command of one was said already.
        taken how = batch.size() == 1 ? taken::no : co_await append(folder, one);
        if (how == taken::broken) co_return false;
        if (how == taken::no && dialogue_.code().is == proto::imap_code::try_create &&
            std::exchange(may_create_, false)) {
            const imap_tag create = dialogue_.commands().create(dialogue_.out(), name_of(folder));
            co_await dialogue_.command(stage::command, create);
            if (visit_.connection.broken()) co_return false;
            how = co_await append(folder, one);
            if (how == taken::broken) co_return false;
        }
        if (how == taken::yes) continue;
        settle(folder, one, placed::refused);
        given_up_ = dialogue_.code().is == proto::imap_code::over_quota ||
                    ++refused_in_a_row_ >= most_refused;
    }
    co_return true;
}

// As many of them as fit into one command: so many as octets_ has.
asio::awaitable<population_visit::taken> population_visit::append(
    std::size_t folder, std::span<const std::uint32_t> left) {
    whole_ = false;
    bool fine = co_await say_append(folder, left);
    const bool early =
        !fine && !visit_.connection.broken() && dialogue_.completed() && dialogue_.agreed();
    if (early)
        visit_.connection.give_up(stage::command, "contradiction",
                                  "OK to APPEND before it had asked for all of it");
    if (fine) fine = co_await dialogue_.complete();
    const std::span<const std::uint32_t> batch = left.first(octets_.size());
    if (visit_.connection.broken()) {
        settle(folder, batch, whole_ || early ? placed::in_doubt : placed::unknown);
        co_return taken::broken;
    }
    if (!fine) co_return taken::no;
    settle(folder, batch, placed::acknowledged);
    check_uids(batch.size());
    co_return taken::yes;
}

// False also when the server has answered before all was said.
asio::awaitable<bool> population_visit::say_append(std::size_t folder,
                                                   std::span<const std::uint32_t> left) {
    const bool several = left.size() > 1 && dialogue_.offered().has(imap_capability::multi_append);
    left = left.first(several ? std::min(left.size(), most_messages) : 1);
    octets_.clear();
    proto::imap_output& out = dialogue_.out();
    const imap_tag tag = dialogue_.commands().begin_append(out, name_of(folder));
    const imap_refusal refusal = several ? imap_refusal::expected : imap_refusal::counts;
    if (!dialogue_.begin(stage::command, tag, {.refusal = refusal})) co_return false;
    std::uint64_t room = most_octets;
    for (const std::uint32_t n : left) {
        const mail::planned_message& planned = books_.box().messages[n];
        const mail::message& made = visit_.context.maker().make(visit_.who, books_, n);
        if (made.total_octets() > room && !octets_.empty()) break;
        room -= std::min(room, made.total_octets());
        octets_.push_back(made.total_octets());
        dialogue_.commands().append_message(out,
                                            mail::flags_text(all_.recipe().plan, planned.flags),
                                            proto::imap_date(planned.date_s), made.total_octets());
        if (!out.waits.empty()) {
            // Others of this worker make theirs meanwhile.
            std::string text;
            for (const std::string_view part : made.raw_parts())
                text += part;
            const bool go_on = co_await dialogue_.send_out();
            if (!go_on) co_return false;
            out.text = std::move(text);
        } else {
            for (const std::string_view part : made.raw_parts())
                out.text += part;
        }
        if (out.text.size() < sent_at_once) continue;
        const bool fine = co_await dialogue_.send_out();
        if (!fine) co_return false;
    }
    out.text += "\r\n";
    whole_ = true;
    co_return co_await dialogue_.send_out();
}

void population_visit::settle(std::size_t folder, std::span<const std::uint32_t> batch,
                              placed how) {
    stats::tally& counts = visit_.context.shared.counts();
    if (how == placed::acknowledged) {
        counts.appended += batch.size();
        visit_.connection.set_fruitless(false);
        visit_.context.shared.own.made_progress();
        refused_in_a_row_ = 0;
    }
    if (how == placed::in_doubt) counts.append_in_doubt += batch.size();
    const ledger::outcome outcome = how == placed::acknowledged ? ledger::outcome::accepted
                                    : how == placed::in_doubt   ? ledger::outcome::in_doubt
                                    : how == placed::refused    ? ledger::outcome::rejected
                                                                : ledger::outcome::failed;
    for (std::size_t i = 0; i < batch.size(); ++i) {
        if (how != placed::unknown) books_.settle(batch[i], how);
        note(folder, batch[i], octets_[i], outcome);
    }
}

// What was found is there by the server's word, which has shown it, and said how large it is.
asio::awaitable<void> population_visit::note_present(std::size_t folder,
                                                     const folder_state& found) {
    if (visit_.context.row_buffer() == nullptr) co_return;
    std::sort(sizes_.begin(), sizes_.end());
    std::size_t noted = 0;
    for (const std::uint32_t n : found.fresh) {
        const auto size =
            std::lower_bound(sizes_.begin(), sizes_.end(), std::pair(n, std::uint64_t{0}));
        const bool said = size != sizes_.end() && size->first == n;
        note(
            folder, n,
            said ? size->second : visit_.context.maker().make(visit_.who, books_, n).total_octets(),
            ledger::outcome::accepted);
        if (++noted % noted_at_once == 0) co_await visit_.connection.pause(others_turn);
    }
}

void population_visit::note(std::size_t folder, std::uint32_t sequence, std::uint64_t octets,
                            ledger::outcome what) {
    ledger::row_buffer* rows = visit_.context.row_buffer();
    if (rows == nullptr) return;
    ledger::sent_row row;
    row.run = books_.whose().run;
    row.session = books_.whose().session;
    row.sequence = sequence;
    row.time_us = now_us();
    row.octets = octets;
    row.sender = rows->address(visit_.who.address);
    row.recipient = rows->address(visit_.who.address + ledger_name_of(folder));
    row.what = what;
    rows->add(row);
}

// RFC 4315 3: as many UIDs as messages, of the mailbox that is selected.
void population_visit::check_uids(std::size_t messages) {
    const imap_dialogue::answer_code& code = dialogue_.code();
    if (code.is != proto::imap_code::append_uid) return;
    const std::string_view words = code.arguments;
    proto::imap_set_reader set(words.substr(std::min(words.find(' '), words.size() - 1) + 1));
    std::uint64_t uids = 0;
    proto::imap_range range;
    while (set.next(range))
        uids += std::uint64_t{range.last} - range.first + 1;
    const std::uint32_t validity = dialogue_.mailbox().uid_validity();
    if (validity != 0 && code.number != validity)
        visit_.connection.refused(stage::check, "contradiction",
                                  "APPENDUID has another UIDVALIDITY than SELECT");
    else if (uids != messages || !set.good())
        visit_.connection.refused(stage::check, "contradiction",
                                  "APPENDUID has not as many UIDs as messages were appended");
}

}  // namespace postal::rabid
