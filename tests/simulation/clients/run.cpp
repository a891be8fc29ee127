// SPDX-License-Identifier: GPL-3.0-or-later
#include "run.hpp"

#include <cstdio>
#include <deque>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <list>
#include <optional>
#include <stdexcept>

#include <netinet/in.h>
#include <stdlib.h>
#include <unistd.h>

#include <fmt/format.h>

#include "bhm/options.hpp"
#include "bhm/phases.hpp"
#include "bhm/plan.hpp"
#include "bhm/session.hpp"
#include "bhm/worker_context.hpp"
#include "lmtp-deliver/options.hpp"
#include "lmtp-deliver/phases.hpp"
#include "lmtp-deliver/plan.hpp"
#include "lmtp-deliver/session.hpp"
#include "lmtp-deliver/worker_context.hpp"
#include "load/worker.hpp"
#include "must.hpp"
#include "postal/phases.hpp"
#include "postal/plan.hpp"
#include "postal/session.hpp"
#include "postal/worker_context.hpp"
#include "program/worker_sessions.hpp"
#include "rabid/options.hpp"
#include "rabid/phases.hpp"
#include "rabid/plan.hpp"
#include "rabid/session.hpp"
#include "rabid/worker_context.hpp"
#include "serve/acceptor.hpp"

namespace clients {

namespace {

using namespace postal;
using simulation::must;
using std::chrono::seconds;

constexpr unsigned most_accounts = 10;
constexpr nanoseconds longest_run = std::chrono::hours(24);
constexpr std::uint16_t imap_port = 143;
constexpr std::uint16_t pop3_port = 110;

std::string address_of(std::size_t account) {
    return fmt::format("user{}@example.com", account);
}

std::size_t phases_of(const scenario& of) {
    if (of.which == client_kind::receiver) return bhm::phase_names().size();
    if (of.which == client_kind::deliverer) return lmtp_deliver::phase_names().size();
    return of.which == client_kind::sender ? sender::phase_count : rabid::phase_count;
}

protocol spoken_on(const scenario& of, std::uint16_t port) {
    if (port == imap_port) return protocol::imap;
    if (port == pop3_port) return protocol::pop3;
    return of.lmtp ? protocol::lmtp : protocol::smtp;
}

std::unique_ptr<peer> make_server(house& of, line& to, log_of_line& log,
                                  std::vector<bad_answer> bad) {
    if (log.spoken == protocol::pop3) return make_pop3_server(of, to, log, std::move(bad));
    if (log.spoken == protocol::imap) return make_imap_server(of, to, log, std::move(bad));
    return make_smtp_server(of, to, log, std::move(bad));
}

content draw_content(const scenario& of, base::random_source& random) {
    if (of.which == client_kind::deliverer) return content::ours;  // told apart by its octets
    const std::uint64_t which = random.below(10);
    if (which == 8 && of.changes) return content::changed;
    return which < 9 ? content::ours : content::foreign;
}

// Of the machine: messages are files of its own.
int lowest_free_descriptor() {
    return base::file_descriptor(::dup(0)).get();
}

// What the program's main thread does: tells the worker when to end.
void plan_end(const scenario& of, simulated_system& below, load::worker& worker) {
    const auto how = of.first_what_is_due ? load::stop_kind::finish_due : load::stop_kind::gently;
    below.at(of.gently, [&worker, how, &of] { worker.stop(how, of.gently); });
    below.at(of.at_once, [&worker, &of] { worker.stop(load::stop_kind::now, of.gently); });
}

// From the run's begin to its end.
void run_worker(const scenario& of, simulated_system& below, load::worker& worker, outcome& made,
                const std::function<void(load::worker&)>& begin) {
    plan_end(of, below, worker);
    const load::timetable times{.start = std::chrono::steady_clock::now(),
                                .first_interval = seconds(60),
                                .interval = seconds(60),
                                .duration = of.gently,
                                .slice = seconds(1)};
    try {
        worker.run(times, begin);
    } catch (const stuck& why) {
        made.wrong.push_back(fmt::format("stuck: {}", why.what()));
    }
    made.ended = below.now();
    if (worker.failure()) made.wrong.push_back("a session failed: " + *worker.failure());
    if (worker.open_connections() != 0) made.wrong.emplace_back("connections are left open");
}

template <class Plan, class Context, class Session>
void run_sessions(Plan& plan, const scenario& of, simulated_system& below, load::worker& worker,
                  outcome& made) {
    std::optional<program::worker_sessions<Plan, Context, Session>> sessions;
    run_worker(of, below, worker, made,
               [&](load::worker& own) { sessions.emplace(plan, own, nullptr); });
}

// Clients come when the scenario says so, each from an address of its own.
template <class Session, class Plan, class Context>
void serve_clients(const Plan& plan, Context& context, const scenario& of, simulated_system& below,
                   load::worker& worker, outcome& made) {
    serve::session_slots slots(plan.chosen.sessions, {});
    auto listeners = must(serve::open_listeners(plan.places, worker.context()));
    load::worker* const workers[]{&worker};
    const serve::client_handler handler = [&](std::size_t, serve::accepted_client who) {
        return serve::serve_client<Session>(context, std::move(who));
    };
    std::list<serve::acceptor> acceptors;
    const auto come = [&] {
        sockaddr_in from{};
        from.sin_family = AF_INET;
        from.sin_addr.s_addr =
            htonl(0xc0000200U + static_cast<std::uint32_t>(below.lines().size() % 200));
        below.dial(from);
    };
    for (const nanoseconds when : of.mail)
        below.at(when, come);
    run_worker(of, below, worker, made, [&](load::worker&) {
        for (net::listener& one : listeners)
            acceptors.emplace_back(one, workers, slots, handler).wait();
    });
    for (net::listener& one : listeners)
        net::close(one);
}

void run_receiver(const scenario& of, const std::vector<std::string>& words,
                  simulated_system& below, load::worker& worker, outcome& made) {
    bhm::options chosen;
    must(bhm::parse_options(chosen, words));
    const auto plan = must(bhm::make_plan(std::move(chosen)));
    bhm::worker_context context(*plan, worker, nullptr);
    serve_clients<bhm::session>(*plan, context, of, below, worker, made);
}

}  // namespace

// The guardian is the machine's, and never finds that the server is gone; nobody reads the log.
struct beside_agents {
    os::guardian guardian = must(os::guardian::start({.most_children = 1000}));
    std::unique_ptr<lmtp_deliver::agent_log> log;

