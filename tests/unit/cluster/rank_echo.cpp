// SPDX-License-Identifier: GPL-3.0-or-later
// One rank of tests/cluster/test_transport.py: sends parcels of several lengths to every rank,
// hears theirs, and says in FOLDER/rank-N how that went; a launcher may mix what ranks print.
//
//     rank_echo FOLDER           exits 0 when all parcels came whole and in order
//     rank_echo FOLDER lonely    the last rank is killed while it sends; exits 0 when the others
//                                still talk
#include "cluster/launcher.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

using postal::cluster::transport;

namespace {

constexpr std::array<std::size_t, 4> lengths{0, 1, 70'000, 5'000'000};
constexpr auto patience = std::chrono::seconds{30};
constexpr auto pause = std::chrono::milliseconds{1};

std::string content(unsigned from, unsigned to, std::size_t length) {
    std::string octets(length, '\0');
    for (std::size_t i = 0; i < length; ++i)
        octets[i] = static_cast<char>((from * 31 + to * 7 + i * 13 + i / 251) & 0xffU);
    return octets;
}

struct outcome {
    bool good;
    std::string said;
};

outcome exchange(transport& others) {
    const unsigned own = others.rank();
    for (const std::size_t length : lengths)
        for (unsigned to = 0; to < others.ranks(); ++to)
            others.send(to, content(own, to, length));

    std::vector<std::size_t> heard(others.ranks(), 0);
    std::size_t left = lengths.size() * others.ranks();
    const auto deadline = std::chrono::steady_clock::now() + patience;
    while (left > 0 || others.unsent() > 0) {
        if (std::chrono::steady_clock::now() > deadline) {
            return {false, fmt::format("rank {}: {} parcels are missing, {} have not left", own,
                                       left, others.unsent())};
        }
        const auto one = others.receive();
        if (!one) {
            std::this_thread::sleep_for(pause);
            continue;
        }
        std::size_t& next = heard.at(one->from);
        if (next == lengths.size() || one->octets != content(one->from, own, lengths.at(next))) {
            return {false, fmt::format("rank {}: parcel {} of rank {} is wrong: {} octets", own,
                                       next, one->from, one->octets.size())};
        }
        ++next;
        --left;
    }
    return {true, fmt::format("rank {} of {}: {} parcels", own, others.ranks(),
                              lengths.size() * others.ranks())};
}

// The last rank begins a long parcel to rank 0 and is killed; the others still reach each other.
outcome survive(transport& others) {
    const unsigned last = others.ranks() - 1;
    if (others.rank() == last) {
        others.send(0, content(last, 0, lengths.back()));
        kill(getpid(), SIGKILL);
    }
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds{2};
    others.send(last, content(others.rank(), last, lengths.back()));
    unsigned heard = 0;
    for (unsigned to = 0; to < last; ++to)
        others.send(to, "still here");
    while (std::chrono::steady_clock::now() < end) {
        const auto one = others.receive();
        if (!one) std::this_thread::sleep_for(pause);
        if (one && one->octets == "still here") ++heard;
    }
    return {heard == last, fmt::format("rank {} heard {} survivors", others.rank(), heard)};
}

}  // namespace

int main(int count, char** words) {
    const auto place = postal::cluster::launched_here();
    auto others = postal::cluster::open_transport();
    if (!others || count < 2) {
        std::fprintf(stderr, "%s\n", others ? "no folder" : others.error().message.c_str());
        return 2;
    }
    transport& opened = **others;
    if (!place || place->rank != opened.rank() || place->ranks != opened.ranks()) {
        std::fprintf(stderr, "MPI says rank %u of %u, the environment does not\n", opened.rank(),
                     opened.ranks());
        return 1;
    }
    const bool lonely = count > 2;
    const auto [good, said] = lonely ? survive(opened) : exchange(opened);
    const std::filesystem::path folder = words[1];
    std::ofstream{folder / fmt::format("rank-{}", opened.rank())} << said << '\n';
    opened.close(!lonely);
    if (lonely) _exit(good ? 0 : 1);
    return good ? 0 : 1;
}
