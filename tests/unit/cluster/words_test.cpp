// SPDX-License-Identifier: GPL-3.0-or-later
#include "cluster/words.hpp"

#include <catch2/catch.hpp>

#include <cmath>
#include <limits>
#include <string>
#include <variant>
#include <vector>

#include "cluster/archive.hpp"

using namespace std::chrono_literals;
using namespace postal;
using cluster::decode;
using cluster::encode;
using cluster::word;
using std::chrono::nanoseconds;

namespace {

constexpr std::size_t phases = 2;

stats::time_slice everything() {
    stats::time_slice made(phases);
    made.start_s = 59.999999999;
    made.end_s = 120.25;
    made.in_warmup = made.partial = true;
    made.workers.resize(3);
    made.workers[0] = {{1s, 2s, 3ns, 6ms}, 4.5};
    made.workers[1].busy = 4s, made.workers[1].wall = 5s;
    made.workers[2].busy = -1ns, made.workers[2].run_delay = 0s;
    made.machine = {120.5, 60.25, 0.125, 0.5, 0.75};
    made.main = {11ms, 12ms, 13ms, 14ms};
    made.ledger = {21ms, 22ms, std::nullopt, 0ms};
    made.stopped_s = 2.5;
    stats::tally& all = made.counts;
    std::uint64_t number = 1;
    for (const stats::counter& one : stats::all_counters())
        all.*one.value = number *= 3;  // modulo 2^64 in the end
    all.error_events = 0;
    all.busy = 7s;
    all.run_delay = 8ms;
    for (const auto value : {0ns, 1ns, 511ns, 512ns, 1000000ns, std::chrono::nanoseconds(1h)})
        all.latency[0].record(value);
    for (int i = 0; i < 100; ++i)
        all.latency[1].record(1ms + i * 37us);
    all.unserved.record(2s);
    all.slip.record(3us);
    all.loop_late.record(std::chrono::nanoseconds::max());
    all.loop_late.record(std::chrono::nanoseconds::max());
    all.loop_late.record(std::chrono::nanoseconds::max());  // the sum needs more than 64 bits
    all.errors.add("rcpt", 550, "5.1.1", "5.1.1 no such user \x01\xff");
    all.errors.add("rcpt", 550, "5.1.1", "another text");
    all.errors.add("connect", 0, "timeout", "");
    all.errors.add("connect", 0, "timeout", "");
    all.authentications.add("PLAIN", 5);
    all.authentications.add("", 7);
    all.tls.full = 3;
    all.tls.add({"TLSv1.3", "TLS_AES_256_GCM_SHA384", "x25519", "ok", true});
    all.commands.add(3, stats::command_end::no);
    all.commands.add(39, stats::command_end::unanswered);
    all.actions.add(2, stats::action_end::ok, 5ms);
    all.actions.add(0, stats::action_end::refused, 5ms);
    all.all_busy = 9ms;
    all.first_accepted = 7ms;
    all.not_offered.add("--tls: STARTTLS", 1);
    return made;
}

word counted(stats::time_slice slice) {
    cluster::counted made(phases);
    made.slice = std::move(slice);
    return made;
}

cluster::ended an_end() {
    cluster::ended made;
    made.lasted = 61s;
    made.why = stats::run_ending::duration;
    made.cpu_user_s = 1.5;
    made.cpu_system_s = -0.0;
    made.max_rss_bytes = std::numeric_limits<std::uint64_t>::max();
    made.status = 2;
    made.totals.messages = 12;
    made.totals_with_warmup.in_doubt = 1;
    made.p50 = 3ms;
    made.verdict = stats::generator_verdict::machine_full;
    made.reason = "it was full";
    made.worker_busy = 0.25;
    return made;
}

load::trial a_trial() {
    return {.times = {.number = 7, .begin = 1s, .measured = 2s, .batch = 1s, .batches = 40},
            .messages = 1200,
            .promises = {{1s, stats::all_but_accepted}, {{}, stats::all_but_accepted}}};
}

cluster::joins a_joiner() {
    return {.version = "1.0.0",
            .program = "rabid",
            .unit = "visits",
            .share = 0.2,
            .at_random = true,
            .seed = 42,
            .phases = 12,
            .due_phase = 7,
            .sessions = 50,
            .at_once = 1,
            .goals = {{.promise = "p99(session)<1s", .metric = "p99(session)", .width = 0.05},
                      {.promise = "errors<0.1%", .metric = "errors", .loss_ratio = 0.001}},
            .promises = a_trial().promises};
}

std::vector<word> one_of_each() {
    stats::live_state live;
    live.elapsed = 3s;
    live.messages_per_second = 1234.5;
    live.messages = 300;
    return {cluster::welcome{"1.0.0", 42, std::numeric_limits<std::uint64_t>::max()},
            cluster::hello{"host", 2, 20, 1, 4, "rate 5\nworkers 2", "why not", 1},
            cluster::ping{127, true},
            cluster::pong{128, nanoseconds(-(1LL << 62U)), nanoseconds(1LL << 62U), {}},
            cluster::pong{1, 1s, 2s, 0.0838},
            cluster::start{-5s, 60s},
            cluster::refused{3},
            cluster::began{12us},
            counted(everything()),
            counted(stats::time_slice(phases)),
            cluster::beat{live, 301},
            cluster::stop{true, false, 7s, stats::run_ending::signal},
            an_end(),
            cluster::over{},
            cluster::next_trial{a_trial()},
            a_joiner(),
            cluster::trouble{{{"rcpt", 550, "5.1.1", 1, "no such user"}, "mx:25"}}};
}

void check_same(const stats::histogram& got, const stats::histogram& given) {
    CHECK(got.encode() == given.encode());
    CHECK(got.count() == given.count());
    CHECK(got.mean_us() == given.mean_us());
    CHECK(got.min() == given.min());
    CHECK(got.max() == given.max());
    for (const double q : {0.0, 0.01, 0.5, 0.9, 0.99, 1.0})
        CHECK(got.quantile(q) == given.quantile(q));
}

void check_same(const stats::named_counts& got, const stats::named_counts& given) {
    const auto ours = got.sorted(), theirs = given.sorted();
    REQUIRE(ours.size() == theirs.size());
    for (std::size_t i = 0; i < ours.size(); ++i) {
        CHECK(ours[i].name == theirs[i].name);
        CHECK(ours[i].count == theirs[i].count);
    }
}

void check_same(const stats::error_table& got, const stats::error_table& given) {
    CHECK(got.total() == given.total());
    REQUIRE(got.entries().size() == given.entries().size());
    for (std::size_t i = 0; i < got.entries().size(); ++i) {
        CHECK(got.entries()[i].stage == given.entries()[i].stage);
        CHECK(got.entries()[i].code == given.entries()[i].code);
        CHECK(got.entries()[i].detail == given.entries()[i].detail);
        CHECK(got.entries()[i].count == given.entries()[i].count);
        CHECK(got.entries()[i].sample == given.entries()[i].sample);
    }
}

template <class Word>
Word there_and_back(const word& what) {
    auto got = decode(encode(what), phases);
    REQUIRE(got.has_value());
    return std::get<Word>(std::move(*got));
}

bool is_word(const std::string& octets) {
    return decode(octets, phases).has_value();
}

// A counted slice up to its list of workers, or with `workers` up to its counters.
std::string beginning(std::uint64_t workers) {
    cluster::octet_writer into;
    into(std::uint64_t{word(cluster::counted(phases)).index()});
    into(std::uint64_t{phases});
    into(workers);
    return into.take();
}

bool refuses(double start_s, double end_s) {
    stats::time_slice made(phases);
    made.start_s = start_s;
    made.end_s = end_s;
    return !is_word(encode(counted(std::move(made))));
}

}  // namespace

