// SPDX-License-Identifier: GPL-3.0-or-later
// The file of a Unix socket in folders that belong to others: what these do with its names never
// changes another file.
#include "net/socket_file.hpp"

#include <catch2/catch.hpp>

#include "../temporary_folder.hpp"

#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "net/listener.hpp"

using namespace postal;
namespace fs = std::filesystem;

namespace {

constexpr uid_t stranger = 65534;

bool is_root() {
    return ::geteuid() == 0;
}

using folder = test::temporary_folder;

struct stat status_of(const std::string& path) {
    struct stat is {};
    CHECK(::lstat(path.c_str(), &is) == 0);
    return is;
}

base::file_descriptor fresh_socket() {
    return base::file_descriptor(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
}

bool connects(const std::string& path) {
    const base::file_descriptor client = fresh_socket();
    sockaddr_un to{};
    to.sun_family = AF_UNIX;
    path.copy(to.sun_path, sizeof to.sun_path - 1);
    return ::connect(client.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0;
}

base::expected<std::vector<net::listener>> listen_at(
    asio::io_context& context, const std::string& path,
    std::optional<net::socket_rights> rights = {}) {
    const auto where = net::parse_endpoint("unix:" + path, 0);
    REQUIRE(where.has_value());
    return net::listen(context, *where, rights);
}

// What the folder's owner may do with the names in it.
enum class trick { link, folder_with_link, folder_link };

void play(trick how, const std::string& within, const std::string& target) {
    std::vector<std::string> names;
    for (const auto& one : fs::directory_iterator(within))
        names.push_back(one.path().filename());
    std::error_code ignored;
    fs::remove(within + "/lmtp", ignored);
    fs::create_symlink(target, within + "/lmtp", ignored);
    for (const std::string& name : names) {
        if (!name.starts_with('.') || !fs::is_directory(within + "/" + name, ignored)) continue;
        const std::string room = within + "/" + name;
        fs::rename(room, within + "/moved", ignored);
        if (how == trick::folder_link) fs::create_directory_symlink("..", room, ignored);
        if (how != trick::folder_with_link) continue;
        fs::create_directory(room, ignored);
        fs::create_symlink(target, room + "/lmtp", ignored);
        if (is_root()) CHECK(::chown(room.c_str(), stranger, stranger) == 0);
    }
}

// Runs it in a child, and plays the trick before its system call number `at`; false when there are
// fewer, nothing where processes may not be traced.
std::optional<bool> play_before_call(int at, const std::function<void()>& run,
                                     const std::function<void()>& play) {
    constexpr int no_tracing = 99;
    const pid_t child = ::fork();
    if (child == 0) {
        if (::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) ::_exit(no_tracing);
        ::raise(SIGSTOP);
        run();
        ::_exit(0);
    }
    REQUIRE(child > 0);
    int status = 0;
    int stops = 0;
    bool played = false;
    REQUIRE(::waitpid(child, &status, 0) == child);
    if (WIFEXITED(status) && WEXITSTATUS(status) == no_tracing) return std::nullopt;
    ::ptrace(PTRACE_SETOPTIONS, child, nullptr, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL);
    // Each call stops twice, before and after.
    while (WIFSTOPPED(status)) {
        const bool call = WSTOPSIG(status) == (SIGTRAP | 0x80);
        if (call && ++stops == 2 * at - 1) {
            play();
            played = true;
        }
        if (::ptrace(played ? PTRACE_CONT : PTRACE_SYSCALL, child, nullptr, nullptr) != 0) break;
        if (::waitpid(child, &status, 0) != child) break;
    }
    CHECK(WIFEXITED(status));
    return played;
}

}  // namespace

TEST_CASE(
    "socket file: mode and owner are there before the name is, and it goes with the listener") {
    const folder place;
    asio::io_context context;
    const mode_t before = ::umask(077);
    const net::socket_rights rights{
        .mode = 0660, .user = is_root() ? stranger : ::geteuid(), .group = ::getegid()};
    auto opened = listen_at(context, place / "lmtp", rights);
    ::umask(before);
    REQUIRE(opened.has_value());
    const struct stat is = status_of(place / "lmtp");
    CHECK(S_ISSOCK(is.st_mode));
    CHECK((is.st_mode & 07777U) == 0660);
    CHECK(is.st_uid == rights.user);
    CHECK(place.files() == 1);
    CHECK(net::to_text(opened->front().where) == "unix:" + (place / "lmtp"));
    CHECK(connects(place / "lmtp"));
    net::close(opened->front());
    CHECK(place.files() == 0);
}

TEST_CASE("socket file: without rights the umask decides") {
    const folder place;
    asio::io_context context;
    const mode_t before = ::umask(027);
    auto opened = listen_at(context, place / "lmtp");
    ::umask(before);
    REQUIRE(opened.has_value());
    CHECK((status_of(place / "lmtp").st_mode & 0777U) == 0750);
}

TEST_CASE("socket file: it goes with its owner, and leaves what another has put there") {
    const folder place;
    asio::io_context context;
    REQUIRE(listen_at(context, place / "lmtp").has_value());  // and is thrown away
    CHECK_FALSE(fs::exists(place / "lmtp"));
    {
        auto opened = listen_at(context, place / "lmtp");
        REQUIRE(opened.has_value());
        fs::remove(place / "lmtp");
        std::ofstream(place / "lmtp") << "kept";
    }
    CHECK(fs::exists(place / "lmtp"));
}

TEST_CASE("socket file: what is there already") {
    const folder place;
    asio::io_context context;
    {
        const base::file_descriptor dead = fresh_socket();
        sockaddr_un at{.sun_family = AF_UNIX, .sun_path = {}};
        (place / "dead").copy(at.sun_path, sizeof at.sun_path - 1);
        REQUIRE(::bind(dead.get(), reinterpret_cast<const sockaddr*>(&at), sizeof at) == 0);
    }
    REQUIRE(fs::exists(place / "dead"));
    auto living = listen_at(context, place / "living");
    REQUIRE(living.has_value());
    std::ofstream(place / "file") << "kept";
    fs::create_symlink(place / "file", place / "link");
    fs::create_symlink(place / "dead", place / "link to dead");
    struct row {
        const char* name;
        const char* refusal;
    };
    for (const row& one : {row{"living", "another server does"}, row{"file", "not a socket"},
                           row{"link", "not a socket"}, row{"link to dead", "not a socket"},
                           row{"missing/x", "No such file or directory"}, row{"dead", nullptr}}) {
        INFO(one.name);
        auto opened = listen_at(context, place / one.name);
        CHECK(opened.has_value() == (one.refusal == nullptr));
        if (!opened) CHECK(opened.error().message.find(one.refusal) != std::string::npos);
        if (opened) CHECK(connects(place / one.name));
    }
    CHECK(connects(place / "living"));
    CHECK(fs::file_size(place / "file") == 4);
}

TEST_CASE("socket file: a successor's is not removed") {
    const folder place;
    asio::io_context context;
    auto first = listen_at(context, place / "lmtp");
    REQUIRE(first.has_value());
    fs::rename(place / "lmtp", place / "moved");
    auto second = listen_at(context, place / "lmtp");
    REQUIRE(second.has_value());
    net::close(first->front());
    CHECK(connects(place / "lmtp"));

    // Nor one in a folder that has taken the place of the first's.
    const folder other;
    fs::create_directory(other / "a");
    auto here = listen_at(context, other / "a/lmtp");
    REQUIRE(here.has_value());
    fs::rename(other / "a", other / "b");
    fs::create_directory(other / "a");
    std::ofstream(other / "a/lmtp") << "kept";
    net::close(here->front());
    CHECK(fs::file_size(other / "a/lmtp") == 4);
    CHECK_FALSE(fs::exists(other / "b/lmtp"));
}

TEST_CASE("socket file: the owner of its folder cannot give another file its rights") {
    const net::socket_rights rights{.mode = 0666,
                                    .user = is_root() ? stranger : static_cast<uid_t>(-1)};
    int calls = 0;
    for (const trick how : {trick::link, trick::folder_with_link, trick::folder_link}) {
        bool more = true;
        for (int at = 1; more && at < 200; ++at, ++calls) {
            const folder place;
            const std::string target = place / "target";
            const std::string within = place / "private";
            std::ofstream(target) << "secret";
            REQUIRE(::chmod(target.c_str(), 0600) == 0);
            fs::create_directory(within);
            if (is_root()) REQUIRE(::chown(within.c_str(), stranger, stranger) == 0);
            const struct stat before = status_of(target);
            const auto played = play_before_call(
                at,
                [&] {
                    const base::file_descriptor made = fresh_socket();
                    auto file = net::socket_file::listen(made.get(), within + "/lmtp", rights, 1);
                    if (file) file->remove();
                },
                [&] { play(how, within, target); });
            if (!played) {
                WARN("no process may be traced here");
                return;
            }
            more = *played;
            const struct stat now = status_of(target);
            INFO("before call " << at);
            CHECK(now.st_mode == before.st_mode);
            CHECK(now.st_uid == before.st_uid);
            CHECK(now.st_gid == before.st_gid);
            CHECK(fs::file_size(target) == 6);
        }
        CHECK_FALSE(more);
    }
    CHECK(calls > 30);  // it was watched at all
}