    beside_agents() {
        std::FILE* const nowhere = std::fopen("/dev/null", "w");
        std::FILE* const before = std::exchange(stderr, nowhere);
        log = std::make_unique<lmtp_deliver::agent_log>(lmtp_deliver::log_target::standard_error);
        stderr = before;
    }
};

namespace {

void run_deliverer(const scenario& of, const std::vector<std::string>& words, beside_agents& beside,
                   simulated_system& below, load::worker& worker, outcome& made) {
    lmtp_deliver::options chosen;
    must(lmtp_deliver::parse_options(chosen, words));
    const auto plan = must(lmtp_deliver::make_plan(std::move(chosen)));
    beside.log->next_interval();
    lmtp_deliver::dispatcher slots({.slots = plan->chosen.max_deliveries,
                                    .longest = plan->chosen.max_queued,
                                    .a_recipient = plan->chosen.agents_of_a_recipient()});
    lmtp_deliver::account_lookups lookups;
    lmtp_deliver::worker_context context(*plan, worker, must(os::spawner::create()),
                                         {slots, *beside.log, beside.guardian, lookups});
    serve_clients<lmtp_deliver::session>(*plan, context, of, below, worker, made);
}

void run_program(const scenario& of, const std::vector<std::string>& words, beside_agents& beside,
                 simulated_system& below, load::worker& worker, outcome& made) {
    const program::run_identity identity{.seed = of.seed, .run = 1};
    if (of.which == client_kind::receiver) return run_receiver(of, words, below, worker, made);
    if (of.which == client_kind::deliverer)
        return run_deliverer(of, words, beside, below, worker, made);
    if (of.which == client_kind::sender) {
        sender::options chosen;
        must(sender::parse_options(chosen, words));
        const auto plan = must(sender::make_plan(std::move(chosen), identity));
        run_sessions<sender::plan, sender::worker_context, sender::session>(*plan, of, below,
                                                                            worker, made);
    } else {
        rabid::options chosen;
        must(rabid::parse_options(chosen, words));
        const auto plan = must(rabid::make_plan(std::move(chosen), identity));
        run_sessions<rabid::plan, rabid::worker_context, rabid::session>(*plan, of, below, worker,
                                                                         made);
    }
}

}  // namespace

apparatus::apparatus() : beside_agents_(std::make_unique<beside_agents>()) {
    std::string made = std::filesystem::temp_directory_path() / "postal-clients-XXXXXX";
    if (mkdtemp(made.data()) == nullptr) throw std::runtime_error("no temporary folder");
    folder_ = made;
    for (unsigned accounts = 1; accounts <= most_accounts; ++accounts) {
        std::ofstream file(list_of(accounts));
        for (unsigned each = 0; each < accounts; ++each)
            file << address_of(each) << " secret" << each << '\n';
    }
}

apparatus::~apparatus() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
}

