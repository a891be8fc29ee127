// SPDX-License-Identifier: GPL-3.0-or-later
// A table of what gives a wrong protocol away; the first row that fits is said.
#include "client/hints.hpp"

#include <algorithm>
#include <iterator>
#include <string_view>

namespace postal::client {

namespace {

struct clue {
    const stats::error_entry& what;
    const spoken& by_us;

    bool at(stage where) const noexcept { return what.stage == to_text(where); }
    bool is(std::string_view reason) const noexcept {
        return what.code == 0 && what.detail == reason;
    }
    bool begins(std::string_view text) const noexcept { return what.sample.starts_with(text); }
    bool mailbox() const noexcept { return by_us.language == dialect::mailbox; }
    // RFC 5321 4.2.4: the command is not known, or not here.
    bool command_unknown() const noexcept { return what.code >= 500 && what.code <= 504; }
    bool plain_greeting() const noexcept { return at(stage::banner) && !by_us.begins_with_tls(); }
    bool says(std::string_view words) const noexcept {
        return what.sample.find(words) != std::string::npos;
    }
};

struct rule {
    bool (*fits)(const clue&);
    std::string_view hint;
};

// Octets that are no text stand in a sample as error_table writes them: an alert of TLS, which a
// server at a TLS port may answer with.
constexpr std::string_view shown_tls_alert = "\\x15\\x03";

constexpr rule rules[] = {
    {[](const clue& c) {
         return c.at(stage::tls) && c.by_us.begins_with_tls() &&
                (c.is("not_tls") || c.says("wrong version number"));
     },
     "the server greets in the open there: leave --tls implicit away (--tls starttls turns TLS on "
     "later), or give the port where TLS begins at once"},
    {[](const clue& c) { return c.at(stage::tls) && c.is("no_starttls"); },
     "leave --tls and --ssl-percent away, or, for a port where TLS begins at once (465, 993, 995), "
     "give --tls implicit"},
    {[](const clue& c) { return c.plain_greeting() && c.begins(shown_tls_alert); },
     "the server speaks TLS from the first octet: give --tls implicit"},
    {[](const clue& c) { return c.plain_greeting() && c.is("timeout"); },
     "a server that waits for TLS is silent, too: if TLS begins at once at that port (465, 993, "
     "995), "
     "give --tls implicit"},
    {[](const clue& c) { return c.plain_greeting() && (c.is("closed") || c.is("reset")); },
     "the server hung up without a greeting: it may let nobody in from here, or begin with TLS at "
     "that port (--tls implicit)"},
    {[](const clue& c) {
         return c.at(stage::ehlo) && c.by_us.language == dialect::smtp && c.command_unknown();
     },
     "the server knows neither EHLO nor HELO: if it is an LMTP server, give -L"},
    {[](const clue& c) {
         return c.at(stage::ehlo) && c.by_us.language == dialect::lmtp && c.command_unknown();
     },
     "the server does not know LHLO: if it is an SMTP server, leave -L away"},
    {[](const clue& c) { return c.at(stage::banner) && !c.mailbox() && c.begins("+OK"); },
     "that is a POP3 server: rabid reads from it; give the port of SMTP (25, 587) or LMTP (24)"},
    {[](const clue& c) { return c.at(stage::banner) && !c.mailbox() && c.begins("* "); },
     "that is an IMAP server: rabid reads from it; give the port of SMTP (25, 587) or LMTP (24)"},
    {[](const clue& c) { return c.at(stage::banner) && c.mailbox() && c.begins("* "); },
     "that is an IMAP server, asked for POP3: give it as --imap ENDPOINT with --imap-percent 100"},
    {[](const clue& c) { return c.at(stage::banner) && c.mailbox() && c.begins("+OK"); },
     "that is a POP3 server, asked for IMAP: give it as SERVER, and another as --imap or none "
     "with --imap-percent 0"},
    {[](const clue& c) { return c.at(stage::banner) && c.mailbox() && c.begins("220"); },
     "that is an SMTP or LMTP server: postal sends to it; give the port of POP3 (110) or IMAP "
     "(143, with --imap)"},
    {[](const clue& c) {
         const bool in_mail = c.at(stage::mail) || c.at(stage::rcpt) || c.at(stage::data);
         return c.by_us.overlaps && in_mail && c.what.code == 503;
     },
     "the server perhaps does not take what is sent behind the final dot: try --pipelining auto, "
     "with --in-flight 1"},
    {[](const clue& c) { return c.at(stage::connect) && c.is("refused"); },
     "nothing listens there: is the server up, and is that its port?"},
    {[](const clue& c) { return c.at(stage::connect) && c.is("timeout"); },
     "nobody answers there: is that the host, and does a firewall let us through?"},
    {[](const clue& c) { return c.what.code == 530 && c.says("STARTTLS"); },
     "the server wants TLS first: give --tls"},
    {[](const clue& c) { return !c.mailbox() && c.what.code == 530 && !c.says("STARTTLS"); },
     "the server wants a login: give --auth, and passwords in the user list"},
    {[](const clue& c) {
         return c.at(stage::auth) && c.is("no_mechanism") && !c.by_us.tls && c.says("after TLS");
     },
     "many servers offer AUTH only after TLS: give --tls"},
    {[](const clue& c) {
         return c.at(stage::login) && !c.by_us.tls &&
                (c.is("login_disabled") || c.is("no_mechanism") || c.says("PRIVACYREQUIRED") ||
                 c.says("laintext authentication disallowed"));
     },
     "many servers let people log in only after TLS: give --tls"},
    {[](const clue& c) { return c.at(stage::auth) && c.what.code == 535; },
     "are the passwords in the user list those of this server?"},
    {[](const clue& c) { return c.at(stage::rcpt) && c.what.code == 554; },
     "the server does not relay for us: are the domains of USER-LIST its own, or is --auth "
     "wanted?"},
    {[](const clue& c) { return c.at(stage::rcpt) && c.what.code == 550; },
     "are the addresses of USER-LIST users of this server?"},
};

}  // namespace

std::string hint_for(const stats::first_error& error, const spoken& by_us) {
    const clue found{error.what, by_us};
    const auto* const row = std::find_if(std::begin(rules), std::end(rules),
                                         [&](const rule& one) { return one.fits(found); });
    return row == std::end(rules) ? std::string() : std::string(row->hint);
}

}  // namespace postal::client
