#include "stats/record_commands.hpp"

#include <algorithm>

#include "stats/record_values.hpp"

namespace postal::stats {

namespace {

json count_of(const command_count& of) {
    return {{"sent", of.sent},
            {"ok", of.ok},
            {"no", of.no},
            {"bad", of.bad},
            {"unanswered", of.unanswered}};
}

void add_count(json& to, const action_count& of) {
    to["begun"] = of.begun;
    to["ok"] = of.ok;
    to["refused"] = of.refused;
    to["failed"] = of.failed;
    to["nothing"] = of.nothing;
}

command_count read_count(const json_fields& from) {
    command_count to;
    from.read("sent", to.sent, "ok", to.ok, "no", to.no, "bad", to.bad, "unanswered",
              to.unanswered);
    return to;
}

void read_count(const json_fields& from, recorded_actions& to) {
    from.read("begun", to.begun, "ok", to.ok, "refused", to.refused, "failed", to.failed, "nothing",
              to.nothing);
}

recorded_verb read_verb(const std::string& name, const json_fields& from) {
    recorded_verb to;
    to.name = name;
    from.read("weight", to.weight, "first", to.first, "last", to.last);
    read_count(from, to);
    from.object("latency_us").read("p50", to.p50_us, "p99", to.p99_us, "max", to.max_us);
    return to;
}

}  // namespace

json commands_of(const run_description& run, const command_counts& counted) {
    json object = count_of(counted.total());
    json& kinds = object["by_kind"] = json::object();
    const std::size_t known = std::min(run.commands.size(), counted.kinds.size());
    for (std::size_t i = 0; i < known; ++i)
        if (counted.kinds[i].sent > 0) kinds[run.commands[i]] = count_of(counted.kinds[i]);
    return object;
}

json profile_of(const wanted_profile& wanted, const action_counts& counted) {
    action_count total;
    json verbs = json::object();
    for (std::size_t i = 0; i < wanted.actions.size(); ++i) {
        const wanted_action& what = wanted.actions[i];
        const action_count done = i < counted.verbs.size() ? counted.verbs[i] : action_count{};
        total.merge(done);
        if (!what.wanted() && done.begun == 0) continue;
        json& one = verbs[what.verb] = {
            {"weight", number(what.weight)}, {"first", what.first}, {"last", what.last}};
        add_count(one, done);
        const histogram times = done.time.value_or(histogram{});
        one["latency_us"] = latency_of(ranking(times));
    }
    json object{{"name", wanted.name},
                {"least_actions", wanted.least_actions},
                {"most_actions", wanted.most_actions}};
    add_count(object, total);
    object["verbs"] = std::move(verbs);
    return object;
}

void read_commands(const json_fields& root, run_record& to) {
    if (!root.has("commands")) return;
    const json_fields from = root.object("commands");
    recorded_commands& made = to.commands.emplace();
    made.total = read_count(from);
    const json_fields kinds = from.object("by_kind");
    kinds.members([&](const std::string& name, const json&) {
        made.by_kind.emplace_back(name, read_count(kinds.object(name)));
    });
}

void read_profile(const json_fields& root, run_record& to) {
    if (!root.has("profile")) return;
    const json_fields from = root.object("profile");
    recorded_profile& made = to.profile.emplace();
    from.read("name", made.name, "least_actions", made.least_actions, "most_actions",
              made.most_actions);
    read_count(from, made);
    const json_fields verbs = from.object("verbs");
    verbs.members([&](const std::string& name, const json&) {
        made.verbs.push_back(read_verb(name, verbs.object(name)));
    });
}

}  // namespace postal::stats
