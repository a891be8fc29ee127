// SPDX-License-Identifier: GPL-3.0-or-later
// A run record with something in every field: the archive that fills what the lists of fields name.
#pragma once

#include "base/words.hpp"
#include "stats/record_fields.hpp"

#include <algorithm>
#include <functional>
#include <random>

namespace postal::stats::test {

// Values that JSON keeps exactly: a few decimals, and no number that is too large for a double.
class filler {
  public:
    template <class T>
    using field = T;

    // Of what may be left out or null, so many of a hundred are there.
    filler(unsigned seed, unsigned percent) : random_(seed), percent_(percent) {}

    template <class T>
    void operator()(std::string_view, T& value, std::string_view = {}, postal::stats::as how = {}) {
        negative_ = how.any_sign && chance(50);
        finest_ = how.fine ? 1e-9 : 1e-4;
        fill(value);
    }
    template <class List>
    void group(std::string_view, List list, std::string_view = {}, postal::stats::as = {}) {
        list(*this);
    }
    template <class Element, class Name, class Owner>
    void named(std::string_view, std::vector<Element>& to, Name Owner::*name,
               std::string_view = {}) {
        fill(to);
        for (std::size_t i = 0; i < to.size(); ++i)
            to[i].*name = "name " + std::to_string(i);
    }
    template <class Wanted>
    void counters(postal::stats::counts& to, Wanted wanted) {
        for (const postal::stats::counter& one : postal::stats::all_counters())
            if (wanted(one)) fill(to.*one.value);
    }
    template <class Wanted>
    void counters(postal::stats::known_counts& to, Wanted wanted) {
        counters(static_cast<postal::stats::counts&>(to), wanted);
        for (const postal::stats::counter& one : postal::stats::all_counters())
            if (wanted(one)) to.known.push_back(one.name);
    }
    template <class List>
    void with(bool is_there, List list) {
        if (is_there) list();
    }

  private:
    bool chance(unsigned percent) { return random_() % 100 < percent; }

    void fill(bool& to) { to = chance(50); }
    template <std::integral Number>
    void fill(Number& to) {
        to = static_cast<Number>(1 + random_() % 1'000'000);
    }
    void fill(double& to) {
        to = (negative_ ? -1 : 1) * static_cast<double>(1 + random_() % 1'000'000) * finest_;
    }
    void fill(std::chrono::nanoseconds& to) {
        to = std::chrono::nanoseconds(1 + random_() % 1'000'000'000);
    }
    void fill(std::string& to) {
        const char* const texts[] = {"a", "\"quoted\"", "ümlaut", "line\nfeed", "</script>"};
        to = texts[random_() % 5] + std::to_string(random_());
    }
    void fill(postal::stats::histogram& to) {
        for (int i = 0; i < 3; ++i)
            to.record(std::chrono::nanoseconds(1 + random_() % 1'000'000'000));
    }
    void fill(postal::stats::thread_share& to) { fill(to.busy); }
    void fill(std::chrono::milliseconds& to) {
        to = std::chrono::milliseconds(1 + random_() % 1'000'000);
    }
    template <postal::base::worded Enum>
    void fill(Enum& to) {
        to = static_cast<Enum>(random_() % words_of(to).size());
    }
    void fill(std::vector<std::pair<std::string, std::string>>& to) {
        to = {{"one", "text"}, {"another", ""}};
    }
    void fill(std::vector<std::pair<std::string, postal::stats::option_value>>& to) {
        to = {{"one", "text"},
              {"several", std::vector<std::string>{"a", "b"}},
              {"counted", std::uint64_t{random_()}}};
    }
    template <class T>
    void fill(std::optional<T>& to) {
        if (chance(percent_)) fill(to.emplace());
    }
    template <class T>
    void fill(std::vector<T>& to) {
        to.resize(2);
        for (T& one : to)
            fill(one);
    }
    template <class T, std::size_t size>
    void fill(std::array<T, size>& to) {
        for (T& one : to)
            fill(one);
    }
    void fill(postal::stats::named_numbers& to) {
        to = {{"more", 2 + random_() % 1000}, {"less", 1}};
    }
    template <class T>
    requires std::is_class_v<T>
    void fill(T& to) { fields<filler>(*this, to); }

    std::mt19937 random_;
    unsigned percent_;
    bool negative_ = false;
    double finest_ = 1;
};

template <class T>
T filled(unsigned seed, unsigned percent = 75) {
    T made;
    filler each(seed, percent);
    fields<filler>(each, made);
    return made;
}

// What must fit together does.
inline postal::stats::run_record filled_record(unsigned seed, unsigned percent = 75) {
    using namespace postal::stats;
    auto made = filled<run_record>(seed, percent);
    const auto more = [](const auto& one, const auto& other) { return one.count > other.count; };
    std::sort(made.errors.begin(), made.errors.end(), more);
    std::sort(made.errors_with_warmup.begin(), made.errors_with_warmup.end(), more);
    std::sort(made.seconds.t_s.begin(), made.seconds.t_s.end());
    double end_s = 0;
    for (interval_row& one : made.intervals) {
        one.start_s = end_s;
        one.end_s = end_s += 1.5;
    }
    for (sampled_source& one : made.samples)
        std::sort(one.t_s.begin(), one.t_s.end());
    if (made.search) made.search->result.limiting = 1;
    for (std::size_t i = 0; i < made.ranks.size(); ++i)
        made.ranks[i].rank = static_cast<unsigned>(i);
    return made;
}

}  // namespace postal::stats::test