TEST_CASE("every word is the same there and back") {
    for (const word& given : one_of_each()) {
        const std::string octets = encode(given);
        INFO("kind " << given.index());
        const auto got = decode(octets, phases);
        REQUIRE(got.has_value());
        CHECK(got->index() == given.index());
        CHECK(encode(*got) == octets);
    }
}

TEST_CASE("a time slice comes whole") {
    const stats::time_slice given = everything();
    const auto got = there_and_back<cluster::counted>(counted(given)).slice;
    CHECK(got.start_s == given.start_s);
    CHECK(got.end_s == given.end_s);
    CHECK(got.in_warmup);
    CHECK_FALSE(got.closes_interval);
    CHECK(got.partial);
    CHECK_FALSE(got.draining);
    REQUIRE(got.workers.size() == given.workers.size());
    for (std::size_t i = 0; i < got.workers.size(); ++i) {
        CHECK(got.workers[i].busy == given.workers[i].busy);
        CHECK(got.workers[i].wall == given.workers[i].wall);
        CHECK(got.workers[i].run_delay == given.workers[i].run_delay);
        CHECK(got.workers[i].connected_s == given.workers[i].connected_s);
        CHECK(got.workers[i].still == given.workers[i].still);
    }
    CHECK(got.main.still == 14ms);
    CHECK(got.main.run_delay == 13ms);
    CHECK(got.ledger.wall == 22ms);
    CHECK_FALSE(got.ledger.run_delay.has_value());
    CHECK(got.stopped_s == 2.5);
    CHECK(got.machine.throttled_s == 0.75);
    CHECK(got.machine.all_s == given.machine.all_s);
    CHECK(got.machine.idle_s == given.machine.idle_s);
    CHECK(got.machine.stolen_s == given.machine.stolen_s);
    CHECK(got.machine.pressure_s == given.machine.pressure_s);
    for (const stats::counter& one : stats::all_counters())
        CHECK(got.counts.*one.value == given.counts.*one.value);
    CHECK(got.counts.busy == given.counts.busy);
    CHECK(got.counts.run_delay == given.counts.run_delay);
    CHECK(got.counts.all_busy == given.counts.all_busy);
    CHECK(got.counts.first_accepted == given.counts.first_accepted);
    for (std::size_t phase = 0; phase < phases; ++phase)
        check_same(got.counts.latency[phase], given.counts.latency[phase]);
    check_same(got.counts.unserved, given.counts.unserved);
    check_same(got.counts.slip, given.counts.slip);
    check_same(got.counts.loop_late, given.counts.loop_late);
    check_same(got.counts.errors, given.counts.errors);
    check_same(got.counts.authentications, given.counts.authentications);
    check_same(got.counts.not_offered, given.counts.not_offered);
    CHECK(got.counts.tls.full == 3);
    CHECK(got.counts.tls.resumed == given.counts.tls.resumed);
    check_same(got.counts.tls.versions, given.counts.tls.versions);
    check_same(got.counts.tls.ciphers, given.counts.tls.ciphers);
    check_same(got.counts.tls.groups, given.counts.tls.groups);
    check_same(got.counts.tls.verifications, given.counts.tls.verifications);
    CHECK(got.counts.commands.total().sent == 2);
    CHECK(got.counts.commands.kinds[3].no == 1);
    CHECK(got.counts.commands.kinds[39].unanswered == 1);
    REQUIRE(got.counts.actions.verbs.size() == 3);
    CHECK(got.counts.actions.verbs[0].refused == 1);
    CHECK_FALSE(got.counts.actions.verbs[0].time.has_value());
    CHECK(got.counts.actions.verbs[2].ok == 1);
    check_same(*got.counts.actions.verbs[2].time, *given.counts.actions.verbs[2].time);
}

