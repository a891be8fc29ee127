#include "proto/client_commands.hpp"

#include <array>
#include <charconv>

namespace postal::proto {

namespace {

void append_number(std::string& out, std::uint64_t number) {
    std::array<char, 20> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
    out.append(digits.data(), end);
}

}  // namespace

// RFC 5321 3.3: no blank between the colon and the path.
void append_mail(std::string& out, std::string_view reverse_path, const mail_parameters& with) {
    out.append("MAIL FROM:<").append(reverse_path).append(">");
    if (with.size > 0) {
        out.append(" SIZE=");
        append_number(out, with.size);
    }
    if (with.eight_bit_mime) out.append(" BODY=8BITMIME");
    if (with.smtputf8) out.append(" SMTPUTF8");
    out.append("\r\n");
}

void append_rcpt(std::string& out, std::string_view forward_path) {
    out.append("RCPT TO:<").append(forward_path).append(">\r\n");
}

void append_bdat_last(std::string& out, std::uint64_t octets) {
    out.append("BDAT ");
    append_number(out, octets);
    out.append(" LAST\r\n");
}

void append_xclient(std::string& out, std::string_view address) {
    out.append("XCLIENT ADDR=").append(address).append("\r\n");
}

void append_greeting(std::string& out, std::string_view verb, std::string_view domain) {
    out.append(verb).append(" ").append(domain).append("\r\n");
}

}  // namespace postal::proto
