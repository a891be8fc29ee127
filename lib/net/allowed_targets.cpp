// SPDX-License-Identifier: GPL-3.0-or-later
#include "net/allowed_targets.hpp"

#include <algorithm>
#include <utility>

#include "base/text.hpp"

namespace postal::net {

namespace {

using base::expected;

// An unspecified address is this host, for connect(2).
constexpr std::string_view without_being_named =
    "127.0.0.0/8,::1,0.0.0.0,::,10.0.0.0/8,172.16.0.0/12,192.168.0.0/16,169.254.0.0/16,fe80::/10,"
    "fc00::/7";

const std::vector<address_range>& ranges_without_being_named() {
    static const std::vector<address_range> all = *parse_address_ranges(without_being_named);
    return all;
}

bool any_contains(const std::vector<address_range>& ranges, const ip_address& one) {
    return std::any_of(ranges.begin(), ranges.end(),
                       [&](const address_range& range) { return range.contains(one); });
}

// Without regard to case and to the dot of the root (RFC 1034 3.1).
std::string folded(std::string_view host) {
    if (host.ends_with('.')) host.remove_suffix(1);
    return base::lower(host);
}

}  // namespace

expected<void> allowed_targets::add(std::string_view text) {
    if (text.find('/') != std::string_view::npos && !text.starts_with("unix:")) {
        auto range = parse_address_range(text);
        if (!range) return range.error();
        ranges_.push_back(*range);
        return {};
    }
    const auto where = parse_endpoint(text, 0);
    if (!where) return where.error();
    if (where->is_unix() || where->port != 0 || where->fresh_lookup) {
        return base::fail(
            "'{}' is no host; give a name, an address or a range of them, without a port", text);
    }
    const auto ip = parse_ip(where->host);
    if (!ip) {
        hosts_.push_back(folded(where->host));
        return {};
    }
    auto range = parse_address_range(where->host);
    if (!range) return range.error();
    ranges_.push_back(*range);
    return {};
}

bool allowed_targets::names(const endpoint& where) const {
    return std::find(hosts_.begin(), hosts_.end(), folded(where.host)) != hosts_.end();
}

bool allowed_targets::covers(const address& one) const {
    const auto ip = ip_endpoint_of(*one.data());
    if (!ip) return one.protocol().family() == AF_UNIX;
    return any_contains(ranges_without_being_named(), ip->address) ||
           any_contains(ranges_, ip->address);
}

bool allowed_targets::allow(const endpoint& where, const std::vector<address>& all) const {
    return check(where, all).has_value();
}

expected<void> allowed_targets::check(const endpoint& where,
                                      const std::vector<address>& all) const {
    if (where.is_unix() || names(where)) return {};
    const auto foreign =
        std::find_if(all.begin(), all.end(), [&](const address& one) { return !covers(one); });
    if (foreign == all.end()) return {};
    const auto ip = ip_endpoint_of(*foreign->data());
    const std::string text = ip ? ip->address.text() : to_text(*foreign);
    return base::fail(
        "'{}': {}{} is neither loopback nor private, and load belongs to test machines of one's "
        "own; if it is one, give --target-is-mine {}",
        where.text, text == where.host ? "" : "its address ", text, where.host);
}

}  // namespace postal::net
