// SPDX-License-Identifier: GPL-3.0-or-later
#include "serve/departure.hpp"

namespace postal::serve {
namespace {

constexpr proto::server_reply closing_for_silence{421, "4.4.2", "Timeout, closing"};

}  // namespace

void departure::hang_up() {
    of_.end();
    of_.output.hang_up();
}

void departure::close_politely(const proto::server_reply& last_words) {
    of_.end();
    of_.output.close_politely(last_words);
}

void departure::lost(net::fault why) {
    if (of_.over()) return;
    of_.end();
    of_.note(net::to_text(why));
    if (why == net::fault::closed && leaves_idle()) {
        ++of_.tally().idle_closes;
        return;
    }
    // Of a message that may still be delivered its client must not be told otherwise.
    if (why == net::fault::stopped && of_.program.outcome_pending()) return hang_up();
    if (why == net::fault::stopped) return close_politely(closing_for_stop);
    if (why == net::fault::timeout && !of_.time.silence()) {
        const auto [stage, words] = of_.time.of_end(of_.machine);
        of_.counted.refused(stage, words);
        return close_politely(words);
    }
    of_.counted.lost(why, of_.connection.tls_problem());
    if (why == net::fault::timeout) close_politely(closing_for_silence);
}

void departure::watch() {
    of_.connection.when_readable([this] {
        if (of_.connection.peer_has_ended()) return of_.waits.wake();
        watch();
    });
}

// A reset, or a closed Unix socket, is certain: nobody is there. Of TCP the kernel shows a close
// and a client that has only shut its sending side in the same way, as an end of what the client
// says. RFC 5321 (4.1.1.10) has clients say QUIT before they close, and wait for the reply: so an
// end without QUIT is a client that has left, and one with QUIT behind what is to be answered still
// waits. Who leaves is answered all the same; a client that shuts its side down without QUIT and
// reads on is told what became of its mail.
bool departure::client_has_left() {
    if (!of_.connection.peer_has_ended()) return false;
    return of_.connection.peer_is_deaf() || !of_.input.ends_in_quit(of_.connection);
}

// Its last transaction is over and answered, and it has had the answer: clients that keep
// connections for the next message, as Postfix does, close them so when none comes.
bool departure::leaves_idle() {
    const bool heard = of_.output.all_heard();
    const transaction_books& books = of_.counted.books();
    return books.had_transaction() && books.begun() == 0 && dialogue_.at_rest() && heard &&
           !of_.machine.in_line() && !of_.machine.in_auth();
}

}  // namespace postal::serve
