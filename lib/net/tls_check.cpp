// SPDX-License-Identifier: GPL-3.0-or-later
#include "net/tls_check.hpp"

#include <array>
#include <stdexcept>
#include <utility>

#include "net/tls_backend.hpp"

namespace postal::net {

namespace {

// Whoever would agree with it: the other role, without a certificate of anybody's.
tls_settings settings_of_peer(const tls_settings& of) {
    tls_settings made;
    made.backend = of.backend;
    made.role = of.role == tls_role::server ? tls_role::client : tls_role::server;
    made.least = of.least;
    made.most = of.most;
    made.ciphers = of.ciphers;
    made.groups = of.groups;
    return made;
}

class checked_context final : public tls_context {
  public:
    checked_context(std::shared_ptr<const tls_context> made,
                    std::shared_ptr<const tls_context> peer)
        : made_(std::move(made)), peer_(std::move(peer)) {}

    std::unique_ptr<tls_engine> begin(const tls_peer& peer) const override {
        return made_->begin(peer);
    }
    const std::string& fingerprint() const noexcept override { return made_->fingerprint(); }
    const tls_context& peer() const noexcept { return *peer_; }

  private:
    std::shared_ptr<const tls_context> made_;
    std::shared_ptr<const tls_context> peer_;
};

// One of two engines that shake hands in memory, and what the other has said.
struct side {
    std::unique_ptr<tls_engine> engine;
    std::string heard{};
    tls_status how = tls_status::more;

    void step(std::string& to) {
        std::string_view input = heard;
        tls_wire wire{input, to};
        how = engine->handshake(wire);
        heard.assign(std::string(wire.input));
    }
};

constexpr int most_flights = 8;  // of a handshake, with room to spare

}  // namespace

std::optional<std::string> why_broken(const tls_context& context) {
    const auto& checked = static_cast<const checked_context&>(context);
    side here{checked.begin({.name = "localhost"})};
    side there{checked.peer().begin({.name = "localhost"})};
    if (!here.engine || !there.engine) return "no memory for a connection";
    for (int flight = 0; flight < most_flights; ++flight) {
        for (auto [one, other] : {std::pair{&here, &there}, std::pair{&there, &here}}) {
            if (one->how == tls_status::more) one->step(other->heard);
            if (one->how != tls_status::failed) continue;
            const tls_problem& problem = one->engine->problem();
            if (problem.reason != problems::library) return {};
            return problem.text;
        }
        if (here.how == tls_status::done && there.how == tls_status::done) return {};
    }
    return {};
}

void end_if_broken(const tls_context& context, fault why, const tls_problem& problem) {
    const bool own =
        why == fault::resources || (why == fault::tls && problem.reason == problems::library);
    if (!own) return;
    constexpr int tries = 3;  // memory may be short for a moment
    std::optional<std::string> found;
    for (int i = 0; i < tries; ++i) {
        found = why_broken(context);
        if (!found) return;
    }
    throw std::runtime_error("TLS does not work any more: " + *found);
}

made_tls_context make_checked(const tls_settings& settings,
                              made_tls_context (*make)(const tls_settings&)) {
    auto made = make(settings);
    if (!made) return made;
    auto peer = make(settings_of_peer(settings));
    if (!peer) return peer;
    auto checked = std::make_shared<const checked_context>(std::move(*made), std::move(*peer));
    if (const auto why = why_broken(*checked)) return base::fail("TLS does not work: {}", *why);
    return made_tls_context(std::move(checked));
}

}  // namespace postal::net
