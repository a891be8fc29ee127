// SPDX-License-Identifier: GPL-3.0-or-later
#include "rabid/imap_retrieval.hpp"

#include <algorithm>
#include <chrono>

namespace postal::rabid {

imap_retrieval::imap_retrieval(const visit_context& who, imap_dialogue& dialogue,
                               imap_reader& reader)
    : visit_(who),
      dialogue_(dialogue),
      reader_(reader),
      commands_(dialogue.commands()),
      out_(dialogue.out()) {}

// Whole messages, by ascending numbers.
asio::awaitable<bool> imap_retrieval::read(std::span<const std::uint32_t> numbers, reading how) {
    bool fine = true;
    std::span<const std::uint32_t> left = numbers;
    const std::uint32_t there = dialogue_.mailbox().exists();
    const std::uint64_t gone = dialogue_.told().gone;
    reader_.begin_reading(there);
    const auto goes_on = [&] { return how == reading::to_the_end || !visit_.stopping(); };
    while (fine && !left.empty() && goes_on()) {
        text_.clear();
        left = left.subspan(proto::append_imap_set(text_, left));
        reader_.begin(std::chrono::steady_clock::now());
        // When it came, for who compares that with when others were told of it.
        const std::string_view items = visit_.messages.notes().wanted()
                                           ? "(UID INTERNALDATE BODY.PEEK[])"
                                           : "(UID BODY.PEEK[])";
        const imap_tag tag = commands_.fetch(out_, imap_verb::fetch, text_, items);
        fine = co_await dialogue_.command(stage::retrieve, tag, {.reader = &reader_});
    }
    visit_.messages.notes().looked_at(reader_.came(), there);
    // SEARCH may have told of some before EXISTS does.
    const auto asked = numbers.first(numbers.size() - left.size());
    const auto counted = static_cast<std::uint64_t>(
        std::upper_bound(asked.begin(), asked.end(), there) - asked.begin());
    const std::uint64_t missing = counted - std::min<std::uint64_t>(counted, reader_.came());
    if (fine && missing > 0) fine = co_await look_for_absent(missing, gone);
    co_return fine;
}

// Somebody else may have deleted them. The server may not say so while it answers FETCH (RFC 3501
// 7.4.1; it may say EXPUNGEISSUED, RFC 5530), and does with NOOP: what then still counts and was
// not there, never was.
asio::awaitable<bool> imap_retrieval::look_for_absent(std::uint64_t missing,
                                                      std::uint64_t gone_before) {
    const imap_tag tag = commands_.plain(out_, imap_verb::noop);
    const bool fine = co_await dialogue_.command(stage::command, tag);
    if (!fine) co_return false;
    const std::uint64_t gone = dialogue_.told().gone - gone_before;
    if (gone >= missing) {
        visit_.messages.notes().left_out("the others went before they were fetched");
        co_return true;
    }
    visit_.context.shared.counts().announced_absent += missing - gone;
    visit_.connection.refused(stage::retrieve, "contradiction",
                              "EXISTS counts messages that FETCH does not find");
    co_return true;
}

asio::awaitable<bool> imap_retrieval::remove() {
    std::vector<std::uint32_t>& chosen = reader_.to_delete();
    std::sort(chosen.begin(), chosen.end());
    std::span<const std::uint32_t> left = chosen;
    bool fine = true;
    while (fine && !left.empty()) {
        const load::steady_time begun = visit_.connection.now();
        text_.clear();
        const std::size_t marked = proto::append_imap_set(text_, left);
        reader_.removing(left.first(marked), dialogue_.mailbox().uid_validity());
        fine = co_await dialogue_.command(
            stage::remove,
            commands_.store(out_, imap_verb::uid_store, text_, "+FLAGS.SILENT (\\Deleted)"));
        if (!fine) break;
        const bool may = co_await may_expunge();
        if (!may) break;
        fine = co_await expunge(marked);
        visit_.connection.took(phase::remove, visit_.connection.now() - begun);
        if (fine) reader_.removed(left.first(marked));
        left = left.subspan(marked);
    }
    chosen.clear();
    co_return fine;
}

// Without UIDPLUS: only if nothing is marked but what we have marked ourselves.
asio::awaitable<bool> imap_retrieval::may_expunge() {
    if (dialogue_.offered().has(imap_capability::uidplus)) co_return true;
    const imap_tag tag = commands_.search(out_, imap_verb::uid_search, "DELETED");
    const bool fine = co_await dialogue_.command(stage::remove, tag);
    if (!fine) co_return false;
    const auto& found = dialogue_.told().found;
    const bool ours_alone = std::all_of(found.begin(), found.end(), [this](std::uint32_t uid) {
        return std::binary_search(reader_.to_delete().begin(), reader_.to_delete().end(), uid);
    });
    if (!ours_alone) {
        visit_.connection.refused(
            stage::remove, "no_uidplus",
            "other messages are marked as deleted, and the server cannot expunge ours alone");
    }
    co_return ours_alone;
}

// Those whose UIDs are in text_.
asio::awaitable<bool> imap_retrieval::expunge(std::size_t marked) {
    const bool uidplus = dialogue_.offered().has(imap_capability::uidplus);
    const imap_tag tag =
        uidplus ? commands_.uid_expunge(out_, text_) : commands_.plain(out_, imap_verb::expunge);
    const bool fine = co_await dialogue_.command(stage::remove, tag);
    const std::uint64_t gone = std::min<std::uint64_t>(dialogue_.told().expunged, marked);
    stats::tally& counts = visit_.context.shared.counts();
    counts.deleted += gone;
    if (visit_.connection.broken()) counts.delete_in_doubt += marked - gone;
    co_return fine;
}

}  // namespace postal::rabid
