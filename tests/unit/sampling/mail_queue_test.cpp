// SPDX-License-Identifier: GPL-3.0-or-later
#include "sampling/mail_queue.hpp"

#include <catch2/catch.hpp>

#include <filesystem>
#include <fstream>
#include <string>

#include <sys/stat.h>
#include <unistd.h>

using namespace postal;
using namespace std::chrono_literals;
namespace fs = std::filesystem;

namespace {

// A folder that goes with it.
struct folder {
    fs::path path = fs::temp_directory_path() / fmt::format("postal-queue-{}", ::getpid());
    folder() { fs::create_directories(path); }
    ~folder() { fs::remove_all(path); }
    void file(const std::string& name) const {
        fs::create_directories((path / name).parent_path());
        std::ofstream(path / name) << "x";
    }
    void below(const std::string& name) const { fs::create_directories(path / name); }
    base::expected<sampling::mail_queue> open(sampling::queue_kind kind,
                                              std::chrono::nanoseconds limit = 10s) const {
        return sampling::mail_queue::open({kind, path.string(), ""}, "q", limit);
    }
    double counted(sampling::queue_kind kind) const {
        return open(kind).value().count(10s).value().front().value;
    }
};

}  // namespace

TEST_CASE("mail queue: Postfix's queues, hashed or not") {
    const folder at;
    at.file("active/4Xa1");
    at.file("active/.hidden");
    at.file("incoming/4Xa2");
    at.file("deferred/A/4Xa3");
    at.file("deferred/A/4Xa4");
    at.file("deferred/F/0/4Xa5");
    at.file("deferred/longer/4Xa6");  // no hash
    at.file("defer/A/4Xa3");          // a log of what happened
    at.file("hold/4Xa7");
    at.below("maildrop");
    fs::create_symlink(at.path / "active/4Xa1", at.path / "active/link");
    const auto queue = at.open(sampling::queue_kind::postfix);
    REQUIRE(queue.has_value());
    const auto counted = queue->count(10s);
    REQUIRE(counted.has_value());
    const std::vector<std::pair<std::string, double>> wanted{{"q", 5},          {"q maildrop", 0},
                                                             {"q incoming", 1}, {"q active", 1},
                                                             {"q deferred", 3}, {"q hold", 1}};
    REQUIRE(counted->size() == wanted.size());
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        CHECK((*counted)[i].name == wanted[i].first);
        CHECK((*counted)[i].value == wanted[i].second);
        CHECK((*counted)[i].unit == "messages");
        CHECK((*counted)[i].waiting == (i == 0));
    }
}

TEST_CASE("mail queue: Exim's header files, split or not, and OpenSMTPD's folders of messages") {
    const folder at;
    for (const char* name :
         {"input/1rABCD-000001-Xy-H", "input/1rABCD-000001-Xy-D", "input/1rABCD-000001-Xy-J",
          "input/B/1rABCB-000002-Xy-H", "input/B/1rABCB-000002-Xy-D", "input/BB/1rABCB-000003-Xy-H",
          "input/-H"})
        at.file(name);
    CHECK(at.counted(sampling::queue_kind::exim) == 2);
    for (const char* name : {"queue/3f/3f0a1b2c/message", "queue/3f/3f0a1b2c/3f0a1b2c00000001",
                             "queue/3f/3f0a1b2c/3f0a1b2c00000002", "queue/a0/a0000001/message",
                             "queue/a0/a000000/message", "queue/a0000002/message",
                             "queue/zz/a0000003/m", "incoming/b0000001/message"})
        at.file(name);
    CHECK(at.counted(sampling::queue_kind::opensmtpd) == 2);
}

TEST_CASE("mail queue: chasquid's items, and Courier's control files") {
    const folder at;
    for (const char* name : {"queue/m:pm4Ba2cT_-Y", "queue/m:0", "queue/m:", "queue/.m:tmp123",
                             "queue/other", "queue/d/m:1", "m:2"})
        at.file(name);
    CHECK(at.counted(sampling::queue_kind::chasquid) == 2);
    for (const char* name : {"msgs/12/C4711", "msgs/12/D4711", "msgs/0/C4712", "msgs/C4713",
                             "msgs/0/C", "msgs/0/C4714.x", "msgs/ab/C4715", "tmp/1/C4716"})
        at.file(name);
    CHECK(at.counted(sampling::queue_kind::courier) == 2);
}

TEST_CASE("mail queue: what is missing, and what would be right") {
    const folder at;
    const auto none = at.open(sampling::queue_kind::postfix);
    REQUIRE(none.has_error());
    CHECK_THAT(none.error().message, Catch::Contains("/active: No such file") &&
                                         Catch::Contains("the directory that has active in it"));
    at.below("active");
    CHECK(at.open(sampling::queue_kind::postfix).has_value());
    CHECK(at.open(sampling::queue_kind::exim).has_error());
    at.below("queue");
    for (int i = 0; i < 2000; ++i)
        at.file(fmt::format("active/{}", i));
    const auto late = at.open(sampling::queue_kind::postfix, 0s);
    REQUIRE(late.has_error());
    CHECK_THAT(late.error().message, Catch::Contains("took longer"));
}

TEST_CASE("mail queue: who may not read it is told who may") {
    if (::geteuid() != 0) return;  // only root can become somebody else
    const folder at;
    at.below("active");
    ::chmod((at.path / "active").c_str(), 0700);
    REQUIRE(::chown((at.path / "active").c_str(), 1, 1) == 0);
    // access(2) asks for the real user.
    REQUIRE(::setresuid(65534, 65534, 0) == 0);
    const auto refused = at.open(sampling::queue_kind::postfix);
    REQUIRE(::setresuid(0, 0, 0) == 0);
    REQUIRE(refused.has_error());
    CHECK_THAT(refused.error().message,
               Catch::Contains("Permission denied; run as root, or as daemon"));
}

TEST_CASE("mail queue: Postfix says where its queue is") {
    if (::access("/usr/sbin/postconf", X_OK) != 0) return;
    const auto found =
        sampling::mail_queue::open({sampling::queue_kind::postfix, "", ""}, "q", 10s);
    if (found) CHECK(found->directory().starts_with('/'));
    if (!found) CHECK_THAT(found.error().message, Catch::Contains("/active"));
}
