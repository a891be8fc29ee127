// SPDX-License-Identifier: GPL-3.0-or-later
// postal: loads a mail server with SMTP or LMTP sessions and counts what it takes.
//
// Options become a plan; workers run the plan's sessions; the console prints and records what they
// counted. Where to read on:
//   session.cpp           a connection's life: connect, greeting, EHLO, QUIT
//   session_mail.cpp      the loop in which messages are sent and replies are read
//   exchange.cpp          what is said, and when: plain, pipelined, chunked
//   exchange_replies.cpp  what each reply means
//   message_outcomes.cpp  where messages are counted and timed
#include <memory>
#include <utility>

#include <fmt/core.h>

#include "cli/main.hpp"
#include "postal/dry_run.hpp"
#include "postal/options.hpp"
#include "postal/own_limit.hpp"
#include "postal/plan.hpp"
#include "postal/session.hpp"
#include "postal/worker_context.hpp"
#include "program/dry_run.hpp"
#include "program/ranks.hpp"
#include "program/run.hpp"
#include "program/worker_sessions.hpp"

namespace postal::sender {

namespace {

using cli::exit_status;
using worker_sessions = program::worker_sessions<plan, worker_context, session>;

// One process speaks for all.
exit_status preview(const plan& of, const program::ranks& others) {
    if (!others.leads()) return exit_status::done;
    if (of.chosen.dry_run) fmt::print("{}", describe_dry_run(of));
    if (of.chosen.dry_run_message) fmt::print("{}", first_message(of));
    return exit_status::done;
}

// Of one session: a transaction for each that is in flight, and one more whose envelope has left
// before that.
std::uint64_t messages_at_once(const plan& of) {
    const std::uint64_t each = of.chosen.lmtp ? of.chosen.recipients.most : 1;
    return each * (of.chosen.in_flight + (of.chosen.pipelining == pipelining::overlap ? 1 : 0));
}

program::client_run::remarks_or_failure close_samples(plan& of) {
    std::vector<std::string> remarks;
    if (!of.samples) return remarks;
    const auto closed = of.samples->close();
    if (!closed) return base::at("--samples: " + of.chosen.samples_file, closed.error());
    if (of.samples->fell_behind())
        remarks.emplace_back("--samples: did not keep up with this run; sessions waited for it");
    return remarks;
}

exit_status run(int argc, char** argv) {
    const auto others = program::ranks::join("postal");
    if (const auto& joined = others->joined(); !joined)
        return others->refuse(joined.error(), exit_status::system_error);
    options chosen;
    const auto asked = parse_options(chosen, {argv + 1, argv + argc});
    if (!asked) return others->refuse(asked.error(), exit_status::bad_parameters);
    if (*asked == cli::parse_result::done) return others->leave(exit_status::done);
    auto made = make_plan(std::move(chosen), others->identity());
    if (!made) return others->refuse(made.error(), exit_status::bad_parameters);
    plan& of = **made;
    if (of.chosen.dry_run || of.chosen.dry_run_message) {
        auto fit = program::check_reports(of.chosen);
        if (fit && others->alone()) fit = program::check_metrics(of.chosen);
        if (fit) fit = program::check_files({{"--samples", of.chosen.samples_file}});
        if (!fit) return others->refuse(fit.error(), exit_status::bad_parameters);
        return others->leave(preview(of, *others));
    }
    if (!of.chosen.samples_file.empty()) {
        auto opened = sample_file::open(others->own_file(of.chosen.samples_file));
        if (!opened)
            return others->refuse(base::at("--samples", opened.error()),
                                  exit_status::bad_parameters);
        of.samples = std::move(*opened);
    }
    const bool only_connects = of.chosen.messages_a_connection == 0;
    return program::run_clients(
        {.others = *others,
         .plan = of.load,
         .chosen = of.chosen,
         .description = describe(of, argc, argv),
         .at_once = messages_at_once(of),
         .messages = of.chosen.messages.value_or(0),
         .hint = [by_us =
                      spoken_in(of)](const auto& error) { return client::hint_for(error, by_us); },
         .alone = [&of] { return alone_plan_of(of); },
         .begin =
             [&of](load::worker& own, ledger::writer* book) {
                 return std::make_shared<worker_sessions>(of, own, book);
             },
         .close = [&of] { return close_samples(of); },
         .achieved =
             [only_connects](const stats::tally& all) {
                 return only_connects ? all.connections > 0 : all.messages > 0;
             }});
}

}  // namespace

}  // namespace postal::sender

int main(int argc, char** argv) {
    return postal::cli::run_main("postal", [&] { return postal::sender::run(argc, argv); });
}
