// SPDX-License-Identifier: GPL-3.0-or-later
#include "mail/corpus.hpp"

#include "base/text.hpp"
#include "mail/corpus_factory.hpp"
#include "mail/message_checker.hpp"
#include "support.hpp"

#include <catch2/catch.hpp>

using namespace postal::mail;
using namespace std::string_literals;

namespace {

// Every mail of the corpus as the factory sends it: verified raw and over DATA, and the mail itself
// intact.
void check_all_sent(std::vector<corpus_mail> mails) {
    const std::vector<corpus_mail> kept = mails;
    const auto plan =
        corpus_plan::create(test::options_for(body_kind::ascii, 0), std::move(mails)).value();
    corpus_factory factory(plan);
    message made;
    for (std::size_t n = 0; n < kept.size(); ++n) {
        INFO(kept[n].name);
        factory.make(test::request(0, n), made);
        const std::string raw = test::joined(made.raw_parts());
        REQUIRE(raw.starts_with("X-Postal: postal/1.2.3\r\nX-Postal-Id: v=1; "));
        REQUIRE(raw.ends_with(kept[n].raw));
        REQUIRE(made.total_octets() == raw.size());
        REQUIRE(made.id().size == raw.size());
        REQUIRE(made.id().head == std::min(header_end(raw), raw.size()));
        REQUIRE(raw.size() <= plan->largest());
        REQUIRE(made.final_newline() == raw.ends_with("\r\n"));
        const std::string sent = test::joined(made.stuffed_parts());
        REQUIRE(sent.ends_with("\r\n"));
        REQUIRE(test::unstuffed(sent) == raw + (made.final_newline() ? "" : "\r\n"));
        for (const std::string& text : {raw, test::unstuffed(sent)}) {
            message_checker checker;
            checker.feed("Received: by a relay\r\n" + text);
            REQUIRE(checker.finish().what == integrity::verified);
        }
    }
}

}  // namespace

TEST_CASE("corpus: line ends become CRLF and nothing else changes") {
    struct row {
        std::string text, wanted;
    };
    const row rows[]{{"A: b\n\nx\n", "A: b\r\n\r\nx\r\n"},
                     {"A: b\r\n\r\nx\r\n", "A: b\r\n\r\nx\r\n"},
                     {"A: b\r\rx\r", "A: b\r\n\r\nx\r\n"},
                     {"A: b\n\nx", "A: b\r\n\r\nx"},
                     {"A: b", "A: b"},
                     {"A: b\n\nx\r\r\ny\n\r", "A: b\r\n\r\nx\r\n\r\ny\r\n\r\n"},
                     {"From someone Mon\nA: b\n\nFrom x\n", "A: b\r\n\r\nFrom x\r\n"},
                     // A field with a blank before its colon (RFC 5322 4.5.2), and no separator.
                     {"From : a@x\nA: b\n", "From : a@x\r\nA: b\r\n"}};
    for (const row& each : rows) {
        INFO(each.text);
        CHECK(read_mail(each.text, "x").value().raw == each.wanted);
    }
    const auto mail =
        read_mail("To: x\nDate: y\n\n.dot\n" + std::string(997, 'x') + "\xe4", "x").value();
    CHECK(mail.needs_8bit);
    CHECK(mail.present == 0b01010);
    CHECK_FALSE(mail.final_newline);
    CHECK_THAT(mail.stuffed, Catch::Contains("\r\n..dot\r\n"));
    CHECK(read_mail("A: b\n\nx\n", "x").value().stuffed.empty());
}

TEST_CASE("corpus: what is not mail is refused with a reason") {
    struct row {
        std::string text, reason;
    };
    const row rows[]{{"", "empty"},
                     {"A: b\n\n\0"s, "NUL"},
                     {"GIF89a", "header field"},
                     {"\nA: b\n", "header field"},
                     {" A: b\n", "header field"},
                     {": b\n", "header field"},
                     {"hello there: x\n", "header field"},
                     {"From someone Mon\n", "empty"},
                     {"A: b\n\nx\n" + std::string(999, 'x') + "\n",
                      "line 4 of it has 999 octets, which servers may refuse"}};
    for (const row& each : rows) {
        INFO(each.text);
        const auto mail = read_mail(each.text, "x");
        REQUIRE_FALSE(mail.has_value());
        CHECK_THAT(mail.error().message, Catch::Contains(each.reason));
    }
}

TEST_CASE("corpus: a directory gives its mails in the order of names") {
    const test::temporary_folder folder;
    folder.write("box/b.eml", "Subject: b\n\nb\n");
    folder.write("box/a.eml", "Subject: a\n\na\n");
    folder.write("box/.hidden", "nothing");
    folder.write("box/sub/c.eml", "not looked at");
    const auto mails = load_corpus(folder / "box").value();
    REQUIRE(mails.size() == 2);
    CHECK(mails[0].raw == "Subject: a\r\n\r\na\r\n");
    CHECK_THAT(mails[1].name, Catch::EndsWith("b.eml"));
    check_all_sent(mails);

    folder.write("box/c.bmp", "BM\0\0"s);
    folder.write("box/d.txt", "no mail");
    const auto refused = load_corpus(folder / "box");
    REQUIRE_FALSE(refused.has_value());
    CHECK_THAT(refused.error().message,
               Catch::Contains("c.bmp: has a NUL at octet 2") && Catch::Contains("1 more"));
    std::filesystem::create_symlink(folder / "nowhere", folder / "box/0.eml");
    CHECK_THAT(load_corpus(folder / "box").error().message, Catch::Contains("0.eml"));
}

