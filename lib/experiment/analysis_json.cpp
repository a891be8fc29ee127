// An analysis as JSON, for readers of the experiment's record.
#include "experiment/analysis.hpp"
#include "experiment/findings.hpp"

#include <nlohmann/json.hpp>

namespace postal::experiment {
namespace {

using json = nlohmann::ordered_json;

template <class Value>
json shown(const std::optional<Value>& value) {
    return value ? json(*value) : json(nullptr);
}

json to_json(const std::optional<stats::without_outliers>& one, const analysis& of) {
    if (!one) return nullptr;
    json blocks = json::array();
    for (const std::size_t block : one->blocks)
        blocks.push_back(of.blocks[block].number);
    return {
        {"blocks_apart", blocks},
        {"ratio", one->ratio},
        {"interval", json::array({one->interval[0], one->interval[1]})},
        {"verdict", one->verdict == stats::comparison_verdict::none ? json(nullptr)
                                                                    : json(name_of(one->verdict))}};
}

json to_json(const stats::comparison& one, const experiment_record& record, const analysis& of,
             bool voided) {
    json interval = nullptr;
    if (one.interval) interval = json::array({(*one.interval)[0], (*one.interval)[1]});
    return {{"variant", record.variants[one.variant].name},
            {"against", record.variants[one.baseline].name},
            {"verdict", voided || one.verdict == stats::comparison_verdict::none
                            ? json(nullptr)
                            : json(name_of(one.verdict))},
            {"few", one.few},
            {"ratio", shown(one.ratio)},
            {"interval", interval},
            {"level", one.level},
            {"blocks", one.blocks},
            {"voided", one.voided},
            {"left_out", one.left_out},
            {"p_t", shown(one.probability)},
            {"p_signs", one.flipped ? json(one.flipped->probability) : json(nullptr)},
            {"smallest_detectable", shown(one.smallest_detectable)},
            {"blocks_as_seen", shown(one.blocks_as_seen)},
            {"needed_blocks", shown(one.needed_blocks)},
            {"blocks_for_width", shown(one.blocks_for_width)},
            {"without_outliers", to_json(one.without, of)}};
}

json to_json(const metric_result& one, const experiment_record& record, const analysis& of) {
    json comparisons = json::array();
    for (const stats::comparison& each : one.compared.comparisons)
        comparisons.push_back(to_json(each, record, of, one.compared.voided));
    json typical = json::array();
    for (const auto& value : one.typical)
        typical.push_back(shown(value));
    json blocks = json::array();
    for (const auto& block : one.table.blocks) {
        json values = json::array();
        for (const auto& value : block.values)
            values.push_back(shown(value));
        blocks.push_back(values);
    }
    return {{"metric", name_of(one.about)},
            {"program", record.programs[one.program]},
            {"carries_verdict", one.table.carries_verdict},
            {"comparisons", comparisons},
            {"same",
             one.compared.same ? to_json(*one.compared.same, record, of, false) : json(nullptr)},
            {"typical", typical},
            {"blocks", blocks}};
}

}  // namespace

json to_json(const analysis& of, const experiment_record& record) {
    json blocks = json::array();
    for (const block_result& one : of.blocks)
        blocks.push_back({{"block", one.number},
                          {"runs", one.runs},
                          {"voided", one.voided.empty() ? json(nullptr) : json(one.voided)}});
    json metrics = json::array();
    for (const metric_result& one : of.metrics)
        metrics.push_back(to_json(one, record, of));
    json drift = nullptr;
    if (of.drift)
        drift = {{"change", of.drift->change},
                 {"interval", json::array({of.drift->interval[0], of.drift->interval[1]})}};
    return {{"voided", of.verdict().compared.voided},
            {"blocks", blocks},
            {"metrics", metrics},
            {"drift", drift},
            {"flush_median_s", shown(of.flush_median_s)}};
}

}  // namespace postal::experiment
