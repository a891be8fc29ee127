// SPDX-License-Identifier: GPL-3.0-or-later
// AUTH (RFC 4954): the lines of an exchange; what they mean is the owner's to say.
#include "proto/base64.hpp"
#include "proto/smtp/server.hpp"
#include "proto/smtp/server_commands.hpp"

#include <algorithm>

#include "base/text.hpp"

namespace postal::proto {
namespace {

bool lists(std::string_view names, std::string_view wanted) {
    const auto all = base::fields(names);
    return std::any_of(all.begin(), all.end(),
                       [wanted](std::string_view one) { return base::iequals(one, wanted); });
}

}  // namespace

std::size_t smtp_server::longest_line(std::string_view input) const noexcept {
    const bool auth =
        mode_ == mode::auth || (!auth_mechanisms_.empty() && lines_.begins("AUTH", input));
    return auth ? max_auth_line : max_command_line;
}

server_step smtp_server::on_auth(std::string_view argument, std::string& out) {
    if (auth_mechanisms_.empty())
        return respond(replies::not_implemented, server_stage::other, out);
    const auto refuse = [&](const server_reply& reply) {
        return respond(reply, server_stage::auth, out);
    };
    if (state_ == state::initial) return refuse(replies::greet_first);
    if (state_ != state::greeted) return refuse(replies::auth_in_mail);
    if (authenticated_) return refuse(replies::auth_twice);
    const auto words = base::fields(argument);
    if (words.empty() || words.size() > 2) return refuse(replies::auth_syntax);
    if (lists(auth_over_tls_, words[0])) return refuse(replies::auth_needs_tls);
    if (!lists(auth_mechanisms_, words[0])) return refuse(replies::auth_unknown);
    auth_ = std::make_unique<auth_exchange>();
    auth_->mechanism = words[0];
    auth_->initial = words.size() == 2;
    if (auth_->initial && words[1] != "=") {
        auto octets = from_base64(words[1]);
        if (!octets) return end_auth(replies::auth_not_base64, out);
        auth_->octets = std::move(*octets);
    }
    return {
        .event = server_event::auth_begin, .stage = server_stage::auth, .text = auth_->mechanism};
}

const std::string* smtp_server::auth_initial() const noexcept {
    return auth_ && auth_->initial ? &auth_->octets : nullptr;
}

void smtp_server::ask_auth(std::string_view challenge, std::string& out) {
    out.append("334 ").append(to_base64(challenge)).append("\r\n");
    mode_ = mode::auth;
}

bool smtp_server::answer_auth(const server_reply& answer, std::string& out) {
    append_reply(out, answer);
    authenticated_ = answer.positive();
    mode_ = mode::command;
    auth_.reset();
    if (authenticated_ || !too_many_errors()) return false;
    append_reply(out, replies::too_many_errors);
    return true;
}

server_step smtp_server::run_auth_line(std::string_view line, std::string& out) {
    if (line == "*") return end_auth(replies::auth_cancelled, out);
    auto octets = from_base64(line);
    if (!octets) return end_auth(replies::auth_not_base64, out);
    auth_->octets = std::move(*octets);
    return {.event = server_event::auth_line, .stage = server_stage::auth, .text = auth_->octets};
}

std::string without_secret(std::string_view line) {
    const auto words = base::fields(base::trim(line));
    if (words.size() < 3 || !base::iequals(words[0], "AUTH")) return std::string(line);
    return std::string(words[0]).append(" ").append(words[1]).append(" ***\r\n");
}

server_step smtp_server::end_auth(const server_reply& reply, std::string& out) {
    mode_ = mode::command;
    auth_.reset();
    return respond(reply, server_stage::auth, out);
}

}  // namespace postal::proto