TEST_CASE("corpus: nothing at all is refused") {
    const test::temporary_folder folder;
    CHECK_THAT(load_corpus(folder.path()).error().message, Catch::Contains("no mail"));
    CHECK_THAT(load_corpus(folder / "missing").error().message, Catch::Contains("No such file"));
    CHECK_THAT(load_corpus(folder.write("empty", "")).error().message, Catch::Contains("empty"));
    CHECK_FALSE(corpus_plan::create(test::options_for(body_kind::ascii, 0), {}).has_value());
}

TEST_CASE("corpus: a Maildir gives the mail of cur and new") {
    const test::temporary_folder folder;
    folder.write("box/cur/2", "Subject: two\n\n");
    folder.write("box/new/1", "Subject: one\n\n");
    folder.write("box/tmp/3", "not yet mail");
    folder.write("box/dovecot.index", "no mail either");
    const auto mails = load_corpus(folder / "box").value();
    REQUIRE(mails.size() == 2);
    CHECK(mails[0].raw == "Subject: two\r\n\r\n");
    CHECK(mails[1].raw == "Subject: one\r\n\r\n");
}

TEST_CASE("corpus: an mbox is split at separators and unquoted") {
    const test::temporary_folder folder;
    const auto path =
        folder.write("mbox",
                     "From a@x Mon\nSubject: one\n\nbody\nFrom here it goes on\n>From me\n"
                     ">>From you\n> From no\n\nFrom b@x Tue\nSubject: two\n\n\n"
                     "From c@x Wed\r\nSubject: three\r\n\r\nlast");
    const auto mails = load_corpus(path).value();
    REQUIRE(mails.size() == 3);
    CHECK(mails[0].raw ==
          "Subject: one\r\n\r\nbody\r\nFrom here it goes on\r\nFrom me\r\n>From you\r\n> From "
          "no\r\n");
    CHECK(mails[1].raw == "Subject: two\r\n\r\n");
    CHECK(mails[2].raw == "Subject: three\r\n\r\nlast");
    CHECK(mails[1].name == path + "#2");
    check_all_sent(mails);

    const auto field =
        load_corpus(folder.write("field", "From a@x Mon\n>From : b@x\nTo: c\n\nx\n")).value();
    REQUIRE(field.size() == 1);
    CHECK(field[0].raw == "From : b@x\r\nTo: c\r\n\r\nx\r\n");
    const auto alone = load_corpus(folder.write("alone", "From : b@x\n\nx\n")).value();
    REQUIRE(alone.size() == 1);
    CHECK(alone[0].raw == "From : b@x\r\n\r\nx\r\n");

    const auto bad = load_corpus(folder.write("bad", "From a\nSubject: x\n\n\nFrom b\nnothing\n"));
    REQUIRE_FALSE(bad.has_value());
    CHECK_THAT(bad.error().message, Catch::Contains("bad: mail 2, line 5: does not start"));
}

TEST_CASE(
    "corpus: mail without some or all fields verifies, and fields added later do not matter") {
    std::vector<corpus_mail> mails;
    for (const std::string text : {"A: b\n\nx", "Subject: only\n\n", "From: a\nTo: b\nX: y\n",
                                   "To: a\nTo: b\n\n.\n..\n.x", "Subject: a\n"}) {
        mails.push_back(read_mail(text, text).value());
    }
    check_all_sent(mails);
    const auto plan = corpus_plan::create(test::options_for(body_kind::ascii, 0), mails).value();
    corpus_factory factory(plan);
    message made;
    factory.make(test::request(1, 0), made);
    message_checker checker;
    checker.feed("Date: added\r\nMessage-ID: <added>\r\n" + test::joined(made.raw_parts()));
    CHECK(checker.finish().what == integrity::verified);
}

TEST_CASE("corpus: a mail that postal sent before is sent as a new one") {
    message_factory old_factory(
        message_plan::create(test::options_for(body_kind::dots, 3000)).value());
    message old;
    old_factory.make(test::request(8, 8), old);
    std::vector<corpus_mail> mails;
    mails.push_back(read_mail(test::joined(old.raw_parts()), "old").value());
    check_all_sent(mails);
}

TEST_CASE("corpus: the e-mails of CPython's tests are sent unharmed") {
    const std::filesystem::path data = "/usr/lib/python3.11/test/test_email/data";
    if (!std::filesystem::is_directory(data)) {
        WARN("libpython3.11-testsuite is not installed");
        return;
    }
    const auto whole = load_corpus(data.string());
    REQUIRE_FALSE(whole.has_value());  // pictures lie beside the mails
    const test::temporary_folder folder;
    std::size_t copied = 0;
    for (const auto& entry : std::filesystem::directory_iterator(data)) {
        if (entry.path().extension() != ".txt" || !load_corpus(entry.path().string())) continue;
        std::filesystem::copy_file(entry.path(), folder / entry.path().filename().string());
        ++copied;
    }
    CHECK(copied >= 40);
    check_all_sent(load_corpus(folder.path()).value());
}
