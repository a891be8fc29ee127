// AUTHENTICATE of IMAP (RFC 3501 6.2.2, RFC 9051 6.2.2), with initial responses where the server
// offers SASL-IR (RFC 4959).
#include <iterator>
#include <utility>

#include "proto/base64.hpp"
#include "rabid/imap_visit.hpp"
#include "rabid/login.hpp"

namespace postal::rabid {

namespace {

namespace asio = boost::asio;
using proto::imap_capability;
using proto::imap_condition;
using proto::imap_tag;
using proto::imap_verb;
using sasl::mechanism;

constexpr std::pair<imap_capability, mechanism> announced[] = {
    {imap_capability::auth_plain, mechanism::plain},
    {imap_capability::auth_login, mechanism::login},
    {imap_capability::auth_cram_md5, mechanism::cram_md5},
    {imap_capability::auth_scram_sha_1, mechanism::scram_sha_1},
    {imap_capability::auth_scram_sha_256, mechanism::scram_sha_256},
    {imap_capability::auth_scram_sha_1_plus, mechanism::scram_sha_1_plus},
    {imap_capability::auth_scram_sha_256_plus, mechanism::scram_sha_256_plus},
    {imap_capability::auth_xoauth2, mechanism::xoauth2},
    {imap_capability::auth_oauthbearer, mechanism::oauthbearer},
    {imap_capability::auth_external, mechanism::external},
    {imap_capability::auth_anonymous, mechanism::anonymous},
};
static_assert(std::size(announced) == sasl::mechanism_count);

sasl::mechanism_set offered_by(const proto::imap_capabilities& offered) {
    sasl::mechanism_set found;
    for (const auto& [capability, which] : announced) {
        if (offered.has(capability)) found.add(which);
    }
    return found;
}

}  // namespace

asio::awaitable<bool> imap_visit::authenticate() {
    const proto::imap_capabilities& offered = responses_.capabilities();
    const auto which = choose_mechanism(guest_, offered_by(offered));
    if (!which) co_return false;
    const std::string binding = guest_.connection.connection().channel_binding();
    sasl::conversation talk(*guest_.shop.sasl, *which, credentials_of(guest_, "imap", binding));
    const std::size_t room = offered.has(imap_capability::sasl_ir) ? proto::max_auth_line : 0;
    const std::string_view initial = talk.initial(room);
    const std::string_view name = sasl::name_of(*which);
    const imap_tag tag = commands_.authenticate(out_, name, initial);
    if (!talk.problem().empty() || !mailbox_.sent(tag, imap_verb::authenticate)) {
        out_.clear();
        refused(guest_, talk, "cannot be begun");
        co_return false;
    }
    shown_ = "a" + std::to_string(tag) + " AUTHENTICATE " + std::string(name);
    shown_.append(initial.empty() ? "\r\n" : " ***\r\n");
    authenticating_ = expecting_no_ = true;
    const bool in = co_await converse(talk, tag);
    authenticating_ = expecting_no_ = false;
    co_return in;
}

// Challenges and responses, up to the server's verdict. out_ holds the command.
asio::awaitable<bool> imap_visit::converse(sasl::conversation& talk, imap_tag tag) {
    go_ahead_ = false;
    bool fine = co_await send_out(stage::login);
    while (fine && answered_ != tag) {
        const bool asked = co_await wait_for_go_ahead(stage::login);
        if (guest_.connection.broken()) co_return false;
        if (!asked) break;
        if (talk.cancelled()) {  // and asked once more
            refused(guest_, talk, {});
            guest_.connection.give_up(stage::login, "garbage", "a challenge behind the end");
            co_return false;
        }
        go_ahead_ = false;
        std::string line(talk.answer(said_));
        line.append("\r\n");
        const std::string_view shown = talk.cancelled() ? "*\r\n" : "***\r\n";
        fine = co_await guest_.connection.send(stage::login, line, shown);
    }
    if (!fine) co_return false;
    if (condition_ == imap_condition::ok) co_return agreed(guest_, talk);
    refused(guest_, talk, said_);
    co_return false;
}

}  // namespace postal::rabid
