// How a client leaves: whether one that is owed answers still waits for them, and whether one that
// closes without QUIT was under way with anything.
//
// A reset, or a closed Unix socket, is certain: nobody is there. Of TCP the kernel shows a close and a
// client that has only shut its sending side in the same way, as an end of what the client says. RFC
// 5321 (4.1.1.10) has clients say QUIT before they close, and wait for the reply: so an end without
// QUIT is a client that has left, and one with QUIT behind what is to be answered still waits. Who
// leaves is answered all the same; a client that shuts its side down without QUIT and reads on is told
// what became of its mail.
//
// Limits: over TLS, and behind more than 64 KiB, a QUIT that has not been read yet is not seen.
#include "serve/session.hpp"

#include <algorithm>

#include "base/text.hpp"

namespace postal::serve {

void session::watch_for_leaving() {
    connection_.when_readable([this] {
        if (connection_.peer_has_ended()) return wake();
        watch_for_leaving();
    });
}

bool session::client_has_left() {
    if (!connection_.peer_has_ended()) return false;
    return connection_.peer_is_deaf() || !quit_is_said();
}

// It says no more: its last line is here.
bool session::quit_is_said() {
    static constexpr std::string_view quit = "\nQUIT\r\n";
    const auto end_of = [](std::string_view text) {
        return text.substr(text.size() - std::min(text.size(), quit.size()));
    };
    const std::size_t unread = connection_.peek(context_.input);
    if (unread == context_.input.size()) return false;
    std::string said = "\n";
    said.append(end_of(input_)).append(end_of({context_.input.data(), unread}));
    return base::iequals(end_of(said), quit);
}

// Its last transaction is over and answered, and it has had the answer: clients that keep connections
// for the next message, as Postfix does, close them so when none comes.
bool session::leaves_idle() {
    connection_.settle();
    return had_transaction_ && begun_ == 0 && at_rest() && heard_.all(connection_.octets_out) &&
           !machine_.in_line() && !machine_.in_auth();
}

}  // namespace postal::serve
