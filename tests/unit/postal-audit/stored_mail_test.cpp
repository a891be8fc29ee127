// SPDX-License-Identifier: GPL-3.0-or-later
#include "postal-audit/stored_mail.hpp"

#include "../ledger/support.hpp"
#include "../mail/support.hpp"

#include <sys/stat.h>

#include "postal-audit/folder_template.hpp"

using namespace postal::audit;
using ledger_test::ask_sql;
namespace mail = postal::mail;

namespace {

std::string made(std::uint64_t sequence, mail::body_kind kind = mail::body_kind::ascii) {
    mail::message_factory factory(
        mail::message_plan::create(test::options_for(kind, 3000)).value());
    mail::message one;
    factory.make(test::request(1, sequence), one);
    return test::joined(one.raw_parts());
}

std::string with_lf(std::string text) {
    for (std::size_t at = 0; (at = text.find("\r\n", at)) != std::string::npos; ++at)
        text.erase(at, 1);
    return text;
}

stored_mail_read read(const test::temporary_folder& here, const std::string& pattern,
                      const stored_mail_options& chosen = {}) {
    const auto done = read_stored_mail({here / pattern}, here / "ledger", chosen);
    INFO((done ? std::string() : done.error().message));
    REQUIRE(done.has_value());
    return *done;
}

// "sequence condition mailbox" of all messages of ours, in the order of their numbers.
std::string seen(const test::temporary_folder& here) {
    return ask_sql(here / "ledger",
                   "SELECT sequence || ' ' || condition || ' ' || mailbox || ';' "
                   "FROM seen_messages WHERE run IS NOT NULL ORDER BY sequence, mailbox");
}

}  // namespace

TEST_CASE("stored mail: Maildirs of users are read, with LF and with CRLF, and tmp is not") {
    const test::temporary_folder here;
    here.write("mail/Alice/Maildir/new/1", with_lf(made(1)));
    here.write("mail/Alice/Maildir/cur/2:2,S", made(2));
    here.write("mail/Alice/Maildir/.Junk/cur/3", with_lf(made(3, mail::body_kind::dots)));
    here.write("mail/Alice/Maildir/tmp/4", with_lf(made(4)));
    here.write("mail/Alice/Maildir/dovecot-uidlist", with_lf(made(5)));
    here.write("mail/Alice/elsewhere", with_lf(made(6)));
    here.write("mail/bob/Maildir/new/1",
               "Return-Path: <a@b>\nDelivered-To: bob\n" + with_lf(made(7)));
    here.write("mail/bob/Maildir/new/2", with_lf(made(8)).substr(0, 2000));
    here.write("mail/bob/Maildir/new/3", "");
    here.write("mail/bob/Maildir/new/4", "Subject: another's\n\nmail\n");
    here.write("mail/file", "no folder");
    const auto done = read(here, "mail/%u/Maildir");
    CHECK(done.mailboxes == 2);
    CHECK(done.files == 7);
    CHECK(done.unopened == 0);
    CHECK(done.first_unopened.empty());
    CHECK(seen(here) ==
          "1 verified alice; 2 verified alice; 3 verified alice; 7 verified bob; "
          "8 truncated bob;");
    CHECK(ask_sql(here / "ledger", "SELECT role FROM runs WHERE ended_us IS NOT NULL") == "reader");
}

TEST_CASE("stored mail: every kind of body is whole again") {
    for (const mail::body_kind kind : test::all_kinds) {
        if (kind == mail::body_kind::crlf_edge) continue;
        const test::temporary_folder here;
        here.write("u/1", with_lf(made(1, kind)));
        CHECK(read(here, "%u").files == 1);
        CHECK(seen(here) == "1 verified u;");
    }
}

TEST_CASE("stored mail: links, pipes, depth, size and what cannot be opened") {
    const test::temporary_folder here;
    here.write("outside/1", with_lf(made(1)));
    here.write("mail/u/1", with_lf(made(2)));
    here.write("mail/u/a/b/2", with_lf(made(3)));
    here.write("mail/u/large", std::string(5000, 'x'));
    std::filesystem::create_symlink(here / "outside", here / "mail/u/link");
    std::filesystem::create_symlink(here / "outside/1", here / "mail/u/file");
    std::filesystem::create_symlink(here / "outside", here / "mail/v");
    REQUIRE(::mkfifo((here / "mail/u/pipe").c_str(), 0600) == 0);
    const auto done = read(here, "mail/%u", {.most_octets = 4096, .most_depth = 1});
    CHECK(done.mailboxes == 1);
    CHECK(done.files == 1);
    CHECK(done.unopened == 2);  // the large one, and a/b
    CHECK_FALSE(done.first_unopened.empty());
    CHECK(seen(here) == "2 verified u;");
    CHECK(read(here, "missing/%u").mailboxes == 0);
}

TEST_CASE("stored mail: templates say whose mail it is") {
    struct row {
        std::string text;
        mailbox_owner who;
        std::string address;
    };
    for (const row& one : {row{"/m/%u", {"A@x.org", ""}, "a@x.org"},
                           row{"/m/%d/%u/Maildir/", {"a", "X.org"}, "a@x.org"},
                           row{"%u@e.org=/m/%u", {"a", ""}, "a@e.org"},
                           row{"%u@%d.org=/m/%d/%u", {"a", "x"}, "a@x.org"},
                           row{"%u=/%d/box-%u", {"a", "x"}, "a"}}) {
        const auto made_of = folder_template::parse(one.text);
        INFO(one.text);
        REQUIRE(made_of.has_value());
        CHECK(made_of->address_of(one.who) == one.address);
    }
    for (const std::string text : {"", "mail/%u", "/mail", "/m/%d", "/%u/%u", "/%u%d", "/m/%x",
                                   "/m/%u%", "/m/../%u", "a@b=/%u", "%u@b/%u", "%u@%d=/%u"}) {
        INFO(text);
        CHECK_FALSE(folder_template::parse(text).has_value());
    }
    const auto element = folder_template::parse("/100%%/box-%u.d").value().elements().at(1);
    CHECK(folder_template::parse("/100%%/box-%u.d").value().elements().at(0).before == "100%");
    CHECK(element.match("box-alice.d") == "alice");
    CHECK_FALSE(element.match("box-.d").has_value());
    CHECK_FALSE(element.match("box-alice").has_value());
}

TEST_CASE("stored mail: a ledger that cannot be written is a failure") {
    const test::temporary_folder here;
    here.write("u/1", made(1));
    CHECK_FALSE(read_stored_mail({here / "%u"}, here / "no/folder").has_value());
    CHECK_FALSE(read_stored_mail({"relative/%u"}, here / "ledger").has_value());
    CHECK_FALSE(std::filesystem::exists(here / "ledger"));
}