TEST_CASE("a full table of errors comes whole") {
    stats::time_slice given(phases);
    for (int i = 0; i < 400; ++i)
        given.counts.errors.add("stage" + std::to_string(i / 12), 400 + i / 12,
                                "4.0." + std::to_string(i / 12), std::string(1 + i % 12, 'x'));
    for (int i = 0; i < 400; ++i)
        given.counts.errors.add("stage" + std::to_string(i), 0, "reason", "");
    REQUIRE(given.counts.errors.entries().size() == stats::error_table::max_kinds + 1);
    const auto got = there_and_back<cluster::counted>(counted(given)).slice;
    check_same(got.counts.errors, given.counts.errors);
}

TEST_CASE("what an end says comes whole") {
    const auto given = an_end();
    const auto got = there_and_back<cluster::ended>(given);
    CHECK(got.lasted == given.lasted);
    CHECK(got.why == given.why);
    CHECK(std::signbit(got.cpu_system_s));
    CHECK(got.max_rss_bytes == given.max_rss_bytes);
    CHECK(got.totals.messages == 12);
    CHECK(got.totals_with_warmup.in_doubt == 1);
    CHECK(got.p50 == given.p50);
    CHECK_FALSE(got.p99);
    CHECK(got.verdict == given.verdict);
    CHECK(got.reason == given.reason);
    CHECK(got.worker_busy == given.worker_busy);
}

