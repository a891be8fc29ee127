// SPDX-License-Identifier: GPL-3.0-or-later
// What each word consists of, once for both directions: a list hands every field to an archive that
// writes or reads it.
#include "cluster/words.hpp"

#include <algorithm>
#include <chrono>
#include <limits>
#include <type_traits>
#include <utility>

#include "base/words.hpp"
#include "cluster/archive.hpp"

namespace postal::cluster {

namespace {

// Of a list that another rank sends; one of names is searched from its beginning for each.
constexpr std::size_t most_names = 1024;
// An error_table has one more than its kinds, for the rest.
constexpr std::size_t most_kinds = stats::error_table::max_kinds + 1;
constexpr std::size_t most_stretches = 1024;  // of a trial
constexpr std::size_t most_text = 200;        // of a program that joins a search

// ---- histograms, whose two directions differ ----

void pack(octet_writer& each, const stats::histogram& of) {
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

void pack(octet_reader& each, stats::histogram& of) {
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

// ---- the lists ----

template <class Archive>
class lists {
  public:
    explicit lists(Archive& each) : each_(each) {}

    template <class T>
    using field = typename Archive::template field<T>;

    // What the words are made of.

    void list(field<stats::counts>& of) {
        for (const stats::counter& one : stats::all_counters())
            each_(of.*one.value);
    }
    void list(field<std::optional<stats::histogram>>& of) {
        bool there = of.has_value();
        all(there);
        if constexpr (!Archive::writes) {
            of.reset();
            if (there) of.emplace();
        }
        if (there) all(*of);
    }
    void list(field<stats::named_count>& of) { all(of.name, of.count); }
    void list(field<stats::named_counts>& of) {
        if constexpr (Archive::writes)
            write_entries(of.sorted());
        else
            read_entries<stats::named_count>(most_names,
                                             [&](const auto& one) { of.add(one.name, one.count); });
    }
    void list(field<stats::error_entry>& of) {
        all(of.stage, of.code, of.detail, of.count, of.sample);
    }
    void list(field<stats::error_table>& of) {
        if constexpr (Archive::writes)
            write_entries(of.entries());
        else
            read_entries<stats::error_entry>(most_kinds, [&](const auto& one) { of.add(one); });
    }
    void list(field<base::thread_time>& of) { all(of.busy, of.wall, of.run_delay, of.still); }
    void list(field<stats::worker_time>& of) {
        list(static_cast<field<base::thread_time>&>(of));
        all(of.connected_s);
    }
    void list(field<stats::tls_counts>& of) {
        all(of.full, of.resumed, of.versions, of.ciphers, of.groups, of.verifications);
    }
    void list(field<stats::command_counts>& of) {
        for (auto& one : of.kinds)
            all(one.sent, one.ok, one.no, one.bad, one.unanswered);
    }
    void list(field<stats::action_counts>& of) {
        resize(of.verbs, stats::action_counts::most_verbs);
        for (auto& one : of.verbs) {
            all(one.begun, one.ok, one.refused, one.failed, one.nothing, one.time);
            for (auto& sized : one.by_size)
                all(sized);
        }
    }
    // Ranks are clients: they run no agents.
    void list(field<stats::agent_counts>& /*of*/) {}
    void list(field<stats::tally>& of) {
        list(static_cast<field<stats::counts>&>(of));
        list(static_cast<field<stats::worker_time>&>(of));
        for (auto& phase : of.latency)
            all(phase);
        std::apply([&](auto... part) { all((of.*part)...); }, stats::tally_parts);
    }
    void list(field<stats::promise_losses>& of) {
        all(of.late, of.errors, of.not_started, of.near);
    }
    void list(field<stats::trial_stretch>& of) {
        all(of.ended, of.finished);
        for (auto& one : of.lost)
            all(one);
    }
    // Nothing follows where there is no trial.
    void list(field<stats::trial_counts>& of) {
        std::uint64_t number = of.number();
        all(number);
        if (number == 0) return;
        auto stretches = of.stretches();
        resize(stretches, most_stretches);
        for (auto& one : stretches)
            all(one);
        if constexpr (!Archive::writes) of.set(number, std::move(stretches));
    }
    void list(field<stats::trial_promise>& of) {
        unsigned ends = of.lost_ends;
        all(of.within, ends);
        if constexpr (!Archive::writes) of.lost_ends = static_cast<std::uint8_t>(ends);
    }
    void list(field<load::trial>& of) {
        all(of.times.number, of.times.begin, of.times.measured, of.times.batch, of.times.batches,
            of.messages, of.only_ends);
        resize(of.promises, stats::most_promises);
        for (auto& one : of.promises)
            all(one);
    }
    void list(field<base::machine_time>& of) {
        all(of.all_s, of.idle_s, of.stolen_s, of.pressure_s, of.throttled_s);
    }
    void list(field<stats::time_slice>& of) {
        std::uint64_t phases = of.counts.latency.size();
        all(phases);
        if constexpr (!Archive::writes)
            if (phases != of.counts.latency.size()) each_.fail();
        resize(of.workers, most_workers);
        all(of.start_s, of.end_s, of.in_warmup, of.closes_interval, of.partial, of.draining);
        for (auto& one : of.workers)
            all(one);
        all(of.main, of.ledger, of.machine, of.stopped_s, of.counts);
    }
    void list(field<stats::live_state>& of) {
        all(of.elapsed, of.messages_per_second, of.messages, of.errors, of.open_connections,
            of.appended);
        for (auto& one : of.sessions)
            all(one);
    }

    // The words.

    void list(field<welcome>& of) { all(of.version, of.seed, of.run); }
    void list(field<hello>& of) {
        all(of.host, of.workers, of.sessions, of.processors, of.machine_processors, of.load,
            of.refusal, of.status);
    }
    void list(field<ping>& of) { all(of.number, of.more); }
    void list(field<pong>& of) { all(of.number, of.steady, of.wall, of.most_drift); }
    void list(field<start>& of) { all(of.at, of.first_interval); }
    void list(field<refused>& of) { all(of.status); }
    void list(field<began>& of) { all(of.late); }
    void list(field<counted>& of) { all(of.slice); }
    void list(field<beat>& of) { all(of.live, of.started); }
    void list(field<stop>& of) { all(of.now, of.hasty, of.when, of.why); }
    void list(field<ended>& of) {
        all(of.lasted, of.why, of.cpu_user_s, of.cpu_system_s, of.max_rss_bytes, of.status,
            of.verdict, of.reason, of.worker_busy, of.totals, of.totals_with_warmup, of.p50,
            of.p99);
    }
    void list(field<over>& of) { all(of.any_lost); }
    void list(field<trouble>& of) { all(of.what.what, of.what.peer); }
    void list(field<next_trial>& of) { all(of.what); }
    void list(field<capacity::goal>& of) {
        all(of.promise, of.metric, of.loss_ratio, of.initial_trial_s, of.final_trial_s,
            of.duration_sum_s, of.exceed_ratio, of.width);
    }
    void list(field<joins>& of) {
        all(of.version, of.program, of.unit, of.share, of.at_random, of.seed, of.phases,
            of.due_phase, of.sessions, of.at_once);
        resize(of.goals, stats::most_promises);
        for (auto& one : of.goals)
            all(one);
        resize(of.promises, stats::most_promises);
        for (auto& one : of.promises)
            all(one);
    }

  private:
    template <class... T>
    void all(T&... of) {
        (one(of), ...);
    }
    template <class T>
    void one(T& of) {
        if constexpr (requires { pack(each_, of); })
            pack(each_, of);
        else if constexpr (requires { list(of); })
            list(of);
        else if constexpr (base::worded<std::remove_const_t<T>>)
            named(of);
        else
            each_(of);
    }
    void named(auto& of) {
        std::string word(base::name_of(of));
        each_(word);
        if constexpr (!Archive::writes)
            of = base::named<std::remove_reference_t<decltype(of)>>(word);
    }
    // How many elements follow, and room for them.
    void resize(auto& list, std::size_t most) {
        if constexpr (Archive::writes)
            each_(std::uint64_t{list.size()});
        else
            list.resize(each_.length(most));
    }
    void write_entries(const auto& entries) {
        each_(std::uint64_t{entries.size()});
        for (const auto& one : entries)
            list(one);
    }
    template <class Entry>
    void read_entries(std::size_t most, auto add) {
        for (std::size_t left = each_.length(most); left > 0 && each_.ok(); --left) {
            Entry one;
            list(one);
            if (each_.ok()) add(one);
        }
    }

    Archive& each_;
};

// ---- whether the times in a word can be what they say: sums and differences of them must not
// overflow ----

// Differences of such times do not overflow.
bool within(nanoseconds time, nanoseconds::rep most = std::int64_t{1} << 62U) {
    return time.count() >= -most && time.count() <= most;
}

bool plausible(const pong& what) {
    const double drift = what.most_drift.value_or(0);
    return within(what.steady) && within(what.wall) && drift >= 0 && drift <= 1;
}

bool plausible(const stop& what) {
    return within(what.when);
}

bool plausible(const counted& what) {
    const stats::time_slice& slice = what.slice;
    constexpr double longest_s = 1e9;  // thirty years
    // What workers did together in a time slice: a hundred of them, a day long. Sums have room for
    // many.
    constexpr nanoseconds::rep most = 10'000'000'000'000'000;
    constexpr double most_connected_s = 1e15;
    const auto brief = [](const base::thread_time& one) {
        return within(one.busy, most) && within(one.wall, most) && within(one.still, most) &&
               within(one.run_delay.value_or(nanoseconds{}), most);
    };
    const auto short_enough = [&](const stats::worker_time& one) {
        return brief(one) && one.connected_s >= 0 && one.connected_s <= most_connected_s;
    };
    const auto timely = [&](const auto& part) {
        using kind = std::remove_cvref_t<decltype(part)>;
        if constexpr (std::is_same_v<kind, nanoseconds>)
            return within(part, most);
        else if constexpr (std::is_same_v<kind, std::optional<nanoseconds>>)
            return within(part.value_or(nanoseconds{}), most);
        else
            return true;
    };
    return slice.start_s >= 0 && slice.start_s <= slice.end_s && slice.end_s <= longest_s &&
           std::apply([&](auto... part) { return (timely(slice.counts.*part) && ...); },
                      stats::tally_parts) &&
           short_enough(slice.counts) && brief(slice.main) && brief(slice.ledger) &&
           std::all_of(slice.workers.begin(), slice.workers.end(), short_enough);
}

bool plausible(const next_trial& what) {
    const stats::trial_times& times = what.what.times;
    const auto most = std::int64_t{1} << 50U;  // thirteen days
    return times.number > 0 && times.begin.count() >= 0 && times.begin <= times.measured &&
           times.measured.count() <= most && times.batch.count() > 0 &&
           times.batch.count() <= most / 1024 && times.batches > 0 &&
           times.batches + 2 <= most_stretches && what.what.messages > 0 &&
           what.what.messages <= 1e15;
}

bool plausible(const capacity::goal& what) {
    constexpr double longest_s = 1e6;  // of a trial, twelve days
    const auto is_time = [](double seconds) { return seconds > 0 && seconds <= longest_s; };
    return !what.promise.empty() && what.promise.size() <= most_text &&
           what.metric.size() <= most_text && what.loss_ratio >= 0 && what.loss_ratio < 1 &&
           is_time(what.initial_trial_s) && is_time(what.final_trial_s) &&
           is_time(what.duration_sum_s) && what.initial_trial_s <= what.final_trial_s &&
           what.final_trial_s <= what.duration_sum_s && what.exceed_ratio >= 0 &&
           what.exceed_ratio <= 1 && what.width >= capacity::least_width &&
           what.width <= capacity::most_width;
}

bool plausible(const joins& what) {
    constexpr std::uint64_t most_sessions = std::uint64_t{1} << 40U;
    return what.version.size() <= most_text && what.program.size() <= most_text &&
           what.unit.size() <= most_text && what.share >= capacity::least_share &&
           what.share <= capacity::most_share && what.phases > 0 && what.phases <= most_phases &&
           what.due_phase < what.phases && what.sessions > 0 && what.sessions <= most_sessions &&
           what.at_once > 0 && what.at_once <= most_sessions && !what.goals.empty() &&
           what.goals.size() == what.promises.size() &&
           std::all_of(what.goals.begin(), what.goals.end(),
                       [](const capacity::goal& one) { return plausible(one); });
}

template <class Word>
bool plausible(const Word&) {
    return true;
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
        lists(from).list(made);
        if (!from.done() || !plausible(made)) return std::nullopt;
        return made;
    }
    return std::nullopt;
}

}  // namespace

std::string encode(const word& what) {
    octet_writer into;
    into(std::uint64_t{what.index()});
    std::visit([&](const auto& one) { lists(into).list(one); }, what);
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
