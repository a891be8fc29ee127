// SPDX-License-Identifier: GPL-3.0-or-later
#include "rabid/command_kinds.hpp"

#include <catch2/catch.hpp>

#include <algorithm>

using namespace postal;
using proto::imap_verb;

TEST_CASE("command kinds: a UID form counts with its kind, and every kind has one word") {
    const struct {
        imap_verb said;
        const char* kind;
    } rows[] = {
        {imap_verb::fetch, "FETCH"},         {imap_verb::uid_fetch, "FETCH"},
        {imap_verb::uid_store, "STORE"},     {imap_verb::uid_copy, "COPY"},
        {imap_verb::uid_move, "MOVE"},       {imap_verb::uid_search, "SEARCH"},
        {imap_verb::uid_sort, "SORT"},       {imap_verb::uid_thread, "THREAD"},
        {imap_verb::uid_expunge, "EXPUNGE"}, {imap_verb::delete_mailbox, "DELETE"},
        {imap_verb::compress, "COMPRESS"},   {imap_verb::name_space, "NAMESPACE"},
        {imap_verb::unselect, "UNSELECT"},
    };
    const auto names = rabid::command_kinds();
    for (const auto& row : rows)
        CHECK(names.at(static_cast<std::size_t>(rabid::kind_of(row.said))) == row.kind);
    CHECK(std::all_of(names.begin(), names.end(),
                      [](const auto& one) { return one.find(' ') == one.npos; }));
}

TEST_CASE("command kinds: how a tagged response ends a command") {
    using stats::command_end;
    CHECK(rabid::end_of(proto::imap_condition::ok) == command_end::ok);
    CHECK(rabid::end_of(proto::imap_condition::no) == command_end::no);
    CHECK(rabid::end_of(proto::imap_condition::bad) == command_end::bad);
}
