// SPDX-License-Identifier: GPL-3.0-or-later
// Errors are counted by kind, bounded, and safe to show.
#include "stats/error_table.hpp"

#include "stats/diagnostics.hpp"

#include <catch2/catch.hpp>

using namespace postal::stats;

TEST_CASE("error table: equal kinds are one entry with the first sample") {
    error_table table;
    table.add("rcpt", 550, "5.1.1", "no such user a@b");
    table.add("connect", 0, "refused", "127.0.0.1:25");
    table.add("rcpt", 550, "5.1.1", "no such user b@b");
    table.add("rcpt", 550, "", "no such user");
    CHECK(table.total() == 4);
    REQUIRE(table.entries().size() == 3);
    CHECK(table.entries()[0].count == 2);
    CHECK(table.entries()[0].sample == "no such user a@b");
    CHECK(table.by_count()[0].detail == "5.1.1");
}

TEST_CASE("error table: texts of the same code are told apart, but for numbers and addresses") {
    struct row {
        std::string first, second;
        bool same;
    };
    const row rows[]{
        {"greylisted", "rate limited", false},
        {"greylisted", "greylisted", true},
        {"greylisted for 300 seconds", "greylisted for 17 seconds", true},
        {"<a@example.com>: unknown", "<b@example.com>: unknown", true},
        {"<a@example.com>: unknown", "<b@example.com>: over quota", false},
        {"4.7.1 greylisted", "greylisted", true},
        {"queued as 4ABC", "queued", false},
        {"bad\x1b", "bad\x1b", true},
        {std::string(300, 'x'), std::string(300, 'x'), true},
    };
    for (const row& each : rows) {
        INFO(each.first << " / " << each.second);
        error_table table;
        error_table other;
        table.add("rcpt", 451, "4.7.1", each.first);
        table.add("rcpt", 451, "4.7.1", each.second);
        other.add("rcpt", 451, "4.7.1", each.second);
        other.merge(table);
        CHECK(table.entries().size() == (each.same ? 1 : 2));
        CHECK(other.entries().size() == (each.same ? 1 : 2));
        CHECK(other.total() == 3);
    }
}

TEST_CASE(
    "error table: refusals without a code are told apart by their texts, refused connections are "
    "not") {
    error_table table;
    table.add("command", 0, refused_reason, "CREATE: no");
    table.add("command", 0, refused_reason, "UID COPY: no");
    table.add("command", 0, refused_reason, "CREATE: no");
    table.add("connect", 0, refused_reason, "connect to a.example.com");
    table.add("connect", 0, refused_reason, "connect to b.example.com");
    REQUIRE(table.entries().size() == 3);
    CHECK(table.entries()[0].count == 2);
    CHECK(table.entries()[2].count == 2);
}

TEST_CASE("error table: an enhanced code is shown once") {
    error_table table;
    table.add("rcpt", 451, "4.7.1", "4.7.1 greylisted");
    CHECK(describe_error(table.entries()[0]) == "rcpt 451 4.7.1: greylisted");
}

TEST_CASE("error table: a server that says something else each time cannot make it grow") {
    error_table table;
    for (char first = 'a'; first <= 'z'; ++first) {
        for (char second = 'a'; second <= 'z'; ++second)
            table.add("rcpt", 451, "", std::string{first, second});
    }
    REQUIRE(table.entries().size() == error_table::max_texts + 1);
    CHECK(table.entries().back().sample == error_table::other_texts);
    CHECK(table.entries().back().count == 26 * 26 - error_table::max_texts);
    error_table merged;
    for (char first = 'A'; first <= 'Z'; ++first)
        merged.add("rcpt", 451, "", std::string(1, first));
    merged.merge(table);
    CHECK(merged.entries().size() == error_table::max_texts + 1);
    CHECK(merged.total() == 26 * 26 + 26);
}

TEST_CASE("error table: a kind whose text had to be cut is found again among many") {
    error_table table;
    const std::string text(300, 'x');
    table.add("rcpt", 451, "", text);
    for (char last = 'a'; last < 'm'; ++last)
        table.add("rcpt", 451, "", std::string{"later "} + last);
    table.add("rcpt", 451, "", text);
    CHECK(table.entries()[0].count == 2);
}

TEST_CASE("error table: a server cannot make it grow") {
    error_table table;
    for (int i = 0; i < 10'000; ++i)
        table.add("rcpt", 1000 + i, "", "x");
    CHECK(table.total() == 10'000);
    REQUIRE(table.entries().size() == error_table::max_kinds + 1);
    CHECK(table.entries().back().stage == "other");
    CHECK(table.entries().back().count == 10'000 - error_table::max_kinds);
    table.add("other", 0, "odd", "x");
    CHECK(table.entries().size() == error_table::max_kinds + 1);

    error_table merged;
    merged.add("mail", 451, "", "later");
    merged.merge(table);
    CHECK(merged.total() == 10'002);
    CHECK(merged.entries().size() == error_table::max_kinds + 1);
    std::uint64_t sum = 0;
    for (const auto& entry : merged.entries())
        sum += entry.count;
    CHECK(sum == merged.total());
}

TEST_CASE("error table: samples and words are made printable and cut") {
    error_table table;
    for (int i = 0; i < 3; ++i)
        table.add("da\nta", 0,
                  "od\x1b"
                  "d",
                  std::string(100'000, '\x1b'));
    REQUIRE(table.entries().size() == 1);
    CHECK(table.entries()[0].stage == "da\\nta");
    CHECK(table.entries()[0].detail == "od\\x1bd");
    CHECK(table.entries()[0].sample.size() <= error_table::max_sample);
    table.add(std::string(1000, 'x'), 0, "", "");
    table.add(std::string(1000, 'x'), 0, "", "");
    REQUIRE(table.entries().size() == 2);
    CHECK(table.entries()[1].stage.size() <= 64);
    CHECK(table.entries()[1].count == 2);
    table.clear();
    CHECK(table.empty());
    table.add("mail", 451, "", "");
    CHECK(table.total() == 1);
}

TEST_CASE("error table: every error has one class") {
    error_table table;
    table.add("connect", 0, "timeout", "");
    table.add("connect", 0, "refused", "");
    table.add("end", 0, "timeout", "");
    table.add("rcpt", 451, "4.2.1", "");
    table.add("data", 554, "", "");
    table.add("data", 0, "reset", "");
    table.add("mail", 354, "", "");
    const auto classes = table.classes();
    CHECK(classes.connect == 2);
    CHECK(classes.timeout == 1);
    CHECK(classes.temporary == 1);
    CHECK(classes.permanent == 1);
    CHECK(classes.other == 2);
}

TEST_CASE("diagnostics: the most frequent first, never more lines than asked for") {
    error_table table;
    for (int i = 0; i < 12; ++i)
        table.add("rcpt", 550, "5.1.1", "no such user");
    table.add("connect", 0, "refused", "127.0.0.1:25");
    CHECK(interval_diagnostics(table.by_count()) ==
          std::vector<std::string>{"12 x rcpt 550 5.1.1: no such user",
                                   "1 x connect refused: 127.0.0.1:25"});
    for (int code = 400; code < 420; ++code)
        table.add("mail", code, "", "");
    const auto lines = interval_diagnostics(table.by_count(), 3);
    REQUIRE(lines.size() == 3);
    CHECK(lines[2] == "20 x errors of 20 other kinds");
    CHECK(interval_diagnostics({}).empty());
    CHECK(interval_diagnostics(table.by_count(), 0).empty());
}
