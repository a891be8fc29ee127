// SPDX-License-Identifier: GPL-3.0-or-later
#include "bhm/mail_store.hpp"

#include <catch2/catch.hpp>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "../temporary_file.hpp"
#include "base/read_file.hpp"

using namespace postal;
using bhm::store_format;
using bhm::store_outcome;

namespace {

namespace files = std::filesystem;

// A folder that is not there yet, gone with the test.
class place {
  public:
    std::string path() const {
        return (files::path(inside_.path()).parent_path() / "store").string();
    }
    std::vector<std::string> names(const std::string& part) const {
        std::vector<std::string> found;
        for (const auto& one : files::directory_iterator(path() + "/" + part))
            found.push_back(one.path().filename().string());
        return found;
    }

  private:
    test::temporary_file inside_{""};
};

std::unique_ptr<bhm::mail_store> open(const bhm::store_options& chosen) {
    auto made = bhm::mail_store::open(chosen, "mx/a:b");
    INFO((made ? std::string() : made.error().message));
    REQUIRE(made.has_value());
    return std::move(*made);
}

store_outcome keep(bhm::mail_store& store, const std::string& text) {
    bhm::stored_message one(store, "a@example.com");
    one.append(text);
    return one.keep();
}

std::string content(const std::string& path) {
    const auto text = base::read_file(path);
    REQUIRE(text.has_value());
    return *text;
}

}  // namespace

TEST_CASE("mail store: a Maildir has what was accepted, and nothing else") {
    const place where;
    const auto store = open({.folder = where.path()});
    CHECK(keep(*store, "A: b\r\n\r\nFrom x\r\n") == store_outcome::kept);
    {
        bhm::stored_message refused(*store, "a@example.com");
        refused.append(std::string(100'000, 'x'));
        CHECK(where.names("tmp").size() == 1);
    }
    CHECK(where.names("tmp").empty());
    CHECK(where.names("cur").empty());
    const auto names = where.names("new");
    REQUIRE(names.size() == 1);
    CHECK(names[0].ends_with(".mx\\057a\\072b"));
    CHECK(content(where.path() + "/new/" + names[0]) == "A: b\n\nFrom x\n");
    const auto rights = files::status(where.path() + "/new/" + names[0]).permissions();
    CHECK(rights == (files::perms::owner_read | files::perms::owner_write));
}

TEST_CASE("mail store: an mbox has what was accepted, one behind the other") {
    const place where;
    const auto store = open({.folder = where.path(), .format = store_format::mbox});
    CHECK(keep(*store, "A: b\r\n\r\nFrom x\r\n") == store_outcome::kept);
    {
        bhm::stored_message refused(*store, "a@example.com");
        refused.append("A: b\r\n");
    }
    CHECK(keep(*store, "C: d") == store_outcome::kept);
    CHECK(where.names("") == std::vector<std::string>{"mbox"});
    const std::string all = content(where.path() + "/mbox");
    CHECK(all.starts_with("From a@example.com "));
    CHECK(all.find("\nA: b\n\n>From x\n\nFrom a@example.com ") != std::string::npos);
    CHECK(all.ends_with("\nC: d\n\n"));
}

TEST_CASE("mail store: is bounded by messages") {
    const place where;
    const auto store = open({.folder = where.path(), .most_messages = 2});
    CHECK(keep(*store, "1\r\n") == store_outcome::kept);
    { bhm::stored_message refused(*store, ""); }
    CHECK(keep(*store, "2\r\n") == store_outcome::kept);
    CHECK_FALSE(store->full());
    CHECK(keep(*store, "3\r\n") == store_outcome::full);
    CHECK(store->full());
    CHECK(store->says_full());
    CHECK_FALSE(store->says_full());
    CHECK(where.names("new").size() == 2);
    CHECK(where.names("tmp").empty());
}

TEST_CASE("mail store: is bounded by octets, while they are written") {
    for (const store_format format : {store_format::maildir, store_format::mbox}) {
        const place where;
        const auto store = open({.folder = where.path(), .format = format, .most_octets = 100'000});
        {
            bhm::stored_message refused(*store, "a@example.com");
            refused.append(std::string(90'000, 'x'));
        }
        CHECK(keep(*store, std::string(90'000, 'y')) == store_outcome::kept);
        CHECK(keep(*store, std::string(20'000, 'z')) == store_outcome::full);
        CHECK(keep(*store, "z") == store_outcome::full);
    }
}

TEST_CASE("mail store: a failing write is told, and leaves nothing") {
    const place where;
    const auto store = open({.folder = where.path()});
    files::remove_all(where.path());
    bhm::stored_message one(*store, "a@example.com");
    one.append("A: b\r\n");
    CHECK(one.keep() == store_outcome::failed);
    CHECK(one.error() == ENOENT);
}

TEST_CASE("mail store: mixes with no other files") {
    const place where;
    files::create_directory(where.path());
    const auto refusal = [&](store_format format) {
        const auto made = bhm::mail_store::open({.folder = where.path(), .format = format}, "host");
        return made ? std::string() : made.error().message;
    };
    CHECK(refusal(store_format::maildir).empty());
    CHECK(refusal(store_format::maildir).empty());  // it holds nothing still
    std::ofstream(where.path() + "/new/1") << "mail";
    CHECK(refusal(store_format::maildir).starts_with(where.path() + ": holds \"new\""));
    CHECK(refusal(store_format::mbox).starts_with(where.path() + ": holds \"new\""));
    files::remove_all(where.path());
    std::ofstream(where.path()) << "a file";
    CHECK_FALSE(refusal(store_format::maildir).empty());
    const auto nowhere = bhm::mail_store::open({.folder = "/no/such/folder"}, "host");
    REQUIRE_FALSE(nowhere.has_value());
    CHECK(nowhere.error().message.starts_with("/no/such/folder: cannot be made"));
}

TEST_CASE("mail store: an mbox belongs to one process") {
    const place where;
    const bhm::store_options chosen{.folder = where.path(), .format = store_format::mbox};
    const auto store = open(chosen);
    const auto other = bhm::mail_store::open(chosen, "host");
    REQUIRE_FALSE(other.has_value());
    CHECK(other.error().message.find("another process has it") != std::string::npos);
}

TEST_CASE("mail store: a sample is a share, and the same for the same mail") {
    const place where;
    const auto store = open({.folder = where.path(), .sample = 10});
    std::size_t wanted = 0;
    for (std::uint64_t session = 1; session <= 100; ++session) {
        for (std::uint64_t message = 1; message <= 100; ++message) {
            const bool one = store->wants(session, message);
            CHECK(one == store->wants(session, message));
            wanted += one ? 1 : 0;
        }
    }
    CHECK(wanted > 880);
    CHECK(wanted < 1120);
}
