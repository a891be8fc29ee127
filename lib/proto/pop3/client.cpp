// SPDX-License-Identifier: GPL-3.0-or-later
// See client.hpp. A line that comes in one piece is looked at where it lies; only one that is
// split between two feeds is copied. Content is data_decoder's.
#include "proto/pop3/client.hpp"

#include <algorithm>
#include <charconv>

#include "base/text.hpp"

namespace postal::proto {

namespace {

// Takes digits from the front; false when there are none, or more than 64 bits of them.
bool take_reply_number(std::string_view& text, std::uint64_t& into) noexcept {
    const char* end = text.data() + text.size();
    const auto [behind, error] = std::from_chars(text.data(), end, into);
    if (error != std::errc()) return false;
    text.remove_prefix(static_cast<std::size_t>(behind - text.data()));
    return true;
}

// At least one: some servers align their columns.
bool take_blanks(std::string_view& text) noexcept {
    const std::size_t blanks = std::min(text.find_first_not_of(" \t"), text.size());
    text.remove_prefix(blanks);
    return blanks > 0;
}

std::string_view take_word(std::string_view& text) noexcept {
    const std::size_t length = std::min(text.find_first_of(" \t"), text.size());
    const std::string_view word = text.substr(0, length);
    text.remove_prefix(length);
    take_blanks(text);
    return word;
}

bool fits_command(std::string_view argument) noexcept {
    return argument.find_first_of(std::string_view("\r\n\0", 3)) == std::string_view::npos;
}

bool append_command(std::string& out, std::string_view verb, std::string_view argument) {
    if (!fits_command(argument)) return false;
    out.append(verb).append(" ").append(argument).append("\r\n");
    return true;
}

void append_numbered(std::string& out, std::string_view verb, std::uint64_t message) {
    out.append(verb);
    out.append(std::to_string(message));
    out.append("\r\n");
}

}  // namespace

void pop3_client::reset() noexcept {
    expected_.clear();
    answered_ = 0;
    unfinished_.clear();
    text_ = {};
    problem_ = {};
    state_ = state::status;
    line_was_kept_ = false;
}

void pop3_client::expect(pop3_form form) {
    if (answered_ == expected_.size()) {
        expected_.clear();
        answered_ = 0;
    } else if (expected_.size() == expected_.capacity() && answered_ >= expected_.size() / 2) {
        expected_.erase(expected_.begin(),
                        expected_.begin() + static_cast<std::ptrdiff_t>(answered_));
        answered_ = 0;
    }
    expected_.push_back(form);
}

pop3_event pop3_client::feed(std::string_view& bytes) {
    if (state_ == state::broken) return pop3_event::broken;
    if (state_ == state::content) return read_content(bytes);
    std::string_view line;
    if (!take_line(bytes, line)) {
        return state_ == state::broken ? pop3_event::broken : pop3_event::need_more;
    }
    return state_ == state::listing ? read_list_line(line) : read_status(line);
}

// False when the line is not complete, or too long, which breaks.
bool pop3_client::take_line(std::string_view& bytes, std::string_view& line) {
    if (line_was_kept_) {
        unfinished_.clear();
        line_was_kept_ = false;
    }
    const std::size_t end = bytes.find('\n');
    line = bytes.substr(0, end);
    // A CR at the very end is not counted: it may belong to the line's end.
    const std::string_view last = line.empty() ? std::string_view(unfinished_) : line;
    const std::size_t most = max_line + (last.ends_with('\r') ? 1 : 0);
    if (unfinished_.size() + line.size() > most) {
        refuse("line_too_long", line);
        return false;
    }
    if (end == std::string_view::npos) {
        unfinished_.append(line);
        bytes = {};
        return false;
    }
    bytes.remove_prefix(end + 1);
    if (!unfinished_.empty()) {
        unfinished_.append(line);
        line = unfinished_;
        line_was_kept_ = true;
    }
    if (line.ends_with('\r')) line.remove_suffix(1);
    return true;
}

// RFC 1939 3: "+OK" or "-ERR" in upper case; RFC 5034 4: "+ challenge", and "+" from old servers.
pop3_event pop3_client::read_status(std::string_view line) noexcept {
    std::string_view rest = line;
    const std::string_view word = rest.substr(0, std::min(rest.find_first_of(" \t"), rest.size()));
    rest.remove_prefix(std::min(word.size() + 1, rest.size()));
    if (word != "+OK" && word != "-ERR" && word != "+") return refuse("garbage", line);
    if (outstanding() == 0) return refuse("unasked", line);
    const pop3_form form = expected_[answered_];
    text_ = rest;
    if (word == "+") {
        if (form != pop3_form::auth) return refuse("garbage", line);
        state_ = state::challenged;
        status_ = pop3_status::continuation;
        return pop3_event::status;
    }
    status_ = word == "+OK" ? pop3_status::ok : pop3_status::err;
    if (status_ == pop3_status::err || form == pop3_form::status_line || form == pop3_form::auth) {
        complete();
    } else if (form == pop3_form::listing) {
        state_ = state::listing;
        list_lines_ = 0;
    } else {
        state_ = state::content;
        decoder_.reset();
    }
    return pop3_event::status;
}

// RFC 1939 3: a line that begins with a dot has one more than it means; a dot alone is the end.
pop3_event pop3_client::read_list_line(std::string_view line) noexcept {
    text_ = line;
    if (line == ".") {
        complete();
        return pop3_event::end;
    }
    if (++list_lines_ > max_list_lines) return refuse("too_many_lines", line);
    if (line.starts_with('.')) text_.remove_prefix(1);
    return pop3_event::list_line;
}

pop3_event pop3_client::read_content(std::string_view& bytes) noexcept {
    while (!bytes.empty()) {
        const data_step step = decoder_.next(bytes);
        bytes.remove_prefix(step.consumed);
        text_ = step.content;
        if (step.end) {
            complete();
            return pop3_event::end;
        }
        if (!step.content.empty()) return pop3_event::content;
    }
    return pop3_event::need_more;
}

void pop3_client::complete() noexcept {
    ++answered_;
    state_ = state::status;
}

pop3_event pop3_client::refuse(base::error_name problem, std::string_view line) noexcept {
    problem_ = problem;
    text_ = line;
    state_ = state::broken;
    return pop3_event::broken;
}

std::optional<pop3_numbers> parse_stat(std::string_view text) noexcept {
    pop3_numbers found;
    take_blanks(text);
    if (!take_reply_number(text, found.number) || !take_blanks(text)) return std::nullopt;
    if (!take_reply_number(text, found.octets)) return std::nullopt;
    if (!text.empty() && !base::is_blank(text[0])) return std::nullopt;
    return found;
}

std::optional<pop3_numbers> parse_list_line(std::string_view text) noexcept {
    const auto found = parse_stat(text);
    return found && found->number > 0 ? found : std::nullopt;
}

std::optional<pop3_uid> parse_uidl_line(std::string_view text) noexcept {
    constexpr std::size_t most_octets = 70;
    pop3_uid found;
    take_blanks(text);
    if (!take_reply_number(text, found.number) || found.number == 0) return std::nullopt;
    if (!take_blanks(text)) return std::nullopt;
    found.uid = take_word(text);
    if (found.uid.empty() || found.uid.size() > most_octets) return std::nullopt;
    const auto fits = [](char c) { return c > ' ' && c < 127; };
    if (!std::all_of(found.uid.begin(), found.uid.end(), fits)) return std::nullopt;
    return found;
}

void pop3_capabilities::add(std::string_view line) {
    std::string_view rest = base::trim(line);
    const std::string_view keyword = take_word(rest);
    if (base::iequals(keyword, "PIPELINING")) pipelining = true;
    if (base::iequals(keyword, "SASL")) sasl = rest;
}

std::string_view apop_timestamp(std::string_view greeting) noexcept {
    const std::size_t begin = greeting.find('<');
    if (begin == std::string_view::npos) return {};
    const std::size_t end = greeting.find('>', begin);
    if (end == std::string_view::npos) return {};
    const std::string_view inside = greeting.substr(begin + 1, end - begin - 1);
    const auto fits = [](char c) { return c > ' ' && c < 127 && c != '<'; };
    if (!std::all_of(inside.begin(), inside.end(), fits)) return {};
    if (std::count(inside.begin(), inside.end(), '@') != 1) return {};
    if (inside.starts_with('@') || inside.ends_with('@')) return {};
    return greeting.substr(begin, end - begin + 1);
}

bool append_user(std::string& out, std::string_view name) {
    return append_command(out, "USER", name);
}

bool append_pass(std::string& out, std::string_view secret) {
    return append_command(out, "PASS", secret);
}

bool append_apop(std::string& out, std::string_view name, std::span<const std::uint8_t, 16> md5) {
    constexpr std::string_view digits = "0123456789abcdef";
    if (!fits_command(name)) return false;
    out.append("APOP ").append(name).append(" ");
    for (const std::uint8_t octet : md5) {
        out += digits[octet >> 4U];
        out += digits[octet & 15U];
    }
    out.append("\r\n");
    return true;
}

bool append_auth(std::string& out, std::string_view mechanism, std::string_view initial) {
    if (!fits_command(mechanism) || !fits_command(initial)) return false;
    out.append("AUTH ").append(mechanism);
    if (!initial.empty()) out.append(" ").append(initial);
    out.append("\r\n");
    return true;
}

bool append_auth_answer(std::string& out, std::string_view answer) {
    if (!fits_command(answer)) return false;
    out.append(answer).append("\r\n");
    return true;
}

void append_retr(std::string& out, std::uint64_t message) {
    append_numbered(out, "RETR ", message);
}

void append_dele(std::string& out, std::uint64_t message) {
    append_numbered(out, "DELE ", message);
}

}  // namespace postal::proto
