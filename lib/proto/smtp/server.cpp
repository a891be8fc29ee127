// SPDX-License-Identifier: GPL-3.0-or-later
// The stream: lines, data and chunks, and how a message ends. Commands are in server_commands.cpp.
#include "proto/smtp/server.hpp"

#include <algorithm>
#include <cassert>
#include <limits>
#include <utility>

#include "base/text.hpp"
#include "proto/smtp/server_commands.hpp"

namespace postal::proto {
namespace {

// Replies that say that the client does not make sense; one that gets many is sent away.
bool is_error_of_client(const server_reply& reply) noexcept {
    return (reply.code >= 500 && reply.code <= 504) || reply.code == 555;
}

bool is_bdat(std::string_view line) noexcept {
    return line.size() >= 4 && base::iequals(line.substr(0, 4), "BDAT");
}

}  // namespace

server_step smtp_server::greet(std::string& out) {
    return config_->judges_stages ? ask(server_stage::banner) : answer_banner({}, out);
}

server_step smtp_server::answer_banner(const std::optional<server_reply>& own, std::string& out) {
    if (own) {
        if (own->code == 421) return close_with(*own, server_stage::banner, out);
        unwelcome_ = true;
        append_reply(out, *own);
        return {.event = server_event::reply, .stage = server_stage::banner, .reply = *own};
    }
    const bool lmtp = config_->speaks == dialect::lmtp;
    out.append("220 ").append(host_name_).append(lmtp ? " LMTP ready\r\n" : " ESMTP ready\r\n");
    return {.event = server_event::reply, .stage = server_stage::banner, .reply = {220, "", ""}};
}

server_step smtp_server::consume(std::string_view input, std::string& out) {
    lines_.let_go();
    if (due_ != 0) return {};
    if (mode_ == mode::data) return take_data(input, out);
    if (mode_ == mode::chunk) return take_chunk(input, out);
    return take_line(input, out);
}

server_step smtp_server::take_line(std::string_view input, std::string& out) {
    if (input.empty()) return {};
    if (discarding_ != discarding::nothing) return discard_line(input, out);
    const command_lines::taken came = lines_.take(input, longest_line(input));
    if (came.too_long) {
        const bool chunk = mode_ == mode::command && lines_.begins("BDAT", input);
        const bool auth = mode_ == mode::auth || lines_.begins("AUTH", input);
        lines_.throw_away();
        if (chunk) return close_with(replies::line_too_long, server_stage::data, out);
        discarding_ = auth ? discarding::auth_too_long : discarding::too_long;
        return discard_line(input, out);
    }
    if (came.line.empty()) return {.consumed = came.consumed};
    server_step step = run_line(came.line, out);
    // The octets of a chunk follow whatever is answered (RFC 3030 2). When the command was not
    // understood nobody knows how many they are, and they must not be taken for commands.
    if (is_bdat(came.line) && mode_ != mode::chunk && step.event == server_event::reply) {
        append_reply(out, replies::chunk_of_unknown_size);
        step.event = server_event::close;
    }
    step.consumed = came.consumed;
    return step;
}

// The rest of a line that is not run.
server_step smtp_server::discard_line(std::string_view input, std::string& out) {
    const auto gone = lines_.discard(input, config_->newlines == bare_newlines::accept);
    server_step step;
    if (gone.ended) {
        const discarding why = std::exchange(discarding_, discarding::nothing);
        if (why == discarding::refused)
            step.event = server_event::go_on;
        else if (why == discarding::auth_too_long)
            step = end_auth(replies::auth_line_too_long, out);
        else
            step = respond(replies::line_too_long, server_stage::other, out);
    } else if (gone.endless) {
        step = close_with(replies::endless_line, server_stage::other, out);
    }
    step.consumed = gone.consumed;
    return step;
}

// One whole line with its line end.
server_step smtp_server::run_line(std::string_view line, std::string& out) {
    line.remove_suffix(1);
    if (!line.empty() && line.back() == '\r') {
        line.remove_suffix(1);
    } else if (config_->newlines == bare_newlines::reject) {
        // What stands behind the LF is the same line still (RFC 5321 2.3.8), and is not run either.
        discarding_ = discarding::refused;
        lines_.throw_away_rest();
        if (mode_ == mode::auth) return end_auth(replies::line_end, out);
        return respond(replies::line_end, server_stage::other, out);
    }
    if (mode_ == mode::auth) return run_auth_line(line, out);
    if (has_control(line)) return respond(replies::control_character, server_stage::other, out);
    std::size_t verb = 0;
    while (verb < line.size() && !base::is_blank(line[verb]))
        ++verb;
    const command* row = find_command(line.substr(0, verb));
    if (row == nullptr) return respond(replies::unknown_command, server_stage::other, out);
    std::string_view argument = line.substr(verb);
    while (!argument.empty() && base::is_blank(argument.front()))
        argument.remove_prefix(1);
    while (!argument.empty() && base::is_blank(argument.back()))
        argument.remove_suffix(1);
    return dispatch(*row, argument, out);
}

server_step smtp_server::dispatch(const command& row, std::string_view argument, std::string& out) {
    if (row.brings_no_mail && futile_.idle(config_->max_idle_commands))
        return close_with(replies::too_many_idle_commands, row.stage, out);
    // RFC 5321 3.1.
    if (unwelcome_ && row.stage != server_stage::quit)
        return respond(replies::no_service, row.stage, out);
    const bool lmtp = config_->speaks == dialect::lmtp;
    if (row.only_in == (lmtp ? command::in_smtp : command::in_lmtp)) {
        return respond(replies::unknown_command, row.stage, out);
    }
    if ((row.states & (1U << static_cast<unsigned>(state_))) == 0) {
        return respond(out_of_order(row), row.stage, out);
    }
    if (config_->requires_auth && !authenticated_ && row.needs_auth()) {
        return respond(replies::auth_first, row.stage, out);
    }
    if (row.argument == command::none && !argument.empty()) {
        return respond(replies::argument_unwanted, row.stage, out);
    }
    if (row.argument == command::required && argument.empty()) {
        return respond(replies::argument_wanted, row.stage, out);
    }
    if (!row.is_judged || !config_->judges_stages) return (this->*row.run)(argument, out);
    asked_command_ = &row;
    asked_argument_ = argument;
    return ask(row.stage, row.stage == server_stage::ehlo ? argument : row.verb);
}

// ---- what the owner says ----

server_step smtp_server::ask(server_stage stage, std::string_view text) noexcept {
    asked_ = stage;
    return {.event = server_event::ask, .stage = stage, .text = text};
}

server_step smtp_server::answer(const std::optional<server_reply>& own, std::string& out) {
    switch (asked_) {
        case server_stage::banner:
            return answer_banner(own, out);
        case server_stage::mail:
            return answer_sender(own ? *own : replies::sender_ok, out);
        case server_stage::rcpt:
            return answer_recipient(own ? *own : replies::recipient_ok, out);
        case server_stage::end:
            return own ? refuse_message(*own, out) : message_is_whole();
        case server_stage::chunk:
            chunk_refusal_ = own;
            chunk_judged_ = own.has_value();
            return begin_chunk();
        default:
            return own ? answer_command(*own, out)
                       : (this->*asked_command_->run)(asked_argument_, out);
    }
}

server_step smtp_server::answer_sender(const server_reply& reply, std::string& out) {
    mail_refused_ = !reply.positive();
    named_ = 0;
    if (!mail_refused_) state_ = state::mail;
    return answer_as_judged(reply, server_stage::mail, out);
}

server_step smtp_server::answer_recipient(const server_reply& reply, std::string& out) {
    if (reply.positive()) {
        ++recipients_;
        state_ = state::rcpt;
    } else {
        refused_recipient_ = true;
    }
    return answer_as_judged(reply, server_stage::rcpt, out);
}

server_step smtp_server::answer_command(const server_reply& reply, std::string& out) {
    if (asked_ == server_stage::quit) return close_with(reply, asked_, out);
    if (reply.positive()) end_transaction();
    return answer_as_judged(reply, asked_, out);
}

server_reply smtp_server::out_of_order(const command& row) const noexcept {
    switch (state_) {
        case state::initial:
            return replies::greet_first;
        case state::greeted:
            return replies::mail_first;
        case state::chunks:
            return replies::chunks_begun;
        case state::rcpt:
            return replies::nested_mail;
        case state::mail:
            break;
    }
    if (row.stage == server_stage::mail) return replies::nested_mail;
    // RFC 2033 4.2: LMTP must say 503; RFC 5321 3.3 lets SMTP say 554 when all were refused.
    const bool smtp = config_->speaks == dialect::smtp;
    return smtp && refused_recipient_ ? replies::no_valid_recipient : replies::rcpt_first;
}

server_step smtp_server::take_data(std::string_view input, std::string& out) {
    std::size_t consumed = 0;
    while (consumed < input.size()) {
        const data_step piece = decoder_.next(input.substr(consumed));
        consumed += piece.consumed;
        if (piece.end) {
            mode_ = mode::command;
            server_step step = end_message(out);
            step.consumed = consumed;
            return step;
        }
        if (piece.content.empty()) continue;
        count_octets(piece.content.size());
        // What is too big already is read to its end, but of no more interest to anybody.
        if (octets_ > config_->most_thrown_away()) {
            server_step step = refuse_endless_message(out);
            step.consumed = consumed;
            return step;
        }
        if (octets_ > config_->max_message) continue;
        return {.consumed = consumed,
                .event = server_event::content,
                .stage = server_stage::data,
                .text = piece.content};
    }
    return {.consumed = consumed};
}

server_step smtp_server::take_chunk(std::string_view input, std::string& out) {
    if (chunk_left_ == 0) return end_chunk(out);
    if (input.empty()) return {};
    const auto length =
        static_cast<std::size_t>(std::min<std::uint64_t>(chunk_left_, input.size()));
    chunk_left_ -= length;
    if (!chunk_refusal_) {
        count_octets(length);
        if (octets_ <= config_->max_message) {
            if (config_->newlines == bare_newlines::reject) decoder_.look(input.substr(0, length));
            return {.consumed = length,
                    .event = server_event::content,
                    .stage = server_stage::data,
                    .text = input.substr(0, length)};
        }
    }
    if (chunk_left_ != 0) return {.consumed = length};
    server_step step = end_chunk(out);
    step.consumed = length;
    return step;
}

server_step smtp_server::end_chunk(std::string& out) {
    mode_ = mode::command;
    if (chunk_refusal_) {
        const server_reply refusal = *std::exchange(chunk_refusal_, std::nullopt);
        // RFC 3030 2: the transaction has failed, and chunks that were pipelined behind this one
        // are thrown away, too.
        if (state_ >= state::rcpt) {
            end_transaction();
            mail_refused_ = true;
        }
        return std::exchange(chunk_judged_, false)
                   ? answer_as_judged(refusal, server_stage::data, out)
                   : respond(refusal, server_stage::data, out);
    }
    if (chunk_last_) return end_message(out);
    return respond(replies::chunk_ok, server_stage::data, out);
}

server_step smtp_server::end_message(std::string& out) {
    futile_.message_came();
    if (octets_ > config_->max_message) return refuse_message(replies::too_big, out);
    const bool bare = decoder_.bare_newline() || decoder_.ends_in_cr();
    if (bare && config_->newlines == bare_newlines::reject) {
        return refuse_message(replies::bare_newline, out);
    }
    return config_->judges_stages ? ask(server_stage::end) : message_is_whole();
}

server_step smtp_server::message_is_whole() noexcept {
    due_ = config_->speaks == dialect::lmtp ? recipients_ : 1;
    return {.event = server_event::message_end, .stage = server_stage::end};
}

server_step smtp_server::refuse_message(const server_reply& reply, std::string& out) {
    const std::uint32_t count = config_->speaks == dialect::lmtp ? recipients_ : 1;
    for (std::uint32_t i = 0; i < count; ++i)
        append_reply(out, reply);
    end_transaction();
    return {.event = reply.code == 421 ? server_event::close : server_event::message_refused,
            .stage = server_stage::end,
            .replies = count,
            .reply = reply};
}

// Whoever never comes to an end hears why while he still sends.
server_step smtp_server::refuse_endless_message(std::string& out) {
    mode_ = mode::command;
    server_step step = refuse_message(replies::endless_message, out);
    step.event = server_event::close;
    return step;
}

void smtp_server::answer_delivery(const server_reply& answer, std::string& out) {
    assert(due_ != 0);
    append_reply(out, answer);
    if (--due_ == 0) end_transaction();
}

server_step smtp_server::respond(const server_reply& reply, server_stage stage, std::string& out) {
    append_reply(out, reply);
    if (stage == server_stage::mail) {
        mail_refused_ = !reply.positive();
        named_ = 0;
    }
    if (!reply.positive()) futile_.something_refused();
    if (is_error_of_client(reply) && !follows_refusal(reply, stage) && too_many_errors())
        return close_with(replies::too_many_errors, stage, out);
    return {.event = server_event::reply, .stage = stage, .reply = reply};
}

// What a client pipelined behind a sender, or behind recipients, that were refused is no nonsense
// (RFC 2920 3.1, RFC 2033 4.2): as much of it as belongs to one message.
bool smtp_server::follows_refusal(const server_reply& reply, server_stage stage) noexcept {
    const bool refused = mail_refused_ || (refused_recipient_ && recipients_ == 0);
    return refused && reply.code == 503 && stage != server_stage::mail && !named_too_many();
}

bool smtp_server::named_too_many() noexcept {
    return ++named_ > std::uint64_t{config_->max_recipients} + recipients_beyond;
}

// What is refused on purpose is no error of the client's; whoever is told 421 is sent away (RFC
// 5321 3.8).
server_step smtp_server::answer_as_judged(const server_reply& reply, server_stage stage,
                                          std::string& out) {
    append_reply(out, reply);
    if (!reply.positive()) futile_.something_refused();
    const bool ends = reply.code == 421;
    return {
        .event = ends ? server_event::close : server_event::reply, .stage = stage, .reply = reply};
}

server_step smtp_server::close_with(const server_reply& reply, server_stage stage,
                                    std::string& out) {
    append_reply(out, reply);
    return {.event = server_event::close, .stage = stage, .reply = reply};
}

// Chunks may claim up to 2^64-1 octets each: saturate instead of starting again at 0.
void smtp_server::count_octets(std::size_t octets) noexcept {
    const auto most = std::numeric_limits<std::uint64_t>::max();
    octets_ = octets > most - octets_ ? most : octets_ + octets;
}

// RFC 3207 4.2.
void smtp_server::secured() noexcept {
    end_transaction();
    state_ = state::initial;
    lines_.clear();
    mail_refused_ = false;
    authenticated_ = false;
    secured_ = true;
}

void smtp_server::end_transaction() noexcept {
    if (state_ != state::initial) state_ = state::greeted;
    recipients_ = named_ = 0;
    refused_recipient_ = false;
    smtputf8_ = false;
}

}  // namespace postal::proto