TEST_CASE("no beginning of a word is a word, and nothing may stand behind one") {
    for (const word& given : one_of_each()) {
        const std::string octets = encode(given);
        INFO("kind " << given.index());
        for (std::size_t length = 0; length < octets.size(); ++length)
            REQUIRE_FALSE(is_word(octets.substr(0, length)));
        CHECK_FALSE(is_word(octets + '\0'));
        CHECK_FALSE(is_word(octets + octets));
    }
}

TEST_CASE("an octet that was changed makes another word or none") {
    for (const word& given : one_of_each()) {
        std::string octets = encode(given);
        for (char& octet : octets) {
            const char right = octet;
            for (const int flip : {0x01, 0x80}) {
                octet = static_cast<char>(right ^ flip);
                const auto got = decode(octets, phases);
                if (const auto* part = got ? std::get_if<cluster::counted>(&*got) : nullptr)
                    for (const double q : {0.0, 0.5, 1.0})
                        (void)part->slice.counts.latency[1].quantile(q);
                if (got) REQUIRE(is_word(encode(*got)));
            }
            octet = right;
        }
    }
}

TEST_CASE("a kind that there is not, and no octets, are no word") {
    CHECK_FALSE(is_word(""));
    CHECK_FALSE(is_word(std::string(1, '\x0c')));
    CHECK_FALSE(is_word(std::string(9, '\xff') + '\x01'));
    CHECK(decode("abc", phases).error().message.find("3 octets") == 0);
}

