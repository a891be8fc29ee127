// SPDX-License-Identifier: GPL-3.0-or-later
// The protocols of systemd, spoken to sockets of the test's own.
#include "os/service_manager.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>

#include "../temporary_folder.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <string>

using namespace postal;

namespace {

using folder = test::temporary_folder;

int bound_socket(int type, const std::string& path) {
    const int socket = ::socket(AF_UNIX, type | SOCK_CLOEXEC, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::copy(path.begin(), path.end(), address.sun_path);
    REQUIRE(::bind(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
    return socket;
}

// In a process of its own, as systemd starts one: the socket is descriptor 3. Returns what
// passed_sockets() said, or what else was wrong.
std::string taken(int passed) {
    std::array<int, 2> ends{};
    REQUIRE(::pipe2(ends.data(), O_CLOEXEC) == 0);
    const pid_t taker = ::fork();
    if (taker == 0) {
        const int answer = ::fcntl(ends[1], F_DUPFD_CLOEXEC, 10);
        ::dup2(passed, 3);
        ::setenv("LISTEN_PID", std::to_string(::getpid()).c_str(), 1);
        ::setenv("LISTEN_FDS", "1", 1);
        std::string text;
        const auto sockets = os::passed_sockets();
        if (sockets.has_error())
            text = sockets.error().message;
        else if (*sockets != std::vector<int>{3})
            text = "not descriptor 3";
        else if (::fcntl(3, F_GETFD) != FD_CLOEXEC)
            text = "not close-on-exec";
        else if (::getenv("LISTEN_FDS") != nullptr)
            text = "the environment still has it";
        else
            text = "taken";
        const bool told = ::write(answer, text.data(), text.size()) > 0;
        ::_exit(told ? 0 : 1);
    }
    ::close(ends[1]);
    std::array<char, 512> buffer{};
    const ssize_t got = ::read(ends[0], buffer.data(), buffer.size());
    ::close(ends[0]);
    REQUIRE(::waitpid(taker, nullptr, 0) == taker);
    return {buffer.data(), static_cast<std::size_t>(std::max<ssize_t>(got, 0))};
}

}  // namespace

TEST_CASE("service manager: without one there are no sockets, and nobody is told") {
    ::unsetenv("LISTEN_PID");
    ::unsetenv("LISTEN_FDS");
    ::unsetenv("NOTIFY_SOCKET");
    const auto sockets = os::passed_sockets();
    REQUIRE(sockets.has_value());
    CHECK(sockets->empty());
    CHECK_FALSE(os::notify("READY=1"));
}

TEST_CASE("service manager: a listening stream socket is taken, anything else is one line") {
    const folder place;
    const int listening = bound_socket(SOCK_STREAM, place / "listening");
    REQUIRE(::listen(listening, 1) == 0);
    CHECK(taken(listening) == "taken");
    ::close(listening);

    const std::string refused =
        "descriptor 3 of the service manager is not a listening stream socket; the unit needs "
        "ListenStream= and Accept=no";
    const int idle = bound_socket(SOCK_STREAM, place / "idle");
    CHECK(taken(idle) == refused);
    ::close(idle);
    const int datagrams = bound_socket(SOCK_DGRAM, place / "datagrams");
    CHECK(taken(datagrams) == refused);
    ::close(datagrams);
    CHECK(taken(STDERR_FILENO) == refused);
}

TEST_CASE("service manager: it is told the state") {
    const folder place;
    const int manager = bound_socket(SOCK_DGRAM, place / "notify");
    ::setenv("NOTIFY_SOCKET", (place / "notify").c_str(), 1);
    const auto received = [manager] {
        std::array<char, 256> buffer{};
        const ssize_t got = ::recv(manager, buffer.data(), buffer.size(), MSG_DONTWAIT);
        return std::string(buffer.data(), static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    };
    CHECK(os::notify("READY=1\nSTATUS=2 sockets"));
    CHECK(received() == "READY=1\nSTATUS=2 sockets");
    CHECK(os::notify("STOPPING=1"));
    CHECK(received() == "STOPPING=1");
    ::close(manager);
    CHECK_FALSE(os::notify("READY=1"));
    ::unsetenv("NOTIFY_SOCKET");
}
