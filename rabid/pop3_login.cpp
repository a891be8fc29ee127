// AUTH of POP3 (RFC 5034).
#include "rabid/login.hpp"
#include "rabid/pop3_visit.hpp"

namespace postal::rabid {

namespace {

namespace asio = boost::asio;
using proto::pop3_event;
using proto::pop3_form;
using proto::pop3_status;

constexpr std::size_t longest_command = 255;  // RFC 2449 4, with its CRLF

}  // namespace

asio::awaitable<bool> pop3_visit::authenticate() {
    const auto which = choose_mechanism(visit_, sasl::parse_mechanisms(offered_.sasl));
    if (!which) co_return false;
    const std::string binding = visit_.connection.connection().channel_binding();
    sasl::conversation talk(*visit_.context.shared.sasl, *which,
                            credentials_of(visit_, "pop", binding));
    const std::string_view name = sasl::name_of(*which);
    const std::string_view initial = talk.initial(longest_command - 8 - name.size());
    out_.clear();
    if (!talk.problem().empty() || !proto::append_auth(out_, name, initial)) {
        refused(visit_, talk, "cannot be begun");
        co_return false;
    }
    std::string shown = "AUTH " + std::string(name);
    shown.append(initial.empty() ? "\r\n" : " ***\r\n");
    parser_.expect(pop3_form::auth);
    const bool sent = co_await visit_.connection.send(stage::login, out_, shown);
    if (!sent) co_return false;
    co_return co_await converse(talk);
}

// Challenges and responses, up to the server's answer.
asio::awaitable<bool> pop3_visit::converse(sasl::conversation& talk) {
    for (;;) {
        const pop3_event event = co_await next(stage::login);
        if (event != pop3_event::status) co_return false;
        if (parser_.status() == pop3_status::ok) co_return agreed(visit_, talk);
        if (parser_.status() == pop3_status::err) {
            refused(visit_, talk, parser_.text());
            co_return false;
        }
        if (talk.cancelled()) {  // and asked once more
            refused(visit_, talk, {});
            visit_.connection.give_up(stage::login, "garbage", "a challenge behind the end");
            co_return false;
        }
        out_.clear();
        const bool sayable = proto::append_auth_answer(out_, talk.answer(parser_.text()));
        if (!sayable) co_return false;
        const std::string_view shown = talk.cancelled() ? "*\r\n" : "***\r\n";
        const bool sent = co_await visit_.connection.send(stage::login, out_, shown);
        if (!sent) co_return false;
    }
}

}  // namespace postal::rabid
