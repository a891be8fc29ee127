// SPDX-License-Identifier: GPL-3.0-or-later
// A context that works says so, and is ended by nothing that a peer does.
#include "net/tls_check.hpp"

#include <catch2/catch.hpp>

#include "net/tls_backend.hpp"

using namespace postal;

namespace {

std::shared_ptr<const net::tls_context> made(const net::tls_settings& settings) {
    auto context = net::make_tls_context(settings);
    REQUIRE(context.has_value());
    return *context;
}

}  // namespace

TEST_CASE("tls check: each library shakes hands with itself", "[net]") {
    for (const net::tls_backend backend : net::tls_backends()) {
        for (const net::tls_role role : {net::tls_role::client, net::tls_role::server}) {
            for (const net::tls_version only : {net::tls_version::tls12, net::tls_version::tls13}) {
                CAPTURE(net::to_text(backend), static_cast<int>(role), static_cast<int>(only));
                net::tls_settings settings;
                settings.backend = backend;
                settings.role = role;
                settings.least = settings.most = only;
                CHECK(net::why_broken(*made(settings)) == std::nullopt);
            }
        }
    }
}

TEST_CASE("tls check: who verifies may refuse everybody, and is not broken", "[net]") {
    for (const net::tls_backend backend : net::tls_backends()) {
        CAPTURE(net::to_text(backend));
        net::tls_settings settings;
        settings.backend = backend;
        settings.verify = true;
        CHECK(net::why_broken(*made(settings)) == std::nullopt);
    }
}

TEST_CASE("tls check: a failure ends the run only where no handshake works", "[net]") {
    const auto context = made({});
    const net::tls_problem library{std::string(net::problems::library), "malloc failure"};
    CHECK_NOTHROW(net::end_if_broken(*context, net::fault::tls, library));
    CHECK_NOTHROW(net::end_if_broken(*context, net::fault::resources, {}));
    CHECK_NOTHROW(net::end_if_broken(*context, net::fault::closed, {}));
}
