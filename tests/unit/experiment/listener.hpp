// SPDX-License-Identifier: GPL-3.0-or-later
// A server for tests: listens on a port, or a Unix socket, and lets everybody in.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <catch2/catch.hpp>

#include <string>
#include <vector>

namespace test {

// Free when it was asked for.
inline std::uint16_t free_port() {
    const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* const plain = reinterpret_cast<sockaddr*>(&address);
    if (::bind(socket, plain, size) != 0 || ::getsockname(socket, plain, &size) != 0) FAIL("bind");
    ::close(socket);
    return ntohs(address.sin_port);
}

// In front of the program: what it does before it listens, and behind.
inline std::vector<std::string> listener(std::uint16_t port, const std::string& before = "",
                                         const std::string& behind = "time.sleep(60)") {
    return {"/usr/bin/python3", "-c",
            "import os, socket, sys, time\n" + before +
                "\ns = socket.socket()\n"
                "s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)\n"
                "s.bind(('127.0.0.1', " +
                std::to_string(port) + "))\ns.listen()\n" + behind + "\n"};
}

inline std::string at(std::uint16_t port) {
    return "127.0.0.1:" + std::to_string(port);
}

}  // namespace test
