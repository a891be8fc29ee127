// SPDX-License-Identifier: GPL-3.0-or-later
// What somebody may try who sees an error for the first time.
#include "client/hints.hpp"

#include <catch2/catch.hpp>

#include <string>
#include <string_view>
#include <vector>

using namespace postal;
using client::dialect;
using client::spoken;
using client::tls_mode;

TEST_CASE("hint: what gives another protocol away names the options that would change it") {
    struct row {
        stats::error_entry what;
        spoken by_us;
        std::string_view hint;  // what stands in it; empty: there is none
    };
    const spoken smtp, lmtp{dialect::lmtp}, mailbox{dialect::mailbox};
    const spoken smtps{dialect::smtp, true, tls_mode::implicit};
    const spoken secure_mailbox{dialect::mailbox, true, tls_mode::starttls};
    const spoken starttls{dialect::smtp, true, tls_mode::starttls};
    const spoken overlapping{dialect::smtp, false, tls_mode::starttls, true};
    const std::vector<row> rows{
        {{"mail", 503, "5.5.1", 1, "nested MAIL command"}, overlapping, "--pipelining auto"},
        {{"rcpt", 503, "5.5.1", 1, "need MAIL command"}, overlapping, "--pipelining auto"},
        {{"mail", 503, "5.5.1", 1, "polite people say HELO first"}, smtp, ""},
        {{"end", 503, "", 1, "bad sequence"}, overlapping, ""},
        {{"ehlo", 500, "", 1, "unknown command"}, smtp, "give -L"},
        {{"ehlo", 502, "5.5.1", 1, ""}, lmtp, "leave -L away"},
        {{"ehlo", 550, "", 1, "go away"}, smtp, ""},
        {{"ehlo", 421, "", 1, "later"}, smtp, ""},
        {{"banner", 0, "garbage", 1, "+OK ready"}, smtp, "POP3 server"},
        {{"banner", 0, "garbage", 1, "+OK ready"}, mailbox, "POP3 server, asked for IMAP"},
        {{"banner", 0, "garbage", 1, "* OK ready"}, lmtp, "IMAP server"},
        {{"banner", 0, "garbage", 1, "* OK ready"}, mailbox, "--imap ENDPOINT"},
        {{"banner", 0, "garbage", 1, "220 mx ESMTP"}, mailbox, "postal sends to it"},
        {{"banner", 0, "garbage", 1, "\\x15\\x03\\x01"}, smtp, "--tls implicit"},
        {{"banner", 0, "timeout", 1, "mx:465"}, starttls, "--tls implicit"},
        {{"banner", 0, "timeout", 1, "mx:465"}, smtps, ""},
        {{"banner", 0, "closed", 1, "mx:465"}, smtp, "--tls implicit"},
        {{"tls", 0, "not_tls", 1, "220 mx"}, smtps, "leave --tls implicit away"},
        {{"tls", 0, "tls_error", 1, "wrong version number"}, smtps, "leave --tls implicit away"},
        {{"tls", 0, "not_tls", 1, "garbage"}, starttls, ""},
        {{"tls", 0, "no_starttls", 1, ""}, starttls, "--tls implicit"},
        {{"mail", 530, "5.7.0", 1, "Must issue a STARTTLS command first"}, smtp, "--tls"},
        {{"mail", 530, "5.7.0", 1, "Authentication required"}, smtp, "--auth"},
        {{"rcpt", 550, "5.1.1", 1, "no such user"}, smtp, "USER-LIST"},
        {{"rcpt", 450, "4.7.1", 1, "greylisted"}, smtp, ""},
        {{"connect", 0, "refused", 1, "mx:25"}, mailbox, "nothing listens there"},
        {{"login", 0, "login_disabled", 1, "not without TLS"}, mailbox, "give --tls"},
        {{"login", 0, "no_mechanism", 1, "the server offers none"}, mailbox, "give --tls"},
        {{"login", 0, "no_mechanism", 1, "the server offers none"}, secure_mailbox, ""},
        {{"login", 0, "err", 1, "Plaintext authentication disallowed on non-secure connections"},
         mailbox,
         "give --tls"},
        {{"login", 0, "err", 1, "[AUTH] Authentication failed."}, mailbox, ""},
        {{"check", 0, "corrupt", 1, "a dot is lost"}, mailbox, ""},
    };
    for (const row& each : rows) {
        INFO(each.what.stage << ' ' << each.what.code << ' ' << each.what.detail << ": "
                             << each.what.sample);
        const std::string hint = client::hint_for({each.what, "mx:25"}, each.by_us);
        if (each.hint.empty())
            CHECK(hint.empty());
        else
            CHECK(hint.find(each.hint) != std::string::npos);
    }
}
