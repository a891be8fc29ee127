#include "experiment/record.hpp"

#include "base/text.hpp"
#include "experiment/record_json.hpp"
#include "mail/digest.hpp"

#include <algorithm>
#include <array>
#include <filesystem>

namespace postal::experiment {
namespace {

using json = nlohmann::ordered_json;
using stats::json_fields;

constexpr std::string_view schema = "postal-experiment/1";
constexpr std::array<std::string_view, 3> state_names{"complete", "failed", "interrupted"};

json to_json(const kept_file& one) {
    return {{"name", one.name}, {"path", one.path}, {"sha256", one.sha256}};
}

json to_json(const recorded_run& one) {
    json loads = json::array();
    for (const kept_file& each : one.loads)
        loads.push_back(to_json(each));
    return {{"block", one.at.block},
            {"position", one.at.position},
            {"variant", one.at.variant},
            {"state", name_of(one.end)},
            {"reason", one.reason},
            {"folder", one.folder},
            {"started", one.started},
            {"seconds", one.seconds},
            {"mounted", one.mounted},
            {"flush_median_s", json_of(one.flush_median_s)},
            {"flush_max_s", json_of(one.flush_max_s)},
            {"caches", one.caches},
            {"loads", loads},
            {"costs", one.costs ? to_json(*one.costs) : json(nullptr)},
            {"devices", one.devices}};
}

json to_json(const verdict_rules& rules) {
    return {{"metric", name_of(rules.about)},
            {"program", rules.program},
            {"margin", rules.margin},
            {"confidence", rules.confidence},
            {"max_errors", rules.max_errors}};
}

kept_file read_kept(const json_fields& from) {
    kept_file one;
    from.read("name", one.name, "path", one.path, "sha256", one.sha256);
    // What a record names is read: nothing outside its own folder.
    const std::filesystem::path path(one.path);
    if (path.is_absolute() || std::find(path.begin(), path.end(), "..") != path.end())
        from.complain("path", "a path below the record's folder");
    return one;
}

recorded_run read_run(const json_fields& from, std::size_t variants) {
    recorded_run one;
    read_word(from, "state", state_names, one.end);
    from.read("block", one.at.block, "position", one.at.position, "variant", one.at.variant,
              "reason", one.reason, "folder", one.folder, "started", one.started, "seconds",
              one.seconds, "mounted", one.mounted, "flush_median_s", one.flush_median_s,
              "flush_max_s", one.flush_max_s, "caches", one.caches, "devices", one.devices);
    if (one.at.variant >= variants) from.complain("variant", "the index of a variant");
    from.each_object("loads",
                     [&](const json_fields& each) { one.loads.push_back(read_kept(each)); });
    if (from.has("costs")) one.costs = read_kept(from.object("costs"));
    return one;
}

void read_verdict(const json_fields& from, std::size_t programs, verdict_rules& into) {
    read_word(from, "metric", metric_names, into.about);
    from.read("program", into.program, "margin", into.margin, "confidence", into.confidence,
              "max_errors", into.max_errors);
    if (into.program >= programs) from.complain("program", "the index of a program");
    if (!(into.margin > 0 && into.margin < 1)) from.complain("margin", "between 0 and 1");
    if (!(into.confidence > 0 && into.confidence < 1))
        from.complain("confidence", "between 0 and 1");
}

void read_record(const json_fields& from, experiment_record& to) {
    from.read("version", to.version, "argv", to.argv, "title", to.title, "file", to.file, "text",
              to.text, "seed", to.seed, "duration_s", to.duration_s, "warmup_s", to.warmup_s,
              "blocks", to.blocks, "started", to.started, "ended", to.ended, "end", to.end,
              "programs", to.programs, "until_width", to.until_width);
    read_host(from.object("host"), to.host);
    read_pairs(from.object("versions"), to.versions);
    read_verdict(from.object("verdict"), to.programs.size(), to.verdict);
    from.each_object("variants", [&](const json_fields& each) {
        recorded_variant& one = to.variants.emplace_back();
        each.read("name", one.name, "same_as", one.same_as);
        read_pairs(each.object("values"), one.values);
        if (one.same_as && *one.same_as >= to.variants.size() - 1)
            each.complain("same_as", "the index of an earlier variant");
    });
    from.each_object("runs", [&](const json_fields& each) {
        to.runs.push_back(read_run(each, to.variants.size()));
    });
    if (to.variants.empty()) from.complain("variants", "a list of at least one variant");
}

}  // namespace

std::string_view name_of(run_end one) {
    return state_names[static_cast<std::size_t>(one)];
}

std::vector<recorded_variant> recorded_variants(const experiment& whole) {
    std::vector<recorded_variant> all;
    for (const variant& one : whole.variants) {
        recorded_variant& kept = all.emplace_back();
        kept.name = one.name;
        kept.same_as = one.same_as;
        for (const auto& [name, words] : one.values)
            kept.values.emplace_back(name, base::join(words, " "));
    }
    return all;
}

std::string record_text(const experiment_record& record, const json& analysis) {
    json variants = json::array();
    for (const recorded_variant& one : record.variants)
        variants.push_back({{"name", one.name},
                            {"same_as", json_of(one.same_as)},
                            {"values", json_of(one.values)}});
    json runs = json::array();
    for (const recorded_run& one : record.runs)
        runs.push_back(to_json(one));
    const json all{{"schema", schema},
                   {"version", record.version},
                   {"argv", record.argv},
                   {"title", record.title},
                   {"started", record.started},
                   {"ended", record.ended},
                   {"end", record.end},
                   {"analysis", analysis},
                   {"verdict", to_json(record.verdict)},
                   {"seed", record.seed},
                   {"duration_s", record.duration_s},
                   {"warmup_s", record.warmup_s},
                   {"blocks", record.blocks},
                   {"until_width", json_of(record.until_width)},
                   {"host", json_of(record.host)},
                   {"versions", json_of(record.versions)},
                   {"programs", record.programs},
                   {"variants", variants},
                   {"runs", runs},
                   {"file", record.file},
                   {"text", record.text}};
    return all.dump(1, ' ', false, json::error_handler_t::replace) + "\n";
}

base::expected<experiment_record> parse_experiment_record(std::string_view text) {
    const json all = json::parse(text, nullptr, false);
    if (all.is_discarded()) return base::fail("is no JSON");
    stats::complaint problems;
    const json_fields from(all, "", problems);
    std::string named;
    from.read("schema", named);
    if (!problems && named != schema) from.complain("schema", schema);
    experiment_record record;
    if (!problems) read_record(from, record);
    if (problems) return base::failure{problems.first};
    return {boost::system::in_place_value, std::move(record)};
}

json recorded_analysis(std::string_view text) {
    const json all = json::parse(text, nullptr, false);
    return all.is_object() && all.contains("analysis") ? all["analysis"] : json(nullptr);
}

std::string sha256_of(std::string_view text) {
    mail::hasher hash(mail::digest_kind::sha256);
    hash.update(text);
    const std::string digest = mail::to_text(hash.finish());
    return digest.substr(digest.find(':') + 1);
}

}  // namespace postal::experiment
