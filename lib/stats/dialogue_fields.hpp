// SPDX-License-Identifier: GPL-3.0-or-later
// What a record says of the dialogue with the peers: TLS, commands and their answers, the actions
// of a profile, errors; see record_fields.hpp.
#pragma once

#include "stats/record_form.hpp"
#include "stats/run_record.hpp"
#include "stats/time_fields.hpp"

#include <string>

namespace postal::stats {

template <class Archive>
void fields(Archive& each, field<Archive, tls_summary>& of) {
    each("library", of.library);
    each("full", of.full, "handshakes");
    each("resumed", of.resumed, "handshakes");
    each("versions", of.versions);
    each("ciphers", of.ciphers);
    each("groups", of.groups, "of the key exchange");
    each("verification", of.verification, "of certificates");
}

template <class Archive>
void fields(Archive& each, field<Archive, command_count>& of) {
    each("sent", of.sent);
    each("ok", of.ok);
    each("no", of.no);
    each("bad", of.bad);
    each("unanswered", of.unanswered, "the connection ended first");
}

template <class Archive>
void fields(Archive& each, field<Archive, command_figures>& of) {
    fields<Archive>(each, static_cast<field<Archive, command_count>&>(of));
}

template <class Archive>
void fields(Archive& each, field<Archive, command_summary>& of) {
    fields<Archive>(each, static_cast<field<Archive, command_count>&>(of));
    each.named("by_kind", of.by_kind, &command_figures::name,
               "those that were sent, by the command's name without UID");
}

template <class Archive>
void fields(Archive& each, field<Archive, action_count>& of) {
    each("begun", of.begun);
    each("ok", of.ok);
    each("refused", of.refused);
    each("failed", of.failed, "the connection ended first");
    each("nothing", of.nothing, "there was nothing to do, and no command was sent");
}

template <class Archive>
void fields(Archive& each, field<Archive, verb_figures>& of) {
    each("weight", of.weight, "beside those of the other verbs, of the actions that are drawn");
    each("first", of.first, "so often at the beginning of each session");
    each("last", of.last, "so often at its end");
    fields<Archive>(each, static_cast<field<Archive, action_count>&>(of));
    each("latency_us", of.latency, "of those that ended well");
    each.named("by_size_us", of.by_size, &phase_figures::name,
               "the same by how many messages lay in the mailbox when the action began: 0, and the "
               "power of ten from which a class reaches up to the next");
}

template <class Archive>
void fields(Archive& each, field<Archive, profile_summary>& of) {
    each("name", of.name);
    each("least_actions", of.least_actions, "that are drawn in a session");
    each("most_actions", of.most_actions);
    fields<Archive>(each, static_cast<field<Archive, action_count>&>(of));
    each.named("verbs", of.verbs, &verb_figures::verb, "those that were wanted or begun");
}

template <class Archive>
void fields(Archive& each, field<Archive, connection_summary>& of) {
    each("messages_per_connection", of.messages, "accepted");
    each("recipients_per_transaction", of.recipients, "accepted");
    each("tls_share", of.tls, "of the connections");
    each("pipelined_share", of.pipelined, "of the transactions");
    each("most_open", of.most_open, "at once");
}

// The detail of a server's reply is its enhanced code, of anything else the reason.
template <class Archive>
void fields(Archive& each, field<Archive, error_entry>& of) {
    each("stage", of.stage);
    each("code", of.code, "of the reply; 0: there was none");
    std::string none;
    field<Archive, std::string>& empty = none;
    each("enhanced", of.code != 0 ? of.detail : empty, "enhanced code of the reply");
    each("reason", of.code != 0 ? empty : of.detail, "where there was no reply");
    each("count", of.count);
    each("sample", of.sample);
}

template <class Archive>
void fields(Archive& each, field<Archive, server_greeting>& of) {
    each("server", of.server, "as the command line names it");
    each("text", of.text, "of the first line, at most 200 octets");
}

}  // namespace postal::stats
