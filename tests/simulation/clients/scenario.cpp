// SPDX-License-Identifier: GPL-3.0-or-later
#include "scenario.hpp"

#include <cerrno>
#include <initializer_list>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/random.hpp"

namespace clients {

namespace {

using postal::base::random_source;
using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::uint64_t of_scenarios = 0x7265616465727321U;
constexpr std::uint64_t of_agents = 0x6167656e74732020U;
constexpr std::uint64_t of_accepts = 0x6163636570747321U;
constexpr std::uint64_t of_lines = 0x6c696e6573206f66U;
constexpr std::uint64_t of_answers = 0x616e73776572733fU;

bool happens(random_source& random, unsigned percent) {
    return random.below(100) < percent;
}

template <class Value, std::size_t Size>
const Value& one_of(random_source& random, const Value (&values)[Size]) {
    return values[random.below(Size)];
}

void add_words(scenario& into, std::initializer_list<std::string> words) {
    into.words.insert(into.words.end(), words);
}

void draw_rate(scenario& into, random_source& random) {
    static constexpr unsigned rates[]{5, 50, 1000};
    const unsigned rate = one_of(random, rates);
    add_words(into, {"--rate", fmt::format("{}/s", rate)});
    const bool even = !happens(random, 20);
    if (!even) add_words(into, {"--arrival", "poisson"});
    into.first_what_is_due = happens(random, 25);
    if (!into.first_what_is_due) return;
    into.words.emplace_back("--open-loop");
    if (even) into.even_rate = rate;
}

void draw_sender(scenario& into, random_source& random) {
    const auto with = [&](unsigned percent, std::initializer_list<std::string> words) {
        if (happens(random, percent)) add_words(into, words);
    };
    static constexpr const char* sizes[]{"fixed:600", "uniform:1,3K", "lognormal:4K,1,200K"};
    static constexpr const char* bodies[]{"ascii", "dots", "crlf-edge,8bit", "multipart"};
    static constexpr const char* pipelining[]{"auto", "overlap", "off"};
    into.lmtp = happens(random, 50);
    if (into.lmtp) into.words.emplace_back("--lmtp");
    const std::string pipelines = one_of(random, pipelining);
    add_words(into, {"--sessions", std::to_string(1 + random.below(8)), "--messages-per-connection",
                     std::to_string(1 + random.below(12)), "--size", one_of(random, sizes),
                     "--body", one_of(random, bodies), "--pipelining", pipelines});
    if (happens(random, 75)) draw_rate(into, random);
    const bool chunks = happens(random, 50);
    if (chunks) add_words(into, {"--chunking", "auto"});
    if (chunks && pipelines != "off")
        with(70, {"--in-flight", std::to_string(1 + random.below(6))});
    with(40, {"--recipients", fmt::format("1..{}", 1 + random.below(into.accounts))});
    into.tickets = 1 + random.below(300);
    add_words(into, {"--messages", std::to_string(into.tickets)});
}

void draw_reader(scenario& into, random_source& random) {
    const auto with = [&](unsigned percent, std::initializer_list<std::string> words) {
        if (happens(random, percent)) add_words(into, words);
    };
    static constexpr const char* profiles[]{"original", "desktop", "phone",
                                            "webmail",  "poller",  "archive"};
    static constexpr const char* percents[]{"0", "0", "50", "100", "100"};
    static constexpr const char* rates[]{"5/s", "50/s", "1000/s"};
    add_words(into, {"--sessions", std::to_string(1 + random.below(8)), "--imap-percent",
                     one_of(random, percents), "--rate", one_of(random, rates)});
    with(30, {"--messages-per-connection", std::to_string(random.below(5))});
    with(40, {"--download", fmt::format("{}:{}", random.below(101), random.below(101))});
    with(20, {"--pipelining", "off"});
    with(20, {"--apop", "auto"});
    into.any_may_go = happens(random, 30);
    if (into.any_may_go) into.words.emplace_back("--delete-foreign");
    const std::string profile = one_of(random, profiles);
    with(60, {"--profile", profile});
    // More than hundreds show nothing new.
    into.tickets = 1 + random.below(happens(random, 20) ? 40 : 400);
    add_words(into, {"--connections", std::to_string(into.tickets)});
    into.watches = happens(random, 25);
    if (into.watches) {
        add_words(into, {"--watch", fmt::format("{}ms", 50 + random.below(3000))});
        with(30, {"--watch-by", "noop"});
    }
    into.pauses = into.watches || profile != "original";
    into.exclusive = !happens(random, 15);
    if (!into.exclusive) into.words.emplace_back("--shared-accounts");
}

void draw_receiver(scenario& into, random_source& random) {
    const auto with = [&](unsigned percent, std::initializer_list<std::string> words) {
        if (happens(random, percent)) add_words(into, words);
    };
    static constexpr const char* stages[]{"connect", "ehlo", "mail",  "rcpt",
                                          "data",    "end",  "banner"};
    into.lmtp = happens(random, 50);
    if (into.lmtp) into.words.emplace_back("--lmtp");
    with(30, {"--verify", "off"});
    with(20, {"--bare-newline", "accept"});
    into.exact = !happens(random, 30);
    if (!into.exact) {
        with(40, {"--max-errors", std::to_string(1 + random.below(4))});
        with(40, {"--max-recipients", "1"});
        with(40, {"--max-size", "2"});
        with(40, {"--message-time", fmt::format("{}s", 1 + random.below(20))});
    }
    into.pauses = happens(random, 30);
    if (into.pauses)
        add_words(into,
                  {"--delay", fmt::format("{}={}ms", one_of(random, stages), random.below(3000))});
}

void draw_deliverer(scenario& into, random_source& random) {
    const auto with = [&](unsigned percent, std::initializer_list<std::string> words) {
        if (happens(random, percent)) add_words(into, words);
    };
    static constexpr unsigned shares[]{0, 10, 50, 100};
    into.lmtp = into.pauses = true;
    into.exact = false;
    into.most_agents = 1 + static_cast<unsigned>(random.below(5));
    into.agent_timeout = seconds(1 + random.below(4));
    into.bad_agents = one_of(random, shares);
    into.keeps_crlf = happens(random, 50);
    add_words(into, {"--agent", "/bin/true", "--allow-root-agent", "--env", "HOME=/", "--env",
                     "USER=nobody", "--min-free", "0", "--max-deliveries",
                     std::to_string(into.most_agents), "--timeout",
                     fmt::format("{}s", into.agent_timeout / seconds(1)), "--line-ends",
                     into.keeps_crlf ? "crlf" : "lf"});
    with(40, {"--max-per-recipient", "1"});
    with(40, {"--max-queued", std::to_string(random.below(6))});
    with(30, {"--queue-timeout", fmt::format("{}s", 1 + random.below(5))});
    with(20, {"--memory-limit", "1"});
}

void draw_listeners(scenario& into, random_source& random) {
    static constexpr unsigned shares[]{0, 0, 10, 60};
    add_words(into, {"--listen", "127.0.0.1:25"});
    if (happens(random, 30)) add_words(into, {"--listen", "127.0.0.1:26"});
    into.bad_accepts = one_of(random, shares);
    if (!happens(random, 20)) return;
    into.most_sessions = 1 + static_cast<unsigned>(random.below(4));
    add_words(into, {"--sessions", std::to_string(into.most_sessions)});
}

void draw_options(scenario& into, random_source& random) {
    static constexpr seconds timeouts[]{seconds(1), seconds(5), seconds(60)};
    static constexpr unsigned accounts[]{1, 2, 3, 10};
    into.accounts = one_of(random, accounts);
    into.timeout = one_of(random, timeouts);
    into.which = static_cast<client_kind>(random.below(4));
    const bool delivers = into.which == client_kind::deliverer;
    add_words(into, {delivers ? "--client-timeout" : "--timeout",
                     fmt::format("{}s", into.timeout / seconds(1))});
    if (!into.serves()) add_words(into, {"--seed", std::to_string(random.below(1'000'000))});
    if (into.which == client_kind::sender) draw_sender(into, random);
    if (into.which == client_kind::reader) draw_reader(into, random);
    if (into.which == client_kind::receiver) draw_receiver(into, random);
    if (delivers) draw_deliverer(into, random);
    if (into.serves()) draw_listeners(into, random);
}

void draw_world(scenario& into, random_source& random) {
    static constexpr unsigned messages[]{0, 3, 20, 120};
    static constexpr unsigned shares[]{0, 0, 10, 40, 100};
    static constexpr milliseconds latencies[]{milliseconds(0), milliseconds(1), milliseconds(300)};
    into.most_messages = one_of(random, messages);
    into.changes = happens(random, 25);
    into.broken_lines = one_of(random, shares);
    into.bad_answers = one_of(random, shares);
    into.garbage = happens(random, 15);
    into.most_latency = one_of(random, latencies);
    into.traits = {.pipelining = happens(random, 70),
                   .uidplus = happens(random, 70),
                   .moves = happens(random, 70),
                   .expunges = happens(random, 90),
                   .idles = happens(random, 80),
                   .literal_plus = happens(random, 50),
                   .capabilities_in_greeting = happens(random, 70),
                   .thinks = microseconds(happens(random, 50) ? random.below(20'000) : 0)};
    into.gently = milliseconds(1 + random.below(happens(random, 50) ? 3'000 : 30'000));
    into.at_once = into.gently + milliseconds(random.below(20'000));
    const bool many = into.watches || into.serves();
    for (std::uint64_t more = random.below(many ? 30 : 5); more > 0; --more)
        into.mail.push_back(milliseconds(
            random.below(static_cast<std::uint64_t>(into.gently / milliseconds(1)) + 1)));
}

}  // namespace

scenario draw(std::uint64_t seed) {
    random_source random(postal::base::mix(seed, of_scenarios, 0));
    scenario made;
    made.seed = seed;
    draw_options(made, random);
    draw_world(made, random);
    return made;
}

child_traits traits_of_agent(const scenario& of, std::size_t number) {
    random_source random(postal::base::mix(of.seed, of_agents, number));
    using beginning = child_traits::beginning;
    static constexpr int statuses[]{1, 64, 67, 71, 75, 77, 255};
    static constexpr std::size_t printed[]{0, 0, 30, 3'000};
    constexpr std::size_t more_than_a_pipe_holds = 200'000;
    child_traits made;
    made.lasts = microseconds(random.below(happens(random, 70) ? 20'000 : 3'000'000));
    made.prints = happens(random, 3) ? more_than_a_pipe_holds : one_of(random, printed);
    if (!happens(random, of.bad_agents)) return made;
    switch (random.below(6)) {
        case 0:
            made.begins = happens(random, 50) ? beginning::no_process : beginning::no_program;
            break;
        case 1:
            made.signal = happens(random, 50) ? 11 : 15;
            break;
        case 2:
            made.ends = false;
            made.heeds_term = happens(random, 50);
            break;
        case 3:
            made.stops = 1 + static_cast<unsigned>(random.below(4));
            break;
        default:
            made.status = one_of(random, statuses);
    }
    return made;
}

acceptance acceptance_of(const scenario& of, std::size_t number) {
    random_source random(postal::base::mix(of.seed, of_accepts, number));
    static constexpr int errors[]{EMFILE, ENFILE, ENOMEM, ENOBUFS, ECONNABORTED};
    constexpr std::uint64_t allocations_of_one = 8;
    if (!happens(random, of.bad_accepts)) return {};
    if (happens(random, 50)) return {.error = one_of(random, errors)};
    return {.allocations = static_cast<int>(random.below(allocations_of_one))};
}

line_traits traits_of_line(const scenario& of, std::size_t number) {
    random_source random(postal::base::mix(of.seed, of_lines, number));
    static constexpr std::size_t pieces[]{0, 0, 1, 7, 1460, 16384};
    static constexpr std::size_t rooms[]{40, 700, 4096, 65536, 65536};
    line_traits made;
    made.latency =
        nanoseconds(random.below(static_cast<std::uint64_t>(of.most_latency.count()) + 1));
    made.piece = one_of(random, pieces);
    made.gap = microseconds(random.below(made.piece > 1000 ? 300 : 3));
    if (happens(random, 60)) made.small_from = random.below(4'000);
    made.room = one_of(random, rooms);
    if (!happens(random, of.broken_lines)) return made;
    made.what = static_cast<mishap>(1 + random.below(7));
    made.at = random.below(happens(random, 50) ? 400 : 40'000);
    return made;
}

std::vector<bad_answer> bad_answers_of_line(const scenario& of, std::size_t number) {
    random_source random(postal::base::mix(of.seed, of_answers, number));
    std::vector<bad_answer> made;
    if (!happens(random, of.bad_answers)) return made;
    for (std::uint64_t more = 1 + random.below(3); more > 0; --more)
        made.push_back({.nth = random.below(happens(random, 50) ? 8 : 60),
                        .how = static_cast<manner>(1 + random.below(of.garbage ? 6 : 5)),
                        .late = milliseconds(random.below(2'000))});
    return made;
}

std::string text(const scenario& of) {
    static constexpr const char* names[]{"postal", "rabid", "bhm", "lmtp-deliver"};
    return fmt::format(
        "seed {}: {} {}\n  {} accounts with up to {} messages, {} more come; {} % of connections "
        "break, {} % have bad answers{}; {} % of accepts fail; ends at {} ms, at once at {} ms\n",
        of.seed, names[static_cast<std::size_t>(of.which)], fmt::join(of.words, " "), of.accounts,
        of.most_messages, of.mail.size(), of.broken_lines, of.bad_answers,
        of.garbage ? ", or none" : "", of.bad_accepts, of.gently / milliseconds(1),
        of.at_once / milliseconds(1));
}

}  // namespace clients
