// SPDX-License-Identifier: GPL-3.0-or-later
#include "proto/smtp/server_commands.hpp"

#include <array>
#include <iterator>
#include <utility>

#include "base/text.hpp"
#include "proto/smtp/server_arguments.hpp"

namespace postal::proto {
namespace {

constexpr unsigned initial = 1, greeted = 2, mail = 4, rcpt = 8, chunks = 16;
constexpr unsigned any = initial | greeted | mail | rcpt | chunks;

// The first four letters of a verb in lower case, as one number: no two verbs share them.
constexpr std::size_t key_length = 4;

constexpr std::uint32_t key_of(std::string_view verb) {
    std::uint32_t key = 0;
    for (std::size_t i = 0; i < key_length; ++i) {
        key = key << 8 | static_cast<unsigned char>(base::ascii_lower(verb[i]));
    }
    return key;
}

}  // namespace

// The most frequent first. RFC 5321 7.3 allows 252 to keep the users to oneself. BDAT checks its
// order itself: its octets must be read whatever the answer is.
constexpr smtp_server::command smtp_server::command::table[] = {
    {"MAIL", greeted, required, in_both, server_stage::mail, false, &smtp_server::on_mail},
    {"RCPT", mail | rcpt, required, in_both, server_stage::rcpt, false, &smtp_server::on_rcpt},
    {"DATA", rcpt, none, in_both, server_stage::data, true, &smtp_server::on_data},
    {"BDAT", any, required, in_both, server_stage::data, false, &smtp_server::on_bdat},
    {"RSET", any, none, in_both, server_stage::rset, true, &smtp_server::on_rset},
    {"NOOP", any, optional, in_both, server_stage::other, false, &smtp_server::answer<replies::ok>,
     true},
    {"QUIT", any, none, in_both, server_stage::quit, true, &smtp_server::on_quit},
    {"EHLO", any, required, in_smtp, server_stage::ehlo, true, &smtp_server::on_ehlo, true},
    {"HELO", any, required, in_smtp, server_stage::ehlo, true, &smtp_server::on_helo, true},
    {"LHLO", any, required, in_lmtp, server_stage::ehlo, true, &smtp_server::on_ehlo, true},
    {"VRFY", any, required, in_both, server_stage::other, false,
     &smtp_server::answer<replies::cannot_verify>, true},
    {"EXPN", any, required, in_both, server_stage::other, false,
     &smtp_server::answer<replies::no_such_list>, true},
    {"HELP", any, optional, in_both, server_stage::other, false, &smtp_server::on_help, true},
    {"STARTTLS", any, optional, in_both, server_stage::tls, true, &smtp_server::on_starttls},
    {"AUTH", any, optional, in_both, server_stage::auth, true, &smtp_server::on_auth},
    {"ETRN", any, optional, in_both, server_stage::other, false,
     &smtp_server::answer<replies::not_implemented>},
    {"TURN", any, optional, in_both, server_stage::other, false,
     &smtp_server::answer<replies::not_implemented>},
    {"SEND", any, optional, in_both, server_stage::other, false,
     &smtp_server::answer<replies::not_implemented>},
    {"SOML", any, optional, in_both, server_stage::other, false,
     &smtp_server::answer<replies::not_implemented>},
    {"SAML", any, optional, in_both, server_stage::other, false,
     &smtp_server::answer<replies::not_implemented>},
};

const smtp_server::command* smtp_server::find_command(std::string_view verb) noexcept {
    static constexpr auto keys = [] {
        std::array<std::uint32_t, std::size(command::table)> made{};
        for (std::size_t i = 0; i < made.size(); ++i)
            made[i] = key_of(command::table[i].verb);
        return made;
    }();
    if (verb.size() < key_length) return nullptr;
    const std::uint32_t key = key_of(verb);
    for (std::size_t i = 0; i < keys.size(); ++i) {
        if (keys[i] != key) continue;
        const command& row = command::table[i];
        const bool same = base::iequals(row.verb.substr(key_length), verb.substr(key_length));
        return same ? &row : nullptr;
    }
    return nullptr;
}

// RFC 5321 4.1.1.1: also ends a transaction. The reply to a greeting has no enhanced codes (RFC
// 2034 4).
server_step smtp_server::on_ehlo(std::string_view argument, std::string& out) {
    end_transaction();
    state_ = state::greeted;
    extended_ = true;
    out.append("250-").append(host_name_).append("\r\n250-PIPELINING\r\n250-SIZE ");
    out.append(std::to_string(config_->max_message));
    out.append("\r\n250-8BITMIME\r\n250-ENHANCEDSTATUSCODES\r\n250-SMTPUTF8\r\n250-CHUNKING\r\n");
    if (config_->offers_tls && !secured_) out.append("250-STARTTLS\r\n");
    if (config_->delivery_options) out.append("250-DSN\r\n250-DELIVERBY\r\n250-MT-PRIORITY\r\n");
    if (!auth_mechanisms_.empty()) out.append("250-AUTH ").append(auth_mechanisms_).append("\r\n");
    out.append("250 HELP\r\n");
    return {.event = server_event::reply,
            .stage = server_stage::ehlo,
            .reply = {250, "", ""},
            .text = argument};
}

server_step smtp_server::on_helo(std::string_view argument, std::string& out) {
    end_transaction();
    state_ = state::greeted;
    extended_ = false;
    server_step step = respond({250, "", host_name_}, server_stage::ehlo, out);
    step.text = argument;
    return step;
}

// RFC 3207 4. Between the chunks of a message nothing else may stand (RFC 3030 2).
server_step smtp_server::on_starttls(std::string_view argument, std::string& out) {
    if (!config_->offers_tls) return respond(replies::not_implemented, server_stage::tls, out);
    if (!argument.empty()) return respond(replies::argument_unwanted, server_stage::tls, out);
    if (secured_) return respond(replies::tls_already, server_stage::tls, out);
    if (state_ == state::chunks) return respond(replies::chunks_begun, server_stage::tls, out);
    return {
        .event = server_event::start_tls, .stage = server_stage::tls, .reply = replies::start_tls};
}

parameter_set smtp_server::known_parameters() const noexcept {
    const bool knows_auth = !auth_mechanisms_.empty() || !auth_over_tls_.empty();
    return (config_->delivery_options ? parameter_set::with_delivery : parameter_set::basic) |
           (knows_auth ? parameter_set::with_auth : parameter_set::basic);
}

server_step smtp_server::on_mail(std::string_view argument, std::string& out) {
    if (config_->requires_tls && !secured_) {
        return respond(replies::tls_first, server_stage::mail, out);
    }
    const auto parsed = parse_mail(argument, config_->bare_users, known_parameters());
    if (!parsed) return respond(parsed.error().reply, server_stage::mail, out);
    // RFC 1870 6.1: refused before a single octet of it has come.
    if (parsed->size > config_->max_message)
        return respond(replies::too_big, server_stage::mail, out);
    path_ = parsed->reverse_path;
    smtputf8_ = parsed->smtputf8;
    octets_ = 0;
    declared_ = parsed->size;
    if (config_->judges_senders) {
        return ask(server_stage::mail, path_.mailbox);
    }
    state_ = state::mail;
    return respond(replies::sender_ok, server_stage::mail, out);
}

server_step smtp_server::on_rcpt(std::string_view argument, std::string& out) {
    if (named_too_many() && too_many_errors())
        return close_with(replies::too_many_errors, server_stage::rcpt, out);
    const auto utf8 = smtputf8_ ? utf8_addresses::allowed : utf8_addresses::refused;
    const auto parsed = parse_rcpt(argument, config_->bare_users, utf8, known_parameters());
    if (!parsed) {
        refused_recipient_ = true;
        return respond(parsed.error().reply, server_stage::rcpt, out);
    }
    if (recipients_ >= config_->max_recipients) {
        return respond(replies::too_many_recipients, server_stage::rcpt, out);
    }
    path_ = *parsed;
    return ask(server_stage::rcpt, path_.mailbox);
}

server_step smtp_server::on_data(std::string_view, std::string& out) {
    decoder_.reset();
    mode_ = mode::data;
    respond(replies::start_data, server_stage::data, out);
    return {.event = server_event::message_begin,
            .stage = server_stage::data,
            .reply = replies::start_data};
}

// RFC 3030 2: the chunk follows at once, and must be read even when it is refused.
server_step smtp_server::on_bdat(std::string_view argument, std::string& out) {
    const auto parsed = parse_bdat(argument);
    if (!parsed) return respond(parsed.error().reply, server_stage::data, out);
    const bool of_message = state_ >= state::rcpt;
    const std::uint64_t before = of_message ? octets_ : 0;
    const std::uint64_t most = config_->most_thrown_away();
    if (before > most || parsed->size > most - before) {
        if (of_message) return refuse_endless_message(out);
        return close_with(replies::endless_chunk, server_stage::data, out);
    }
    mode_ = mode::chunk;
    chunk_left_ = parsed->size;
    chunk_last_ = parsed->last;
    if (state_ == state::initial) chunk_refusal_ = replies::greet_first;
    if (state_ == state::greeted) chunk_refusal_ = replies::mail_first;
    if (state_ == state::mail) {
        const bool smtp = config_->speaks == dialect::smtp;
        chunk_refusal_ =
            smtp && refused_recipient_ ? replies::no_valid_recipient : replies::rcpt_first;
    }
    const bool judged = config_->judges_stages && !chunk_refusal_ && !chunk_last_;
    return judged ? ask(server_stage::chunk, "BDAT") : begin_chunk();
}

server_step smtp_server::begin_chunk() noexcept {
    if (chunk_refusal_ || state_ == state::chunks) return {.event = server_event::go_on};
    state_ = state::chunks;
    decoder_.reset();
    return {.event = server_event::message_begin, .stage = server_stage::data, .replies = 0};
}

server_step smtp_server::on_rset(std::string_view, std::string& out) {
    if (futile_.reset(config_->max_idle_commands))
        return close_with(replies::too_many_idle_commands, server_stage::rset, out);
    end_transaction();
    return respond(replies::reset, server_stage::rset, out);
}

server_step smtp_server::on_help(std::string_view, std::string& out) {
    const bool lmtp = config_->speaks == dialect::lmtp;
    out.append(lmtp ? "214-2.0.0 LHLO " : "214-2.0.0 EHLO HELO ");
    out.append("MAIL RCPT DATA BDAT RSET NOOP VRFY EXPN HELP QUIT\r\n");
    return respond({214, "2.0.0", "See RFC 5321 and the manual page"}, server_stage::other, out);
}

server_step smtp_server::on_quit(std::string_view, std::string& out) {
    return close_with(replies::bye, server_stage::quit, out);
}

}  // namespace postal::proto