std::string apparatus::list_of(unsigned accounts) const {
    return fmt::format("{}/{}", folder_, accounts);
}

void apparatus::fill(const scenario& of, house& servers, base::random_source& random) {
    for (unsigned each = 0; each < of.accounts; ++each) {
        mailbox& box = servers.boxes[address_of(each)];
        box.address = address_of(each);
        for (std::uint64_t more = random.below(of.most_messages + 1); more > 0; --more)
            put_something(of, box, random);
    }
}

void apparatus::put_something(const scenario& of, mailbox& into, base::random_source& random) {
    const content what = draw_content(of, random);
    into.put(what, press_.make(what, into.address, random));
}

errand apparatus::errand_of(const scenario& of, base::random_source& random) {
    errand made{.recipients = of.lmtp ? 1 + static_cast<unsigned>(random.below(3)) : 1,
                .pipelines = random.below(2) == 0,
                .chunks = random.below(2) == 0};
    mailbox box{.address = address_of(0)};
    for (std::uint64_t more = random.below(8); more > 0; --more)
        put_something(of, box, random);
    made.messages = std::move(box.messages);
    return made;
}

outcome apparatus::perform(const scenario& of) {
    const int lowest = lowest_free_descriptor();
    base::random_source random(base::mix(of.seed, 1, 2));
    outcome made{.counted = stats::tally(phases_of(of))};
    house servers{.traits = of.traits, .exclusive = of.exclusive, .any_may_go = of.any_may_go};
    const bool reads = of.which == client_kind::reader;
    press_.begin_run();
    if (reads) fill(of, servers, random);
    std::deque<log_of_line> logs;
    simulated_system below(
        {.traits =
             [&](std::size_t number) {
                 logs.emplace_back();
                 return traits_of_line(of, number);
             },
         .server =
             [&](line& to) {
                 log_of_line& log = logs[to.number()];
                 auto bad = bad_answers_of_line(of, to.number());
                 if (of.serves()) {
                     log.spoken = of.lmtp ? protocol::lmtp : protocol::smtp;
                     return make_smtp_client(servers, to, log, std::move(bad),
                                             errand_of(of, random));
                 }
                 log.spoken = spoken_on(of, to.port());
                 return make_server(servers, to, log, std::move(bad));
             },
         .child = [&](std::size_t number) { return traits_of_agent(of, number); },
         .accepts = [&](std::size_t number) { return acceptance_of(of, number); }},
        longest_run);
    for (const nanoseconds when : reads ? of.mail : std::vector<nanoseconds>())
        below.at(when, [&] {
            put_something(of, servers.boxes[address_of(random.below(of.accounts))], random);
            for (const auto& tell : servers.told)
                tell();
        });
    {
        load::worker worker({.index = 0, .of = 1, .phases = phases_of(of), .serves = of.serves()},
                            [&](load::worker&, nanoseconds, const stats::tally& counts, bool) {
                                made.counted.merge(counts);
                            });
        std::vector<std::string> words = of.words;
        if (!of.serves())
            words.insert(words.end(), {reads ? "127.0.0.1" : "127.0.0.1:24", list_of(of.accounts)});
        run_program(of, words, *beside_agents_, below, worker, made);
    }
    made.digest = below.digest();
    made.steps = below.steps();
    made.logs.assign(std::make_move_iterator(logs.begin()), std::make_move_iterator(logs.end()));
    if (made.wrong.empty()) judge(of, below, servers, made);
    if (below.open_descriptors() != 0)
        made.wrong.push_back(fmt::format("{} descriptors leak", below.open_descriptors()));
    if (lowest_free_descriptor() != lowest) made.wrong.emplace_back("files are left open");
    return made;
}

}  // namespace clients
