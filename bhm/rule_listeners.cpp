// SPDX-License-Identifier: GPL-3.0-or-later
#include "bhm/rule_listeners.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include <sys/socket.h>

#include "base/text.hpp"
#include "net/endpoint.hpp"
#include "net/ip_address.hpp"

namespace postal::bhm {
namespace {

using base::expected;

bool is_any(const net::ip_address& one) {
    return one == net::parse_ip("0.0.0.0") || one == net::parse_ip("::");
}

bool is_of_this_host(const net::ip_address& one) {
    return net::parse_local_addresses(one.text()).has_value();
}

// Whether a connection that comes in at `place` can have `wanted` as its own end, or `wanted` is
// what is listened on.
bool can_be(const net::address& wanted, const net::address& place) {
    const auto own = net::ip_endpoint_of(*wanted.data());
    const auto at = net::ip_endpoint_of(*place.data());
    if (!own || !at) return wanted == place;
    if (own->port == 0 || (at->port != 0 && at->port != own->port)) return false;
    if (own->address == at->address) return true;
    return is_any(at->address) && at->address.is_v4() == own->address.is_v4() &&
           is_of_this_host(own->address);
}

class places_of_run {
  public:
    // What cannot be looked up is told when it is to be listened on.
    explicit places_of_run(const std::vector<serve::listening_endpoint>& places) {
        for (const serve::listening_endpoint& one : places)
            if (const auto found = net::resolve(one.where))
                all_.insert(all_.end(), found->begin(), found->end());
    }

    bool can_have(const net::address& wanted) const {
        return std::any_of(all_.begin(), all_.end(),
                           [&](const net::address& one) { return can_be(wanted, one); });
    }
    std::string text() const {
        std::vector<std::string> texts;
        for (const net::address& one : all_)
            texts.push_back(net::to_text(one));
        return texts.empty() ? "nothing" : base::join(texts, ", ");
    }

  private:
    std::vector<net::address> all_;
};

// What a connection may have of what `text`, of a rule, stands for.
expected<std::vector<std::string>> met_at(const std::string& text, const places_of_run& places) {
    const auto where = net::parse_endpoint(text, 0);
    if (!where) return where.error();
    const auto found = net::resolve(*where);
    if (!found) return found.error();
    std::vector<std::string> met;
    for (const net::address& one : *found)
        if (places.can_have(one)) met.push_back(net::to_text(one));
    if (met.empty()) {
        return base::fail("\"{}\" can never match: this run listens on {}",
                          base::printable(text, 120), base::printable(places.text(), 300));
    }
    return met;
}

}  // namespace

expected<void> resolve_listeners(behaviour::behaviour& rules,
                                 const std::vector<serve::listening_endpoint>& places) {
    const places_of_run here(places);
    for (behaviour::rule& one : rules.rules) {
        std::vector<std::string> all;
        for (const std::string& text : one.when.listener) {
            const auto met = met_at(text, here);
            if (!met)
                return base::fail("{}:{}: listener: {}", rules.file, one.line, met.error().message);
            all.insert(all.end(), met->begin(), met->end());
        }
        one.when.listener = std::move(all);
    }
    return {};
}

std::string own_end_text(int socket) {
    net::address own;
    auto size = static_cast<socklen_t>(own.capacity());
    if (::getsockname(socket, own.data(), &size) != 0) return {};
    own.resize(size);
    return net::to_text(own);
}

}  // namespace postal::bhm
