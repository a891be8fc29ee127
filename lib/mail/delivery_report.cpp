// SPDX-License-Identifier: GPL-3.0-or-later
#include "mail/delivery_report.hpp"

#include "base/text.hpp"
#include "mail/transfer_encoding.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

namespace postal::mail {
namespace {

constexpr std::size_t most_of_part = std::size_t{64} * 1024;
constexpr std::size_t most_of_field = std::size_t{4} * 1024;
constexpr std::size_t most_parts = 16;
constexpr std::size_t longest_name = 76;
constexpr std::size_t longest_boundary = 70;  // RFC 2046 5.1.1
constexpr std::size_t longest_address = 998;
constexpr std::size_t longest_diagnostic = 200;

// Without its end.
std::string_view take_line(std::string_view& text) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    return line;
}

struct field {
    std::string name{};  // in lower case
    std::string value{};
};

// Calls `each` with the fields up to the blank line, unfolded, and takes them and that line.
template <class Each>
void take_fields(std::string_view& text, Each each) {
    field now;
    const auto end = [&] {
        if (!now.name.empty()) each(std::as_const(now));
        now = {};
    };
    while (!text.empty()) {
        const std::string_view line = take_line(text);
        if (line.empty()) break;
        const std::size_t room = most_of_field - now.value.size();
        if (base::is_blank(line.front())) {
            if (room > 1) now.value.append(" ").append(base::trim(line).substr(0, room - 1));
            continue;
        }
        end();
        const std::size_t colon = line.find(':');
        if (colon > longest_name) continue;
        now.name = base::lower(base::trim(line.substr(0, colon)));
        now.value = base::trim(line.substr(colon + 1)).substr(0, most_of_field);
    }
    end();
}

// What a value is before its parameters.
std::string kind_of_value(std::string_view value) {
    return base::lower(base::trim(value.substr(0, value.find(';'))));
}

// The first of them that has the name; quotes and what they hide are undone.
std::string parameter(std::string_view value, std::string_view name) {
    std::vector<std::string> pieces(1);
    bool quoted = false;
    for (std::size_t at = 0; at < value.size(); ++at) {
        const char c = value[at];
        if (c == '"') {
            quoted = !quoted;
        } else if (quoted && c == '\\' && at + 1 < value.size()) {
            pieces.back() += value[++at];
        } else if (!quoted && c == ';') {
            pieces.emplace_back();
        } else {
            pieces.back() += c;
        }
    }
    for (const std::string& piece : pieces) {
        const std::size_t equals = piece.find('=');
        if (equals == piece.npos) continue;
        const std::string_view all = piece;
        if (base::iequals(base::trim(all.substr(0, equals)), name))
            return std::string(base::trim(all.substr(equals + 1)));
    }
    return {};
}

// RFC 6533 3: \x{C3A9} in place of a character.
std::string from_seven_bits(std::string_view text) {
    std::string result;
    while (!text.empty()) {
        const std::size_t end = text.starts_with("\\x{") ? text.find('}') : text.npos;
        std::uint32_t point = 0;
        const bool is_code = end != text.npos &&
                             std::from_chars(text.data() + 3, text.data() + end, point, 16).ptr ==
                                 text.data() + end &&
                             end > 3 && point <= 0x10ffff && (point < 0xd800 || point > 0xdfff);
        if (!is_code) {
            result += text.front();
            text.remove_prefix(1);
            continue;
        }
        const auto tail = [&](unsigned shift) {
            result += static_cast<char>(0x80U | ((point >> shift) & 0x3fU));
        };
        if (point < 0x80) {
            result += static_cast<char>(point);
        } else if (point < 0x800) {
            result += static_cast<char>(0xc0U | (point >> 6U));
            tail(0);
        } else if (point < 0x10000) {
            result += static_cast<char>(0xe0U | (point >> 12U));
            tail(6);
            tail(0);
        } else {
            result += static_cast<char>(0xf0U | (point >> 18U));
            tail(12);
            tail(6);
            tail(0);
        }
        text.remove_prefix(end + 1);
    }
    return result;
}

// "rfc822; a@example.com"; empty for what is none.
std::string address_in(std::string_view value) {
    const std::size_t behind_kind = value.find(';');
    if (behind_kind == value.npos) return {};
    std::string_view text = base::trim(value.substr(behind_kind + 1));
    if (text.starts_with('<') && text.ends_with('>')) text = text.substr(1, text.size() - 2);
    std::string address =
        kind_of_value(value) == "utf-8" ? from_seven_bits(text) : std::string(text);
    const bool is_one =
        !address.empty() && address.size() <= longest_address && base::is_valid_utf8(address) &&
        std::none_of(address.begin(), address.end(),
                     [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; });
    return is_one ? address : std::string();
}

// class.subject.detail, of the classes that RFC 3463 has; a comment may follow.
std::string status_in(std::string_view value) {
    const std::string_view text = value.substr(0, value.find_first_of(" \t("));
    constexpr std::size_t longest = 9;
    const auto digits = [](std::string_view part) {
        return !part.empty() && part.size() <= 3 &&
               std::all_of(part.begin(), part.end(), base::is_digit);
    };
    const auto parts = base::split(text, '.');
    const bool is_one = text.size() <= longest && parts.size() == 3 &&
                        std::all_of(parts.begin(), parts.end(), digits) &&
                        (parts[0] == "2" || parts[0] == "4" || parts[0] == "5");
    return is_one ? std::string(text) : std::string();
}

std::optional<delivery_action> action_in(std::string_view value) {
    constexpr std::array<std::string_view, 5> actions{"failed", "delayed", "delivered", "relayed",
                                                      "expanded"};
    const std::string_view word = value.substr(0, value.find_first_of(" \t("));
    for (std::size_t each = 0; each < actions.size(); ++each) {
        if (base::iequals(word, actions[each])) return static_cast<delivery_action>(each);
    }
    return std::nullopt;
}

// Groups of fields with a blank line between them, of which the first is about the message.
void read_recipients(std::string_view text, std::vector<reported_recipient>& into) {
    while (!text.empty() && into.size() < delivery_report::most_recipients) {
        reported_recipient one;
        std::string original;
        std::optional<delivery_action> action;
        take_fields(text, [&](const field& of) {
            if (of.name == "original-recipient" && original.empty())
                original = address_in(of.value);
            if (of.name == "final-recipient" && one.address.empty())
                one.address = address_in(of.value);
            if (of.name == "action" && !action) action = action_in(of.value);
            if (of.name == "status" && one.status.empty()) one.status = status_in(of.value);
            if (of.name == "diagnostic-code" && one.diagnostic.empty()) {
                const std::size_t kind = of.value.find(';');
                const std::string_view said = of.value;
                one.diagnostic =
                    base::printable(base::trim(kind == said.npos ? said : said.substr(kind + 1)),
                                    longest_diagnostic);
            }
        });
        if (!original.empty()) one.address = std::move(original);
        if (one.address.empty() || !action) continue;
        one.action = *action;
        into.push_back(std::move(one));
    }
}

bool read_identity(std::string_view header, identity& into) {
    bool found = false;
    take_fields(header, [&](const field& of) {
        if (found || !base::iequals(of.name, identity_field)) return;
        found = parse_identity(of.value, into) == identity_parse::ok;
    });
    return found;
}

// Calls `each` with what lies between the delimiters (RFC 2046 5.1.1).
template <class Each>
void for_parts(std::string_view body, const std::string& boundary, Each each) {
    const std::string delimiter = "--" + boundary;
    std::size_t from = body.npos;  // of the part at hand
    std::size_t parts = 0;
    for (std::size_t at = body.find(delimiter); at != body.npos && parts < most_parts;
         at = body.find(delimiter, at + delimiter.size())) {
        if (at > 0 && body[at - 1] != '\n') continue;
        std::string_view rest = body.substr(at + delimiter.size());
        const std::size_t left = rest.size();
        const std::string_view behind = base::trim(take_line(rest));
        if (!behind.empty() && behind != "--") continue;
        if (from != body.npos) each(body.substr(from, at - from));
        if (!behind.empty()) return;
        from = at + delimiter.size() + (left - rest.size());
        ++parts;
    }
    if (from != body.npos) each(body.substr(from));
}

struct entity {
    std::string type{};
    std::string encoding{};
    std::string_view content{};
};

entity entity_of(std::string_view part) {
    entity result;
    take_fields(part, [&](const field& of) {
        if (of.name == "content-type" && result.type.empty()) result.type = of.value;
        if (of.name == "content-transfer-encoding" && result.encoding.empty())
            result.encoding = kind_of_value(of.value);
    });
    result.content = part;
    return result;
}

// As much of it as is read.
std::string content_of(const entity& one) {
    const std::string_view some = one.content.substr(0, most_of_part);
    for (const transfer_encoding& each : transfer_encodings) {
        if (one.encoding == each.name) return each.decode(some);
    }
    return std::string(some);
}

bool is_report(std::string_view type) {
    return kind_of_value(type) == "multipart/report" &&
           base::iequals(parameter(type, "report-type"), "delivery-status");
}

}  // namespace

std::optional<delivery_report> read_delivery_report(std::string_view message) {
    const entity whole = entity_of(message);
    const std::string boundary = parameter(whole.type, "boundary");
    if (!is_report(whole.type) || boundary.empty() || boundary.size() > longest_boundary)
        return std::nullopt;
    delivery_report result;
    bool ours = false;
    for_parts(whole.content, boundary, [&](std::string_view part) {
        const entity one = entity_of(part);
        const std::string type = kind_of_value(one.type);
        if (type == "message/delivery-status" || type == "message/global-delivery-status") {
            if (result.recipients.empty()) read_recipients(content_of(one), result.recipients);
        } else if (type == "message/rfc822" || type == "text/rfc822-headers" ||
                   type == "message/global" || type == "message/global-headers") {
            ours = ours || read_identity(content_of(one), result.of);
        }
    });
    if (!ours || result.recipients.empty()) return std::nullopt;
    return result;
}

bool may_be_delivery_report(std::string_view message) {
    return is_report(entity_of(message).type);
}

}  // namespace postal::mail
