// SPDX-License-Identifier: GPL-3.0-or-later
#include "behaviour/situation.hpp"

#include "base/text.hpp"

#include <algorithm>

namespace postal::behaviour {
namespace {

// Octets of an address as net::ip_address keeps it, IPv4 behind the 12 of its mapping.
constexpr std::size_t v6_network = 8;
constexpr std::size_t v4_network = 15;
constexpr std::size_t v4_address = 16;

// The network that the first octets of the client's address name; empty over a Unix socket.
std::string network_text(const net::ip_address* client, std::size_t octets_of_v4) {
    if (client == nullptr) return {};
    net::ip_address network = *client;
    const std::size_t kept = client->is_v4() ? octets_of_v4 : v6_network;
    std::fill(network.octets.begin() + kept, network.octets.end(), std::uint8_t{0});
    return network.text();
}

std::string folded_address(const proto::path* of) {
    std::string room;
    return base::lower(address_text(of, room).value_or(""));
}

}  // namespace

std::optional<std::string_view> address_text(const proto::path* of, std::string& room) {
    if (of == nullptr) return std::nullopt;
    if (of->null) return "<>";
    // Without a domain the quotes tell an @ of the local part from the one before a domain.
    if (!of->quoted || of->domain.empty()) return of->mailbox;
    room = proto::unquoted_mailbox(*of);
    return room;
}

std::string key_text(key per, const situation& here) {
    switch (per) {
        case key::all:
            return {};
        case key::listener:
            return std::string(here.listener);
        case key::client:
            return network_text(here.client, v4_address);
        case key::helo:
            return base::lower(here.helo.value_or(""));
        case key::sender:
            return folded_address(here.sender);
        case key::recipient:
            return folded_address(here.recipient);
        case key::domain:
            return here.recipient == nullptr ? std::string{} : base::lower(here.recipient->domain);
        case key::session:
            return std::to_string(here.session);
    }
    return {};
}

std::string triplet_text(const situation& here) {
    // No address has a line end in it.
    std::string text = network_text(here.client, v4_network);
    text.append(1, '\n').append(folded_address(here.sender));
    text.append(1, '\n').append(folded_address(here.recipient));
    return text;
}

}  // namespace postal::behaviour
