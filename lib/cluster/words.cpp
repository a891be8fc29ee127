// What each word consists of, once for both directions: fields(archive, word) hands every field to an archive
// that writes or reads it.
#include "cluster/words.hpp"

#include <limits>
#include <utility>

#include "cluster/archive.hpp"
#include "cluster/plausible.hpp"

namespace postal::cluster {

namespace {

template <class Archive, class T>
using field = typename Archive::template field<T>;

// Of a list that another rank sends; one of names is searched from its beginning for each.
constexpr std::size_t most_names = 1024;
// An error_table has one more than its kinds, for the rest.
constexpr std::size_t most_kinds = stats::error_table::max_kinds + 1;

// ---- what the words are made of ----

template <class Archive>
void fields(Archive& each, field<Archive, stats::counts>& of) {
    for (const stats::counter& one : stats::all_counters())
        each(of.*one.value);
}

void fields(octet_writer& each, const stats::histogram& of) {
    const stats::histogram::contents all = of.all();
    each(std::uint64_t{all.counts.size()});
    if (all.counts.empty()) return;
    std::uint64_t before = 0;
    for (const auto& [index, count] : all.counts) {
        each(index - std::exchange(before, index));
        each(count);
    }
    for (const std::uint64_t number : {all.sum_low, all.sum_high, all.min, all.max})
        each(number);
}

void fields(octet_reader& each, stats::histogram& of) {
    stats::histogram::contents all;
    all.counts.resize(each.length(stats::histogram::bucket_count));
    if (all.counts.empty()) return of.clear();
    std::uint64_t before = 0;
    std::uint64_t left = std::numeric_limits<std::uint64_t>::max();
    bool first = true;
    for (auto& [index, count] : all.counts) {
        std::uint64_t further = 0;
        each(further);
        each(count);
        const bool ascends = first || further > 0;
        if (!ascends || further >= stats::histogram::bucket_count || count == 0 || count > left)
            return each.fail();
        first = false;
        index = before += further;
        left -= count;
    }
    for (std::uint64_t* number : {&all.sum_low, &all.sum_high, &all.min, &all.max})
        each(*number);
    if (each.ok() && (all.min > all.max || !of.set(all))) each.fail();
}

void fields(octet_writer& each, const stats::named_counts& of) {
    const auto all = of.sorted();
    each(std::uint64_t{all.size()});
    for (const stats::named_count& one : all) {
        each(one.name);
        each(one.count);
    }
}

void fields(octet_reader& each, stats::named_counts& of) {
    for (std::size_t left = each.length(most_names); left > 0 && each.ok(); --left) {
        stats::named_count one;
        each(one.name);
        each(one.count);
        if (each.ok()) of.add(one.name, one.count);
    }
}

template <class Archive>
void fields(Archive& each, field<Archive, stats::error_entry>& of) {
    each(of.stage);
    each(of.code);
    each(of.detail);
    each(of.count);
    each(of.sample);
}

void fields(octet_writer& each, const stats::error_table& of) {
    each(std::uint64_t{of.entries().size()});
    for (const stats::error_entry& one : of.entries())
        fields<octet_writer>(each, one);
}

void fields(octet_reader& each, stats::error_table& of) {
    for (std::size_t left = each.length(most_kinds); left > 0 && each.ok(); --left) {
        stats::error_entry one;
        fields<octet_reader>(each, one);
        if (each.ok()) of.add(one);
    }
}

template <class Archive>
void fields(Archive& each, field<Archive, base::thread_time>& of) {
    each(of.busy);
    each(of.wall);
    each(of.run_delay);
    each(of.still);
}

template <class Archive>
void fields(Archive& each, field<Archive, stats::worker_time>& of) {
    fields<Archive>(each, static_cast<field<Archive, base::thread_time>&>(of));
    each(of.connected_s);
}

template <class Archive>
void fields(Archive& each, field<Archive, stats::tls_counts>& of) {
    each(of.full);
    each(of.resumed);
    fields(each, of.versions);
    fields(each, of.ciphers);
    fields(each, of.groups);
    fields(each, of.verifications);
}

template <class Archive>
void fields(Archive& each, field<Archive, stats::command_counts>& of) {
    for (auto& one : of.kinds)
        for (auto* count : {&one.sent, &one.ok, &one.no, &one.bad, &one.unanswered})
            each(*count);
}

void lengths(octet_writer& each, const stats::action_counts& of) {
    each(std::uint64_t{of.verbs.size()});
}

void lengths(octet_reader& each, stats::action_counts& of) {
    of.verbs.resize(each.length(stats::action_counts::most_verbs));
}

void fields(octet_writer& each, const std::optional<stats::histogram>& of) {
    each(of.has_value());
    if (of) fields(each, *of);
}

void fields(octet_reader& each, std::optional<stats::histogram>& of) {
    bool there = false;
    each(there);
    of.reset();
    if (there) fields(each, of.emplace());
}

template <class Archive>
void fields(Archive& each, field<Archive, stats::action_counts>& of) {
    lengths(each, of);
    for (auto& one : of.verbs) {
        for (auto* count : {&one.begun, &one.ok, &one.refused, &one.failed, &one.nothing})
            each(*count);
        fields(each, one.time);
    }
}

// Of clients: they run no agents.
template <class Archive>
void fields(Archive& each, field<Archive, stats::tally>& of) {
    fields<Archive>(each, static_cast<field<Archive, stats::counts>&>(of));
    fields<Archive>(each, static_cast<field<Archive, stats::worker_time>&>(of));
    for (auto& phase : of.latency)
        fields(each, phase);
    fields(each, of.unserved);
    fields(each, of.slip);
    fields(each, of.loop_late);
    fields(each, of.errors);
    fields(each, of.authentications);
    fields<Archive>(each, of.tls);
    fields<Archive>(each, of.commands);
    fields<Archive>(each, of.actions);
    each(of.all_busy);
    each(of.first_accepted);
    fields(each, of.not_offered);
}

template <class Archive>
void fields(Archive& each, field<Archive, base::machine_time>& of) {
    each(of.all_s);
    each(of.idle_s);
    each(of.stolen_s);
    each(of.pressure_s);
    each(of.throttled_s);
}

void lengths(octet_writer& each, const stats::time_slice& of) {
    each(std::uint64_t{of.counts.latency.size()});
    each(std::uint64_t{of.workers.size()});
}

void lengths(octet_reader& each, stats::time_slice& of) {
    std::uint64_t phases = 0;
    each(phases);
    if (phases != of.counts.latency.size()) each.fail();
    of.workers.resize(each.length(most_workers));
}

template <class Archive>
void fields(Archive& each, field<Archive, stats::time_slice>& of) {
    lengths(each, of);
    each(of.start_s);
    each(of.end_s);
    each(of.in_warmup);
    each(of.closes_interval);
    each(of.partial);
    each(of.draining);
    for (auto& one : of.workers)
        fields<Archive>(each, one);
    fields<Archive>(each, of.main);
    fields<Archive>(each, of.ledger);
    fields<Archive>(each, of.machine);
    each(of.stopped_s);
    fields<Archive>(each, of.counts);
}

template <class Archive>
void fields(Archive& each, field<Archive, stats::live_state>& of) {
    each(of.elapsed);
    each(of.messages_per_second);
    each(of.messages);
    each(of.errors);
    each(of.open_connections);
    each(of.appended);
    for (auto& one : of.sessions)
        each(one);
}

template <class Archive>
void fields(Archive& each, field<Archive, stats::generator_load>& of) {
    each(of.start_s);
    each(of.end_s);
    each(of.worker_busy);
    each(of.run_delay);
    each(of.slip_p99);
    each(of.slips);
    each(of.loop_late_p99);
    each(of.loop_late_max);
    each(of.machine_idle);
    each(of.machine_steal);
    each(of.cpu_pressure);
    each(of.throttled);
    each(of.stopped_s);
    each(of.traffic);
}

void fields(octet_writer& each, const stats::generator_verdict& of) {
    each(static_cast<unsigned>(of));
}

void fields(octet_reader& each, stats::generator_verdict& of) {
    unsigned number = 0;
    each(number);
    if (number > static_cast<unsigned>(stats::generator_verdict::held_back)) each.fail();
    if (each.ok()) of = static_cast<stats::generator_verdict>(number);
}

// ---- the words ----

template <class Archive>
void fields(Archive& each, field<Archive, welcome>& of) {
    each(of.version);
    each(of.seed);
    each(of.run);
}

template <class Archive>
void fields(Archive& each, field<Archive, hello>& of) {
    each(of.host);
    each(of.workers);
    each(of.sessions);
    each(of.processors);
    each(of.machine_processors);
    each(of.load);
    each(of.refusal);
    each(of.status);
}

template <class Archive>
void fields(Archive& each, field<Archive, ping>& of) {
    each(of.number);
    each(of.more);
}

template <class Archive>
void fields(Archive& each, field<Archive, pong>& of) {
    each(of.number);
    each(of.steady);
    each(of.wall);
    each(of.most_drift);
}

template <class Archive>
void fields(Archive& each, field<Archive, start>& of) {
    each(of.at);
    each(of.first_interval);
}

template <class Archive>
void fields(Archive& each, field<Archive, refused>& of) {
    each(of.status);
}

template <class Archive>
void fields(Archive& each, field<Archive, began>& of) {
    each(of.late);
}

template <class Archive>
void fields(Archive& each, field<Archive, counted>& of) {
    fields<Archive>(each, of.slice);
}

template <class Archive>
void fields(Archive& each, field<Archive, beat>& of) {
    fields<Archive>(each, of.live);
    each(of.started);
}

template <class Archive>
void fields(Archive& each, field<Archive, stop>& of) {
    each(of.now);
    each(of.hasty);
    each(of.when);
    each(of.why);
}

template <class Archive>
void fields(Archive& each, field<Archive, ended>& of) {
    each(of.lasted);
    each(of.why);
    each(of.cpu_user_s);
    each(of.cpu_system_s);
    each(of.max_rss_bytes);
    each(of.status);
    fields<Archive>(each, static_cast<field<Archive, stats::generator_load>&>(of.generator));
    fields(each, of.generator.verdict);
    each(of.generator.limited);
    each(of.generator.judged);
    each(of.generator.reason);
    fields<Archive>(each, of.totals);
    fields<Archive>(each, of.totals_with_warmup);
    each(of.p50);
    each(of.p99);
}

template <class Archive>
void fields(Archive& each, field<Archive, over>& of) {
    each(of.any_lost);
}

template <class Archive>
void fields(Archive& each, field<Archive, trouble>& of) {
    fields<Archive>(each, of.what.what);
    each(of.what.peer);
}

// ---- any of them ----

template <std::size_t Kind = 0>
std::optional<word> read(std::size_t kind, octet_reader& from, std::size_t phases) {
    if constexpr (Kind < std::variant_size_v<word>) {
        if (kind != Kind) return read<Kind + 1>(kind, from, phases);
        using one_word = std::variant_alternative_t<Kind, word>;
        auto empty = [&] {
            if constexpr (std::is_same_v<one_word, counted>)
                return counted(phases);
            else
                return one_word{};
        };
        one_word made = empty();
        fields<octet_reader>(from, made);
        if (!from.done() || !plausible(made)) return std::nullopt;
        return made;
    }
    return std::nullopt;
}

}  // namespace

std::string encode(const word& what) {
    octet_writer into;
    into(std::uint64_t{what.index()});
    std::visit([&](const auto& one) { fields<octet_writer>(into, one); }, what);
    return into.take();
}

base::expected<word> decode(std::string_view octets, std::size_t phases) {
    octet_reader from(octets);
    std::uint64_t kind = 0;
    from(kind);
    auto made = read(static_cast<std::size_t>(kind), from, phases);
    if (!made)
        return base::fail("{} octets that are no word of this version of the program",
                          octets.size());
    return std::move(*made);
}

}  // namespace postal::cluster
