// SPDX-License-Identifier: GPL-3.0-or-later
#include "proto/smtp/client_commands.hpp"

#include "proto/smtp/esmtp_parameters.hpp"

namespace postal::proto {

namespace {

void append_others(std::string& out, std::string_view others) {
    if (!others.empty()) out.append(" ").append(others);
}

}  // namespace

// RFC 5321 3.3: no blank between the colon and the path.
void append_mail(std::string& out, std::string_view reverse_path, const mail_parameters& with) {
    out.append("MAIL FROM:<").append(reverse_path).append(">");
    if (with.size > 0) {
        out.append(" SIZE=");
        out.append(std::to_string(with.size));
    }
    if (with.eight_bit_mime) out.append(" BODY=8BITMIME");
    if (with.smtputf8) out.append(" SMTPUTF8");
    if (!with.ret.empty()) out.append(" RET=").append(with.ret);
    if (!with.envid.empty()) {
        out.append(" ENVID=");
        append_xtext(out, with.envid);
    }
    append_others(out, with.others);
    out.append("\r\n");
}

void append_rcpt(std::string& out, std::string_view forward_path, const rcpt_parameters& with) {
    out.append("RCPT TO:<").append(forward_path).append(">");
    if (!with.notify.empty()) out.append(" NOTIFY=").append(with.notify);
    if (with.orcpt) {
        out.append(" ORCPT=rfc822;");
        append_xtext(out, forward_path);
    }
    append_others(out, with.others);
    out.append("\r\n");
}

void append_bdat_last(std::string& out, std::uint64_t octets) {
    out.append("BDAT ");
    out.append(std::to_string(octets));
    out.append(" LAST\r\n");
}

void append_xclient(std::string& out, std::string_view address) {
    out.append("XCLIENT ADDR=").append(address).append("\r\n");
}

void append_auth_command(std::string& out, std::string_view mechanism, std::string_view initial) {
    out.append("AUTH ").append(mechanism);
    if (!initial.empty()) out.append(" ").append(initial);
    out.append("\r\n");
}

std::size_t room_behind_auth(std::string_view mechanism) noexcept {
    constexpr std::size_t around = std::string_view("AUTH  \r\n").size();
    return 512 - around - mechanism.size();
}

void append_greeting(std::string& out, std::string_view verb, std::string_view domain) {
    out.append(verb).append(" ").append(domain).append("\r\n");
}

}  // namespace postal::proto
