// SPDX-License-Identifier: GPL-3.0-or-later
#include "program/auth_options.hpp"

#include "base/text.hpp"
#include "cli/binders.hpp"

namespace postal::program {
namespace {

using base::expected;
using client::auth_options;
using client::auth_way;

// The word for doing without is compared as it is, so that "login" is not the mechanism LOGIN.
cli::setter method(auth_options& target, const std::string& without) {
    return [&target, without](const std::string& given) -> expected<void> {
        if (given == without) {
            target.way = auth_way::without_sasl;
        } else if (given == "auto") {
            target.way = auth_way::strongest;
        } else if (const auto found = sasl::mechanism_of(given)) {
            target.way = auth_way::named;
            target.named = *found;
        } else {
            return base::fail("\"{}\" is no mechanism; give {}, auto or one of {}",
                              base::printable(given, 60), without,
                              sasl::to_text(sasl::mechanism_set::all()));
        }
        return {};
    };
}

}  // namespace

std::vector<cli::option> auth_option_rows(auth_options& target, const std::string& without) {
    cli::option auth{"--auth", without + "|auto|MECHANISM", without,
                     "SASL: the strongest mechanism that the server offers, or the one named",
                     method(target, without)};
    const std::string mechanisms = sasl::to_text(sasl::mechanism_set::all());
    for (const std::string_view each : base::fields(mechanisms))
        auth.known_values.emplace_back(each);
    return {
        std::move(auth),
        {"--auth-token-file", "FILE", "", "the token for OAUTHBEARER and XOAUTH2",
         cli::text(target.token_file)},
        {"--auth-insecure", "", "", "send passwords and tokens without TLS, too",
         cli::flag(target.insecure)},
    };
}

}  // namespace postal::program
