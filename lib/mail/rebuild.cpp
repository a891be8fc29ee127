// SPDX-License-Identifier: GPL-3.0-or-later
// See rebuild.hpp.
#include "mail/rebuild.hpp"

#include "mail/message_factory.hpp"

#include <algorithm>
#include <utility>

namespace postal::mail {
namespace {

constexpr std::size_t most_sources = 8;

std::string_view without_final_newline(std::string_view body) noexcept {
    if (body.ends_with("\r\n")) body.remove_suffix(2);
    return body;
}

}  // namespace

base::expected<std::string> body_rebuilder::body(const identity& id) {
    if (id.kind == body_kind::corpus)
        return base::fail("real mail cannot be remade from its identity");
    if (id.head > id.size) {
        return base::fail("no sender makes a message of {} octets with headers of {}", id.size,
                          id.head);
    }
    const std::uint64_t octets = id.size - id.head;
    if (octets > limit_) {
        return base::fail("a body of {} octets is above the limit of {}", octets, limit_);
    }
    body_parts parts;
    base::random_source random = body_random(id);
    source_for(id.seed, id.kind).cut(random, octets, parts);
    std::string whole;
    whole.reserve(static_cast<std::size_t>(octets));
    for (const std::string_view part : parts.raw)
        whole += part;
    return {boost::system::in_place_value, std::move(whole)};
}

const body_source& body_rebuilder::source_for(std::uint64_t seed, body_kind kind) {
    for (const kept& each : sources_) {
        if (each.seed == seed && each.made->kind() == kind) return *each.made;
    }
    if (sources_.size() == most_sources) sources_.erase(sources_.begin());
    sources_.push_back({seed, make_body_source(seed, kind)});
    return *sources_.back().made;
}

std::optional<std::size_t> first_difference(std::string_view made,
                                            std::string_view received) noexcept {
    // A final CRLF is supplied where it is missing, unless the body is empty: empty and "\r\n"
    // differ.
    if (!made.empty() && !received.empty()) {
        made = without_final_newline(made);
        received = without_final_newline(received);
    }
    const auto [a, b] = std::mismatch(made.begin(), made.end(), received.begin(), received.end());
    if (a == made.end() && b == received.end()) return std::nullopt;
    return static_cast<std::size_t>(a - made.begin());
}

}  // namespace postal::mail