TEST_CASE("lengths are not believed") {
    // The octets that a list would need are there: one for each, or three for each worker.
    const std::string many(256U << 10U, '\0');
    for (const std::uint64_t workers :
         {std::uint64_t{65'537}, std::uint64_t{1'000'000}, std::uint64_t{1} << 62U,
          std::numeric_limits<std::uint64_t>::max()})
        CHECK_FALSE(is_word(beginning(workers) + many));

    cluster::octet_reader honest(std::string_view("\x02\x01"));
    CHECK(honest.length(2) == 0);  // two things in one octet
    CHECK_FALSE(honest.ok());
    cluster::octet_reader bounded(std::string_view("\x03\x01\x01\x01"));
    CHECK(bounded.length(2) == 0);
    CHECK_FALSE(bounded.ok());

    stats::time_slice names(phases);
    for (int i = 0; i < 1024; ++i)
        names.counts.authentications.add(std::to_string(i));
    CHECK(is_word(encode(counted(names))));
    names.counts.authentications.add("one more");
    CHECK_FALSE(is_word(encode(counted(names))));

    stats::time_slice crowd(phases);
    crowd.workers.resize(cluster::most_workers);
    CHECK(is_word(encode(counted(crowd))));
    crowd.workers.resize(cluster::most_workers + 1);
    CHECK_FALSE(is_word(encode(counted(crowd))));
}

TEST_CASE("a time slice with other phases is none") {
    CHECK_FALSE(decode(encode(counted(everything())), phases + 1).has_value());
    CHECK_FALSE(decode(encode(counted(everything())), 0).has_value());
}

TEST_CASE("a time slice's time goes on, and is a number") {
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    constexpr double infinity = std::numeric_limits<double>::infinity();
    CHECK_FALSE(refuses(0, 0));
    CHECK_FALSE(refuses(1, 2));
    CHECK(refuses(2, 1));
    CHECK(refuses(-1, 1));
    CHECK(refuses(0, 2e9));
    for (const double odd : {nan, infinity, -infinity}) {
        CHECK(refuses(odd, 1));
        CHECK(refuses(0, odd));
        stats::time_slice slice = everything();
        slice.machine.idle_s = odd;
        CHECK_FALSE(is_word(encode(counted(slice))));
        stats::live_state live;
        live.messages_per_second = odd;
        CHECK_FALSE(is_word(encode(cluster::beat{live, 0})));
    }
}

TEST_CASE("a trial that cannot be is refused, and one that can arrives whole") {
    const auto decoded = decode(encode(cluster::next_trial{a_trial()}), phases);
    REQUIRE(decoded.has_value());
    const load::trial& got = std::get<cluster::next_trial>(*decoded).what;
    CHECK(got.times.number == 7);
    CHECK(got.times.end() == a_trial().times.end());
    CHECK(got.messages == 1200);
    REQUIRE(got.promises.size() == 2);
    CHECK(got.promises[0].within == 1s);
    CHECK(got.promises[1].lost_ends == stats::all_but_accepted);
    CHECK_FALSE(got.only_ends);
    load::trial end = a_trial();
    end.only_ends = true;
    const auto ends = decode(encode(cluster::next_trial{end}), phases);
    REQUIRE(ends.has_value());
    CHECK(std::get<cluster::next_trial>(*ends).what.only_ends);
    const auto refused = [](auto change) {
        load::trial one = a_trial();
        change(one);
        return !is_word(encode(cluster::next_trial{one}));
    };
    CHECK_FALSE(refused([](auto&) {}));
    CHECK(refused([](auto& one) { one.times.batch = 0s; }));
    CHECK(refused([](auto& one) { one.times.batch = nanoseconds::max(); }));
    CHECK(refused([](auto& one) { one.times.batches = std::uint64_t{1} << 60U; }));
    CHECK(refused([](auto& one) { one.times.begin = one.times.measured + 1ns; }));
    CHECK(refused([](auto& one) { one.times.number = 0; }));
    CHECK(refused([](auto& one) { one.messages = 0; }));
    CHECK(refused([](auto& one) { one.promises.resize(100); }));
}

TEST_CASE("who joins a search is refused where its part cannot be, and else arrives whole") {
    const auto got = there_and_back<cluster::joins>(a_joiner());
    CHECK(got.program == "rabid");
    CHECK(got.share == 0.2);
    CHECK(got.at_random);
    CHECK(got.due_phase == 7);
    REQUIRE(got.goals.size() == 2);
    CHECK(got.goals[0].promise == "p99(session)<1s");
    CHECK(got.goals[0].width == 0.05);
    CHECK(got.goals[1].loss_ratio == 0.001);
    CHECK(got.promises[0].within == 1s);

    const auto refused = [](auto change) {
        cluster::joins one = a_joiner();
        change(one);
        return !is_word(encode(one));
    };
    using cluster::joins;
    CHECK_FALSE(refused([](joins&) {}));
    CHECK(refused([](joins& one) { one.share = 0; }));
    CHECK(refused([](joins& one) { one.share = 1e9; }));
    CHECK(refused([](joins& one) { one.phases = 0; }));
    CHECK(refused([](joins& one) { one.phases = 1U << 30U; }));
    CHECK(refused([](joins& one) { one.due_phase = one.phases; }));
    CHECK(refused([](joins& one) { one.sessions = 0; }));
    CHECK(refused([](joins& one) { one.at_once = ~std::uint64_t{0}; }));
    CHECK(refused([](joins& one) { one.goals.clear(); }));
    CHECK(refused([](joins& one) { one.promises.pop_back(); }));
    CHECK(refused([](joins& one) { one.program.assign(1000, 'x'); }));
    CHECK(refused([](joins& one) { one.goals[0].promise.clear(); }));
    CHECK(refused([](joins& one) { one.goals[0].loss_ratio = 1; }));
    CHECK(refused([](joins& one) { one.goals[0].loss_ratio = -0.1; }));
    CHECK(refused([](joins& one) { one.goals[0].final_trial_s = 0; }));
    CHECK(refused([](joins& one) { one.goals[0].duration_sum_s = 1e12; }));
    CHECK(refused([](joins& one) { one.goals[0].initial_trial_s = 21; }));
    CHECK(refused([](joins& one) { one.goals[0].duration_sum_s = 19; }));
    CHECK(refused([](joins& one) { one.goals[0].exceed_ratio = 2; }));
    CHECK(refused([](joins& one) { one.goals[1].width = 0; }));
}

TEST_CASE("what a rank has counted of a trial is added to what others have") {
    stats::time_slice slice = everything();
    slice.counts.trial.begin(a_trial().times, a_trial().promises, {});
    const std::chrono::steady_clock::time_point due{3s};
    slice.counts.trial.ended(due, due + 2s, stats::trial_end::accepted);
    const auto decoded = decode(encode(counted(slice)), phases);
    REQUIRE(decoded.has_value());
    stats::trial_counts all;
    all.begin(a_trial().times, a_trial().promises, {});
    all.merge(std::get<cluster::counted>(*decoded).slice.counts.trial);
    all.merge(std::get<cluster::counted>(*decoded).slice.counts.trial);
    CHECK(all.stretches()[2].finished == 2);
    CHECK(all.stretches()[2].lost[0].late == 2);
    CHECK(all.stretches()[4].ended == 2);
}

TEST_CASE("times that would overflow are refused") {
    CHECK_FALSE(is_word(encode(cluster::pong{1, nanoseconds::max(), 0s})));
    CHECK_FALSE(is_word(encode(cluster::pong{1, 0s, nanoseconds::min()})));
    CHECK_FALSE(
        is_word(encode(cluster::stop{true, false, nanoseconds::min(), stats::run_ending::signal})));
    const auto refused = [](auto change) {
        stats::time_slice slice = everything();
        change(slice);
        return !is_word(encode(counted(slice)));
    };
    CHECK_FALSE(refused([](auto& slice) { slice.workers[0].busy = 24h; }));
    CHECK(refused([](auto& slice) { slice.workers[0].busy = nanoseconds::min(); }));
    CHECK(refused([](auto& slice) { slice.workers[2].run_delay = nanoseconds::max(); }));
    CHECK(refused([](auto& slice) { slice.counts.wall = nanoseconds::max(); }));
    CHECK(refused([](auto& slice) { slice.main.still = nanoseconds::max(); }));
    CHECK(refused([](auto& slice) { slice.ledger.busy = nanoseconds::max(); }));
    CHECK(refused([](auto& slice) { slice.counts.all_busy = nanoseconds::max(); }));
    CHECK(refused([](auto& slice) { slice.counts.first_accepted = nanoseconds::max(); }));
}

TEST_CASE("numbers have 64 bits and no more") {
    const auto number = [](std::string octets) {
        cluster::octet_reader from(octets);
        std::uint64_t got = 0;
        from(got);
        return from.done() ? std::optional(got) : std::nullopt;
    };
    CHECK(number(std::string(9, '\xff') + '\x01') == std::numeric_limits<std::uint64_t>::max());
    CHECK_FALSE(number(std::string(9, '\xff') + '\x02'));
    CHECK_FALSE(number(std::string(10, '\x80') + '\x01'));
    CHECK_FALSE(number("\x80"));
}

TEST_CASE("a histogram that cannot be is refused") {
    // How much further and the count of each bucket, then the sum in halves, the least, the most.
    const auto histogram = [](const std::vector<std::uint64_t>& numbers) {
        cluster::counted empty(phases);
        const std::string octets = encode(empty);
        cluster::counted filled(phases);
        filled.slice.counts.latency[0].record(1us);
        const std::string with_one = encode(filled);
        std::size_t at = 0;
        while (octets[at] == with_one[at])
            ++at;
        cluster::octet_writer into;
        for (const std::uint64_t one : numbers)
            into(one);
        return is_word(octets.substr(0, at) + into.take() + octets.substr(at + 1));
    };
    constexpr auto most = std::numeric_limits<std::uint64_t>::max();
    CHECK(histogram({0}));
    CHECK(histogram({1, 0, 1, 7, 0, 7, 7}));
    CHECK(histogram({2, 0, 1, 3, 1, 543, 0, 3, 540}));
    CHECK_FALSE(histogram({1, 0, 1, 7, 0, 8, 7}));             // least above most
    CHECK_FALSE(histogram({1, 0, 0, 7, 0, 7, 7}));             // an empty bucket
    CHECK_FALSE(histogram({2, 0, 1, 0, 1, 7, 0, 3, 4}));       // a bucket twice
    CHECK_FALSE(histogram({2, 0, most, 3, 1, 7, 0, 3, 540}));  // more than can be counted
    CHECK_FALSE(histogram({2, 1, 1, most, 1, 7, 0, 3, 520}));  // back to the bucket before
    CHECK_FALSE(histogram({1, 2624, 1, 7, 0, 7, 7}));          // a bucket that there is not
    CHECK_FALSE(histogram({1, 5, 1, 7, 0, 7, 7}));             // a least that is in no bucket
    CHECK_FALSE(histogram({2, 0, 1, 3, 1, 7, 0, 3, 4}));       // a most in another than the last
}
