// SPDX-License-Identifier: GPL-3.0-or-later
#include "postal/envelope_options.hpp"

#include <algorithm>
#include <utility>

#include "base/text.hpp"
#include "proto/smtp/esmtp_parameters.hpp"

namespace postal::sender {
namespace {

using base::expected;

std::string upper(std::string_view text) {
    std::string result(text);
    for (char& c : result) {
        if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
    }
    return result;
}

expected<void> take(std::string_view key, std::string_view value, dsn_request& into) {
    const bool notify = key == "notify";
    if (!notify && key != "ret") {
        return base::fail("\"{}\" is not known; there are notify= and ret=",
                          base::printable(key, 80));
    }
    std::string& target = notify ? into.notify : into.ret;
    if (!target.empty()) return base::fail("{} is given twice", key);
    std::string said = upper(value);
    if (notify) std::replace(said.begin(), said.end(), '+', ',');
    const bool good = notify ? value.find(',') == value.npos && proto::is_notify_value(said)
                             : proto::is_ret_value(said);
    if (!good) {
        return base::fail(
            "\"{}\" is {}", base::printable(value, 80),
            notify ? "not never, nor some of success+failure+delay" : "neither full nor hdrs");
    }
    target = std::move(said);
    return {};
}

}  // namespace

expected<dsn_request> parse_dsn(std::string_view text) {
    dsn_request result;
    for (const std::string_view piece : base::split(text, ',')) {
        const std::size_t equals = piece.find('=');
        if (equals == std::string_view::npos) {
            return base::fail("\"{}\" is not as in notify=success+failure,ret=hdrs",
                              base::printable(text, 80));
        }
        const auto done = take(piece.substr(0, equals), piece.substr(equals + 1), result);
        if (!done) return done.error();
    }
    result.wanted = true;
    return result;
}

bool passed_parameters::has(std::string_view keyword) const noexcept {
    return std::any_of(given.begin(), given.end(), [keyword](const std::string& one) {
        return base::iequals(proto::esmtp_keyword(one), keyword);
    });
}

cli::setter passed_parameter(passed_parameters& target) {
    return [&target](const std::string& parameter) -> expected<void> {
        const std::string_view keyword = proto::esmtp_keyword(parameter);
        if (keyword.empty()) {
            return base::fail("\"{}\" is not KEY or KEY=VALUE as RFC 5321 has it",
                              base::printable(parameter, 80));
        }
        if (target.has(keyword)) return base::fail("{} is given twice", keyword);
        target.given.push_back(parameter);
        if (!target.text.empty()) target.text += ' ';
        target.text += parameter;
        return {};
    };
}

expected<void> check(const dsn_request& dsn, const passed_parameters& mail,
                     const passed_parameters& rcpt) {
    if (!dsn.wanted) return {};
    for (const std::string_view keyword : {"RET", "ENVID", "NOTIFY", "ORCPT"}) {
        const bool of_mail = keyword == "RET" || keyword == "ENVID";
        if (!(of_mail ? mail : rcpt).has(keyword)) continue;
        return base::fail("--{}-parameter: {} is said by --dsn; leave one of the two out",
                          of_mail ? "mail" : "rcpt", keyword);
    }
    return {};
}

}  // namespace postal::sender
