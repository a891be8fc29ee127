// SPDX-License-Identifier: GPL-3.0-or-later
// What is made of a header field, a mix of bodies, a client's name and the beginning of a message
// that is bounced: it stays within its line, its part and its message, and is read back.
#include "mail/body_kind.hpp"
#include "mail/delivery_report.hpp"
#include "mail/delivery_status.hpp"
#include "mail/given_fields.hpp"
#include "mail/trace_header.hpp"
#include "mail/transfer_encoding.hpp"

#include "support.hpp"

namespace {

using namespace postal;

bool is_one_line(std::string_view text) {
    return text.find_first_of(std::string_view("\r\n\0", 3)) == text.npos;
}

void check_given(std::string_view text) {
    const auto field = mail::parse_header_field(text);
    if (field) {
        fuzz::require(is_one_line(*field) && field->size() <= 998);
        const auto again = mail::parse_header_field(*field);
        fuzz::require(again && *again == *field);
    }
    const auto subject = mail::parse_subject(text);
    if (subject) fuzz::require(is_one_line(*subject) && subject->size() <= 998);
    const auto mix = mail::body_mix::parse(text);
    if (mix) {
        const auto again = mail::body_mix::parse(mix->text());
        fuzz::require(again && again->text() == mix->text());
    }
}

// Lines of at most 998 octets, none of which begins a header of its own.
void check_received(std::string_view text) {
    const std::string made =
        mail::received_header({.helo = text, .client = "127.0.0.1", .by = "mx.example", .id = "1"});
    fuzz::require(made.starts_with("Received: ") && made.ends_with("\r\n"));
    std::size_t number = 0;
    for (const std::string_view line :
         base::split(std::string_view(made).substr(0, made.size() - 2), '\n')) {
        const bool folded = line.starts_with(' ') || line.starts_with('\t');
        fuzz::require((number++ == 0 || folded) && line.size() <= 998);
        fuzz::require(line.find('\r') == line.npos || line.find('\r') == line.size() - 1);
    }
}

void check_bounced(std::string_view original) {
    const std::vector<std::string> recipients{"a@example.com", "b@example.com"};
    const std::string made = mail::make_delivery_status({.host = "mx.example",
                                                         .reverse_path = "from@example.com",
                                                         .recipients = recipients,
                                                         .status = "5.2.1",
                                                         .diagnostic = "550 5.2.1 no",
                                                         .original = original,
                                                         .number = 7});
    for (std::string_view rest = made; !rest.empty();) {
        const std::size_t end = rest.find("\r\n");
        fuzz::require(end <= 998 && is_one_line(rest.substr(0, end)));
        rest.remove_prefix(end + 2);
    }
    const auto report = mail::read_delivery_report(made);
    if (!report) return;
    fuzz::require(report->recipients.size() == 2 && report->recipients[1].address == recipients[1]);
}

void check_encoded(std::string_view text) {
    const std::string encoded = mail::to_quoted_printable(text);
    fuzz::require(mail::from_quoted_printable(encoded) == text);
    for (const std::string_view line : base::split(encoded, '\n'))
        fuzz::require(line.size() <= 77);
    fuzz::require(mail::from_base64(text).size() <= text.size());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
    const std::string_view text = fuzz::text_of(data, size);
    check_given(text);
    check_received(text);
    check_bounced(text);
    check_encoded(text);
    return 0;
}
