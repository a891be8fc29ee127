// SPDX-License-Identifier: GPL-3.0-or-later
#include "server.hpp"

#include <new>
#include <utility>

namespace simulation {

namespace {

using postal::proto::cut;
using postal::proto::server_reply;

constexpr std::size_t read_at_once = 64 * 1024;
constexpr server_reply closing_for_stop{421, "4.3.2", "Shutting down"};
constexpr server_reply closing_for_silence{421, "4.4.2", "Timeout, closing"};

}  // namespace

server_session::server_session(server_house& house, connection& line, connection_record& truth)
    : house_(house),
      line_(line),
      voice_(house.of, house.output, line, truth),
      dialogue_(house, *this, line, truth, voice_),
      waits_(house.time, *this) {
    line_.attach(side::server, *this);
    ++tally().connections;
}

// ---- the conversation ----

void server_session::act() {
    try {
        go_on();
    } catch (const std::bad_alloc&) {
        no_memory();
    }
}

void server_session::go_on() {
    if (flow_.over) return;
    if (flow_.leaving) return end();
    if (flow_.silent) return fall_silent();
    if (waits_.waits_for(waiting::its_time)) {
        if (waits_.in_time()) return house_.time.wake(*this, waits_.deadline());
        patience().held_back(house_.time.now() - waits_.since());
        dialogue_.let_go();
        waits_.have(waiting::its_time);
        waits_.move_deadline(patience().of_silence());
    }
    converse();
}

void server_session::stop() {
    flow_.stopping = true;
    dialogue_.stop();
    house_.time.wake(*this);
}

void server_session::converse() {
    while (!flow_.over && !flow_.leaving) {
        if (!flow_.sending) flow_.now = dialogue_.process();
        flow_.sending = true;
        if (!send()) return;
        flow_.sending = false;
        switch (flow_.now) {
            case next::read:
                if (flow_.stopping && !machine().in_transaction())
                    return close_politely(closing_for_stop);
                if (!read()) return;
                break;
            case next::hold:
                waits_.wait(waiting::its_time, house_.time.now() + dialogue_.hold_for());
                return;
            case next::answers:
                flow_.sending = true;
                if (!await_answers()) return;
                flow_.sending = false;
                break;
            case next::cut:
                return cut_off();
            case next::close:
                return hang_up();
            case next::stop:
                return close_politely(closing_for_stop);
        }
    }
}

bool server_session::send() {
    if (voice_.flush()) {
        waits_.have(waiting::room);
        return true;
    }
    if (line_.is_reset(side::server)) {
        lost(fault::reset);
    } else if (!waits_.wait(waiting::room, patience().of_silence())) {
        lost(fault::timeout);
    }
    return false;
}

// False when nothing has come.
bool server_session::read() {
    const steady_time now = house_.time.now();
    const std::string_view got = line_.read(side::server, read_at_once);
    if (got.empty() && (line_.is_reset(side::server) || line_.has_ended(side::server))) {
        lost(line_.is_reset(side::server) ? fault::reset : fault::closed);
        return false;
    }
    // A line has as long as silence may last, however slowly it comes.
    if (got.empty() && machine().in_line() && waits_.deadline() != steady_time::max())
        waits_.go_on(waiting::octets);
    if (got.empty()) {
        const steady_time until = waits_.waits_for(waiting::octets)
                                      ? waits_.deadline()
                                      : patience().of_client(machine(), false);
        if (!waits_.wait(waiting::octets, until)) lost(fault::timeout);
        return false;
    }
    if (machine().content_begun() && waits_.waits_for(waiting::octets))
        patience().content_waited(now - waits_.since());
    waits_.have(waiting::octets);
    house_.shown.octets(line_.number(), "server <-", got);
    dialogue_.hear(got);
    return true;
}

// Whether the client waits for the answers decides only what is begun. False while they are not
// there.
bool server_session::await_answers() {
    agent_desk& agents = *dialogue_.desk().agents();
    if (!agents.answers_ready() && client_has_left() && !std::exchange(flow_.told, true))
        agents.client_left();
    if (!agents.answers_ready()) {
        waits_.wait(waiting::answers, steady_time::max());
        return false;
    }
    flow_.told = false;
    waits_.have(waiting::answers);
    waits_.move_deadline(steady_time::max());
    patience().begin_anew();
    agents.give_answers();
    voice_.let_go();
    return true;
}

// Who has said QUIT waits for it: serve::session has more of it.
bool server_session::client_has_left() const {
    if (line_.is_reset(side::server)) return true;
    return line_.may_have_gone(side::server) &&
           !line_.from(side::client).said().ends_with("QUIT\r\n");
}

void server_session::cut_off() {
    if (voice_.held().ending() == cut::silence) return fall_silent();
    if (voice_.held().ending() == cut::fin) return hang_up();
    line_.reset(side::server);
    end();
}

// What comes is thrown away until the client goes or its time is over.
void server_session::fall_silent() {
    if (!std::exchange(flow_.silent, true)) {
        house_.shown.note(line_.number(), "the server falls silent");
        waits_.go_on(waiting::nothing);
    }
    while (!line_.read(side::server, read_at_once).empty())
        waits_.go_on(waiting::nothing);
    const bool gone = line_.has_ended(side::server) || line_.is_reset(side::server);
    const bool patient = waits_.wait(waiting::octets, patience().of_silence());
    if (gone || !patient || flow_.stopping) hang_up();
}

// ---- how it ends ----

void server_session::lost(fault why) {
    if (why == fault::closed && dialogue_.leaves_idle()) {
        ++tally().idle_closes;
        return end();
    }
    if (why == fault::timeout && !voice_.blocked()) {
        const bool silence = patience().silence();
        return close_politely(silence ? closing_for_silence : patience().of_end(machine()).reply);
    }
    end();
}

void server_session::close_politely(const server_reply& last_words) {
    if (!voice_.blocked()) {
        voice_.say_goodbye(last_words);
        voice_.flush();
    }
    hang_up();
}

void server_session::hang_up() {
    while (!line_.read(side::server, read_at_once).empty())
        continue;
    end();
}

// What was not sent is never said, and not to anybody else.
void server_session::no_memory() {
    house_.shown.note(line_.number(), "the server has no memory");
    voice_.forget();
    end();
}

// What agents do for a client that is gone is waited for; what they have not begun is not.
void server_session::end() {
    if (!std::exchange(flow_.leaving, true)) line_.close(side::server);
    if (dialogue_.desk().work_left()) dialogue_.desk().agents()->client_left();
    if (dialogue_.desk().work_left()) return;
    flow_.over = true;
    tally().unheard += voice_.unheard(dialogue_.quit());
    dialogue_.drop();
}

}  // namespace simulation
