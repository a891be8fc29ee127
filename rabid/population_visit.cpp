// SPDX-License-Identifier: GPL-3.0-or-later
#include "rabid/population_visit.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/text.hpp"
#include "proto/imap/date.hpp"
#include "rabid/imap_login.hpp"

namespace postal::rabid {
namespace {

constexpr std::size_t sent_at_once = std::size_t{64} << 10U;
constexpr std::uint32_t looked_at_once = 10'000;
constexpr int most_refused = 3;         // one after the other
constexpr std::size_t most_named = 10;  // messages of a folder, by their numbers

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
    if (fine) fine = co_await fill_all();
    filled_ = fine && !stopping();
    bool read = false;
    if (filled_) read = co_await read_all();
    if (!visit_.connection.broken()) {
        visit_.connection.set_hurried(true);
        const auto logout = dialogue_.commands().plain(dialogue_.out(), imap_verb::logout);
        co_await dialogue_.command(stage::quit, logout);
    }
    dialogue_.finish();
    co_return read;
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
    co_return !visit_.connection.broken();
}

// A level below INBOX is below it whatever the prefix of other mailboxes is.
std::string population_visit::name_of(std::size_t folder) const {
    const std::string& plain = all_.recipe().plan.folders[folder];
    if (plain == "INBOX") return plain;
    std::string name = plain.starts_with("INBOX/") ? plain : dialogue_.told().prefix + plain;
    const char delimiter = dialogue_.told().delimiter;
    for (std::size_t at = name.size() - plain.size(); at < name.size(); ++at)
        if (name[at] == '/') name[at] = delimiter == 0 ? '-' : delimiter;
    return name;
}

std::string population_visit::ledger_name_of(std::size_t folder) const {
    const std::string& plain = all_.recipe().plan.folders[folder];
    return plain == "INBOX" ? std::string() : "/" + plain;
}

// ---- filling ----

asio::awaitable<bool> population_visit::fill_all() {
    for (std::size_t i = 0; i < all_.recipe().plan.folders.size(); ++i) {
        if (stopping()) co_return true;
        const bool fine = co_await look(i);
        if (!fine) co_return false;
    }
    co_return true;
}

// Makes it where it is to be filled, and selects it. False: the connection is lost, or there is no
// such mailbox.
asio::awaitable<bool> population_visit::open(std::size_t folder) {
    const std::string name = name_of(folder);
    if (name != "INBOX" && !filled_) {
        const imap_tag create = dialogue_.commands().create(dialogue_.out(), name);
        co_await dialogue_.command(stage::command, create, {.refusal = imap_refusal::expected});
        if (visit_.connection.broken()) co_return false;
    }
    const load::steady_time begun = visit_.connection.now();
    const bool fine = co_await dialogue_.select(name, {});
    visit_.connection.took(phase::list, visit_.connection.now() - begun);
    co_return fine;
}

asio::awaitable<bool> population_visit::look(std::size_t folder) {
    bool fine = co_await open(folder);
    if (!fine) co_return false;
    books_.begin(folder);
    fine = co_await list_identities();
    if (!fine) co_return false;
    const folder_state found = books_.end();
    stats::tally& counts = visit_.context.shared.counts();
    counts.present += found.fresh.size();
    note_present(folder, found);
    if (!found.gone.empty()) {
        counts.append_lost += found.gone.size();
        visit_.connection.refused(
            stage::check, "gone",
            fmt::format("{} messages of {} that were there, or acknowledged, are gone from {}",
                        found.gone.size(), visit_.who.address, name_of(folder)));
    }
    if (given_up_) co_return true;
    co_return co_await fill(folder, found.missing);
}

// Of the mailbox that is selected, some thousand at a time.
asio::awaitable<bool> population_visit::list_identities() {
    identity_reader reader([this](const mail::identity* id) {
        if (id == nullptr) return books_.found({}, true);
        books_.found({id->run, id->session, id->sequence}, true);
    });
    const std::uint32_t there = dialogue_.mailbox().exists();
    for (std::uint32_t first = 1; first <= there; first += looked_at_once) {
        const std::uint32_t last = std::min(there, first + looked_at_once - 1);
        const imap_tag tag = dialogue_.commands().fetch(
            dialogue_.out(), imap_verb::fetch, fmt::format("{}:{}", first, last), identity_items);
        const bool fine = co_await dialogue_.command(stage::list, tag, {.identities = &reader});
        if (!fine || stopping()) co_return fine && !stopping();
    }
    co_return true;
}

asio::awaitable<bool> population_visit::fill(std::size_t folder,
                                             std::vector<std::uint32_t> missing) {
    std::span<const std::uint32_t> left = missing;
    while (!left.empty() && !stopping() && !given_up_) {
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
    int in_a_row = 0;
    bool may_create = true;
    for (std::size_t i = 0; i < batch.size() && !stopping() && !given_up_; ++i) {
        const auto one = batch.subspan(i, 1);
        // A command of one was said already.
        taken how = batch.size() == 1 ? taken::no : co_await append(folder, one);
        if (how == taken::broken) co_return false;
        if (how == taken::no && dialogue_.code().is == proto::imap_code::try_create &&
            std::exchange(may_create, false)) {
            const imap_tag create = dialogue_.commands().create(dialogue_.out(), name_of(folder));
            co_await dialogue_.command(stage::command, create);
            if (visit_.connection.broken()) co_return false;
            how = co_await append(folder, one);
            if (how == taken::broken) co_return false;
        }
        in_a_row = how == taken::yes ? 0 : in_a_row + 1;
        if (how == taken::yes) continue;
        settle(folder, one, placed::refused);
        given_up_ = dialogue_.code().is == proto::imap_code::over_quota || in_a_row >= most_refused;
    }
    co_return true;
}

// As many of them as fit into one command: so many as octets_ has.
asio::awaitable<population_visit::taken> population_visit::append(
    std::size_t folder, std::span<const std::uint32_t> left) {
    whole_ = false;
    bool fine = co_await say_append(folder, left);
    if (fine) fine = co_await dialogue_.complete();
    const std::span<const std::uint32_t> batch = left.first(octets_.size());
    if (visit_.connection.broken()) {
        settle(folder, batch, whole_ ? placed::in_doubt : placed::unknown);
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

// What was found is there by the server's word, which has shown it.
void population_visit::note_present(std::size_t folder, const folder_state& found) {
    if (visit_.context.row_buffer() == nullptr) return;
    for (const std::uint32_t n : found.fresh)
        note(folder, n, visit_.context.maker().make(visit_.who, books_, n).total_octets(),
             ledger::outcome::accepted);
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

// ---- reading back ----

asio::awaitable<bool> population_visit::read_all() {
    for (std::size_t i = 0; i < all_.recipe().plan.folders.size(); ++i) {
        const bool fine = co_await read_back(i);
        if (!fine) co_return false;
    }
    co_return true;
}

// What it finds counts when all of the folder was read.
asio::awaitable<bool> population_visit::read_back(std::size_t folder) {
    const std::uint32_t validity = dialogue_.mailbox().uid_validity();
    const bool alone = all_.recipe().plan.folders.size() == 1;
    visit_.messages.close({visit_.connection.first_problem(), stopping()});
    visit_.messages.open(visit_.who, ledger::way::imap,
                         static_cast<std::uint32_t>(visit_.appends.session),
                         ledger_name_of(folder));
    visit_.messages.notes().listing();
    bool fine = co_await open(folder);
    if (!fine) co_return false;
    if (alone && validity != 0 && dialogue_.mailbox().uid_validity() != validity)
        visit_.connection.refused(stage::check, "uid_validity",
                                  "the mailbox was made anew while it was filled");
    visit_.messages.notes().listed(dialogue_.mailbox().exists());
    stats::counts held;
    visit_.messages.hold(&held);
    books_.begin(folder);
    const bool all_whole = all_.recipe().verify >= 1;
    if (!all_whole) fine = co_await list_identities();
    if (fine) fine = co_await read_messages();
    visit_.messages.hold(nullptr);
    if (!fine || stopping()) co_return false;
    folder_state found = books_.end();
    if (!all_whole) found.changed = held.corrupt;
    stats::tally& counts = visit_.context.shared.counts();
    counts.verified += held.verified;
    counts.corrupt += held.corrupt;
    counts.foreign += held.foreign;
    counts.original += held.original;
    tell(folder, found);
    co_return true;
}

// Of the mailbox that is selected: all, or the share that is to be read whole.
asio::awaitable<bool> population_visit::read_messages() {
    const double share = all_.recipe().verify;
    const bool all_whole = share >= 1;
    if (all_whole)
        reader_.tell([this](const message_key& key, examination_result what) {
            books_.found({key.run, key.session, key.sequence},
                         what == examination_result::verified);
        });
    const std::uint32_t there = dialogue_.mailbox().exists();
    reader_.begin_reading(there);
    std::vector<std::uint32_t> chosen;
    for (std::uint32_t number = 1; number <= there; ++number)
        if (all_whole || visit_.random.uniform() < share) chosen.push_back(number);
    std::span<const std::uint32_t> left = chosen;
    bool fine = true;
    while (fine && !left.empty() && !stopping()) {
        std::string set;
        const std::size_t most = std::min<std::size_t>(left.size(), looked_at_once / 10);
        left = left.subspan(proto::append_imap_set(set, left.first(most)));
        reader_.begin(std::chrono::steady_clock::now());
        const imap_tag tag = dialogue_.commands().fetch(dialogue_.out(), imap_verb::fetch, set,
                                                        "(UID INTERNALDATE BODY.PEEK[])");
        fine = co_await dialogue_.command(stage::retrieve, tag, {.reader = &reader_});
    }
    visit_.messages.notes().looked_at(reader_.came(), there);
    reader_.tell({});
    co_return fine && !stopping();
}

void population_visit::tell(std::size_t folder, const folder_state& found) {
    stats::tally& counts = visit_.context.shared.counts();
    counts.confirmed += found.there - std::min(found.there, found.changed);
    counts.present += found.fresh.size();
    counts.missing += found.gone.size();
    counts.duplicate += found.surplus;
    counts.misplaced += found.misplaced;
    counts.others += found.others;
    note_present(folder, found);
    const auto say = [&](base::error_name reason, std::uint64_t how_many, std::string_view what) {
        if (how_many == 0) return;
        visit_.connection.refused(
            stage::check, reason,
            fmt::format("{} {} in {} of {}", how_many, what, name_of(folder), visit_.who.address));
    };
    say("surplus", found.surplus, "messages more than once");
    say("misplaced", found.misplaced, "messages of other folders");
    tell_missing(folder, found);
}

void population_visit::tell_missing(std::size_t folder, const folder_state& found) {
    if (found.gone.empty()) return;
    std::string numbers;
    for (std::size_t i = 0; i < std::min(found.gone.size(), most_named); ++i)
        numbers += fmt::format("{}{}", i == 0 ? "" : ", ", found.gone[i]);
    visit_.connection.refused(
        stage::check, "missing",
        fmt::format("{} messages are not in {} of {}: numbers {}{}", found.gone.size(),
                    name_of(folder), visit_.who.address, numbers,
                    found.gone.size() > most_named ? " and more" : ""));
}

}  // namespace postal::rabid
