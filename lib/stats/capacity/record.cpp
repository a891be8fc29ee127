#include "stats/capacity/record.hpp"

#include <algorithm>
#include <cmath>

namespace postal::capacity {

std::uint64_t trials_that_say_nothing(const search_record& of) {
    return static_cast<std::uint64_t>(
        std::count_if(of.trials.begin(), of.trials.end(), [](const recorded_trial& one) {
            return one.began_with_backlog || one.validity != trial_validity::valid;
        }));
}

search_record record_of(const search& of, std::string_view unit) {
    const search_input& given = of.input();
    search_record made{.goals = of.goals(),
                       .start_load = given.loads.start,
                       .min_load = given.loads.min,
                       .seed = given.seed,
                       .unit = std::string(unit),
                       .sentence = sentence_of(of.result(), of.goals(), unit),
                       .result = of.result()};
    if (std::isfinite(given.loads.max)) made.max_load = given.loads.max;
    for (const search_trial& one : of.trials()) {
        const trial_output& seen = one.seen;
        recorded_trial& trial = made.trials.emplace_back(recorded_trial{one.start_s,
                                                                        one.asked,
                                                                        seen.duration_s,
                                                                        seen.took_s,
                                                                        seen.intended,
                                                                        seen.backlog_start,
                                                                        seen.backlog_end(),
                                                                        seen.began_with_backlog,
                                                                        seen.validity,
                                                                        seen.p50,
                                                                        seen.p99,
                                                                        {}});
        for (std::size_t i = 0; i < one.judgements.size(); ++i)
            trial.goals.push_back({seen.goals[i], one.judgements[i]});
    }
    return made;
}

}  // namespace postal::capacity
