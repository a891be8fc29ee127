// SPDX-License-Identifier: GPL-3.0-or-later
#include "rabid/population_books.hpp"

#include <catch2/catch.hpp>

using namespace postal;
using namespace postal::rabid;

namespace {

constexpr std::uint64_t population_run = 77;
constexpr std::uint64_t account_session = 5;

// Six messages, of which 1 and 4 are for the second folder.
account_books books_of_six() {
    mail::mailbox_plan box;
    for (std::uint32_t n = 0; n < 6; ++n) {
        mail::planned_message one;
        one.folder = n % 3 == 1 ? 1 : 0;
        box.messages.push_back(one);
    }
    return {{population_run, account_session}, std::move(box), 3};
}

struct found_copy {
    found_identity id;
    bool intact = true;
};

found_copy ours(std::uint64_t sequence, bool intact = true) {
    return {{population_run, account_session, sequence}, intact};
}

using numbers = std::vector<std::uint32_t>;

}  // namespace

TEST_CASE("account_books: what is there is held against what is wanted") {
    struct row {
        const char* why;
        std::vector<found_copy> there;
        numbers missing;
        numbers fresh;
        numbers changed{};
        std::uint64_t surplus = 0;
        std::uint64_t misplaced = 0;
        std::uint64_t others = 0;
    };
    const row rows[] = {
        {"an empty folder", {}, {0, 2, 3, 5}, {}},
        {"all are there, in any order", {ours(5), ours(0), ours(3), ours(2)}, {}, {0, 2, 3, 5}},
        {"one is missing", {ours(0), ours(3), ours(5)}, {2}, {0, 3, 5}},
        {"one is there twice, which makes up for none",
         {ours(0), ours(0), ours(3), ours(5)},
         {2},
         {0, 3, 5},
         {},
         1},
        {"one is there three times", {ours(0), ours(0), ours(0)}, {2, 3, 5}, {0}, {}, 2},
        {"two were changed, and are not replaced",
         {ours(5, false), ours(2), ours(3), ours(0, false)},
         {},
         {0, 2, 3, 5},
         {0, 5}},
        {"a copy that was changed, of another folder's and of others",
         {ours(0), ours(0, false), ours(1, false), {{}, false}, ours(2), ours(3), ours(5)},
         {},
         {0, 2, 3, 5},
         {},
         1,
         1,
         1},
        {"one of another folder", {ours(1), ours(0)}, {2, 3, 5}, {0}, {}, 0, 1},
        {"no identity, another account, another population, a number beyond",
         {{{}, true}, {{population_run, 6, 0}, true}, {{78, account_session, 0}, true}, ours(6)},
         {0, 2, 3, 5},
         {},
         {},
         0,
         0,
         4},
    };
    for (const row& one : rows) {
        INFO(one.why);
        account_books books = books_of_six();
        books.begin(0);
        for (const found_copy& each : one.there)
            books.found(each.id, each.intact);
        const folder_state state = books.end();
        CHECK(state.missing == one.missing);
        CHECK(state.fresh == one.fresh);
        CHECK(state.there == one.fresh.size());
        CHECK(state.changed == one.changed);
        CHECK(state.surplus == one.surplus);
        CHECK(state.misplaced == one.misplaced);
        CHECK(state.others == one.others);
        CHECK(state.gone.empty());
    }
}

TEST_CASE("account_books: what was acknowledged is not found anew, and is missed when it is gone") {
    account_books books = books_of_six();
    for (const std::uint32_t n : {0U, 2U})
        books.settle(n, placed::acknowledged);
    books.settle(3, placed::in_doubt);
    books.settle(5, placed::refused);
    books.begin(0);
    for (const std::uint64_t n : {2U, 3U})
        books.found(ours(n).id, true);
    folder_state state = books.end();
    CHECK(state.missing == numbers{0});
    CHECK(state.gone == numbers{0});
    CHECK(state.fresh == numbers{3});
    // Once: it is appended again then, and what was in doubt is known now.
    books.begin(0);
    books.found(ours(2).id, true);
    state = books.end();
    CHECK(state.missing == numbers{0, 3});
    CHECK(state.gone == numbers{3});
    CHECK(state.fresh.empty());
    books.settle(0, placed::acknowledged);
    books.begin(0);
    for (const std::uint64_t n : {0U, 2U, 3U})
        books.found(ours(n).id, true);
    state = books.end();
    CHECK(state.missing.empty());
    CHECK(state.there == 3);
    CHECK(state.fresh == numbers{3});
}

TEST_CASE("account_books: each folder is looked at by itself") {
    account_books books = books_of_six();
    CHECK(books.wanted(0) == numbers{0, 2, 3, 5});
    CHECK(books.wanted(1) == numbers{1, 4});
    CHECK(books.wanted(2).empty());
    books.begin(1);
    books.found(ours(4).id, true);
    CHECK(books.end().missing == numbers{1});
    books.begin(2);
    CHECK(books.end().missing.empty());
}

TEST_CASE("account_books: a look that was not brought to its end has found nothing") {
    account_books books = books_of_six();
    books.begin(0);
    for (const std::uint64_t n : {0U, 2U, 3U, 5U})
        books.found(ours(n).id, true);
    CHECK_FALSE(books.end_visit());
    books.begin(0);
    books.found(ours(2).id, true);
    const folder_state state = books.end();
    CHECK(state.fresh == numbers{2});
    CHECK(state.missing == numbers{0, 3, 5});
    CHECK(state.gone.empty());
    CHECK(books.end_visit());
    CHECK_FALSE(books.end_visit());
}

TEST_CASE("account_books: a folder that is done with stays so, and that is progress") {
    account_books books = books_of_six();
    CHECK_FALSE(books.closed(1));
    books.close(1);
    CHECK(books.closed(1));
    CHECK_FALSE(books.closed(0));
    CHECK(books.end_visit());
}
