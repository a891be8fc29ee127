#include "experiment/audit_record.hpp"

#include "base/read_file.hpp"
#include "base/text.hpp"
#include "experiment/record_json.hpp"

#include <array>
#include <filesystem>

namespace postal::experiment {
namespace {

using json = stats::json;
using stats::json_fields;

constexpr std::string_view schema = "postal-audit/1";
constexpr std::string_view random_order = "random";
constexpr std::string_view log_order = "log";
constexpr std::uint64_t largest_record = std::uint64_t{256} << 20U;
constexpr std::array<std::string_view, 3> survival_names{"none", "all", "some"};
constexpr std::array<std::string_view, 3> control_names{"no", "must_lose", "must_keep"};

json to_json(const lost_message& one) {
    return {{"run", one.run},
            {"session", one.session},
            {"sequence", one.sequence},
            {"recipient", one.recipient},
            {"acknowledged", one.acknowledged}};
}

json to_json(const audited_image& one) {
    json first_lost = json::array();
    for (const lost_message& each : one.first_lost)
        first_lost.push_back(to_json(each));
    return {{"cut", one.cut},
            {"at_s", one.at_s},
            {"draw", one.draw},
            {"draws", one.draws},
            {"seed", one.seed},
            {"survival", name_of(one.what)},
            {"at_risk", one.at_risk},
            {"survived", one.survived},
            {"torn", one.torn},
            {"acknowledged", one.acknowledged},
            {"found", one.found},
            {"lost", one.lost},
            {"misplaced", one.misplaced},
            {"duplicated", one.duplicated},
            {"truncated", one.truncated},
            {"changed", one.changed},
            {"unopened", one.unopened},
            {"lost_window_s", json_of(one.lost_window_s)},
            {"first_lost", first_lost},
            {"failure", one.failure},
            {"fsck_status", one.fsck_status},
            {"fsck", one.fsck},
            {"seconds", one.seconds}};
}

json to_json(const audited_variant& one) {
    json images = json::array();
    for (const audited_image& each : one.images)
        images.push_back(to_json(each));
    return {{"name", one.name},
            {"control", name_of(one.as)},
            {"started", one.started},
            {"mounted", one.mounted},
            {"acknowledged", one.acknowledged},
            {"entries", one.entries},
            {"writes", one.writes},
            {"flushes", one.flushes},
            {"octets", one.octets},
            {"recording_s", one.recording_s},
            {"longest_gap_s", one.longest_gap_s},
            {"cuts", one.cuts},
            {"end", one.end},
            {"images", images}};
}

lost_message read_lost(const json_fields& from) {
    lost_message one;
    from.read("run", one.run, "session", one.session, "sequence", one.sequence, "recipient",
              one.recipient, "acknowledged", one.acknowledged);
    return one;
}

audited_image read_image(const json_fields& from) {
    audited_image one;
    read_word(from, "survival", survival_names, one.what);
    from.read("cut", one.cut, "at_s", one.at_s, "draw", one.draw, "draws", one.draws, "seed",
              one.seed, "at_risk", one.at_risk, "survived", one.survived, "torn", one.torn,
              "acknowledged", one.acknowledged, "found", one.found, "lost", one.lost, "misplaced",
              one.misplaced, "duplicated", one.duplicated, "truncated", one.truncated, "changed",
              one.changed, "unopened", one.unopened, "lost_window_s", one.lost_window_s, "failure",
              one.failure, "fsck_status", one.fsck_status, "fsck", one.fsck, "seconds",
              one.seconds);
    from.each_object("first_lost",
                     [&](const json_fields& each) { one.first_lost.push_back(read_lost(each)); });
    const auto at_most = [&](std::string_view key, std::uint64_t value, std::uint64_t most,
                             std::string_view wanted) {
        if (value > most) from.complain(key, wanted);
    };
    at_most("survived", one.survived, one.at_risk, "a part of at_risk");
    at_most("torn", one.torn, one.survived, "a part of survived");
    for (const auto& [key, value] : {std::pair{"found", one.found},
                                     {"lost", one.lost},
                                     {"misplaced", one.misplaced},
                                     {"duplicated", one.duplicated},
                                     {"truncated", one.truncated},
                                     {"changed", one.changed}})
        at_most(key, value, one.acknowledged, "a part of acknowledged");
    return one;
}

audited_variant read_variant(const json_fields& from) {
    audited_variant one;
    read_word(from, "control", control_names, one.as);
    from.read("name", one.name, "started", one.started, "mounted", one.mounted, "acknowledged",
              one.acknowledged, "entries", one.entries, "writes", one.writes, "flushes",
              one.flushes, "octets", one.octets, "recording_s", one.recording_s, "longest_gap_s",
              one.longest_gap_s, "cuts", one.cuts, "end", one.end);
    from.each_object("images",
                     [&](const json_fields& each) { one.images.push_back(read_image(each)); });
    return one;
}

void read_record(const json_fields& from, audit_record& to) {
    from.read("version", to.version, "argv", to.argv, "title", to.title, "file", to.file, "text",
              to.text, "seed", to.seed, "cuts", to.cuts, "draws", to.draws, "torn_percent",
              to.torn_percent, "messages", to.messages, "started", to.started, "ended", to.ended,
              "end", to.end);
    std::string order;
    from.read("order", order);
    to.random_order = order == random_order;
    if (to.torn_percent > 100) from.complain("torn_percent", "at most 100");
    read_host(from.object("host"), to.host);
    read_pairs(from.object("versions"), to.versions);
    from.each_object("variants",
                     [&](const json_fields& each) { to.variants.push_back(read_variant(each)); });
    if (to.variants.empty()) from.complain("variants", "a list of at least one variant");
}

std::filesystem::path path_in(const std::string& folder) {
    return std::filesystem::path(folder) / audit_name;
}

}  // namespace

std::string_view name_of(survival one) {
    return survival_names[static_cast<std::size_t>(one)];
}

std::string_view name_of(control one) {
    return control_names[static_cast<std::size_t>(one)];
}

std::string audit_text(const audit_record& record) {
    json variants = json::array();
    for (const audited_variant& one : record.variants)
        variants.push_back(to_json(one));
    const json all{{"schema", schema},
                   {"version", record.version},
                   {"argv", record.argv},
                   {"title", record.title},
                   {"started", record.started},
                   {"ended", record.ended},
                   {"end", record.end},
                   {"seed", record.seed},
                   {"cuts", record.cuts},
                   {"order", record.random_order ? random_order : log_order},
                   {"draws", record.draws},
                   {"torn_percent", record.torn_percent},
                   {"messages", record.messages},
                   {"host", json_of(record.host)},
                   {"versions", json_of(record.versions)},
                   {"variants", variants},
                   {"file", record.file},
                   {"text", record.text}};
    return all.dump(1, ' ', false, json::error_handler_t::replace) + "\n";
}

base::expected<audit_record> parse_audit_record(std::string_view text) {
    const json all = json::parse(text, nullptr, false);
    if (all.is_discarded()) return base::fail("is no JSON");
    stats::complaint problems;
    const json_fields from(all, "", problems);
    std::string named;
    from.read("schema", named);
    if (!problems && named != schema) from.complain("schema", schema);
    audit_record record;
    if (!problems) read_record(from, record);
    if (problems) return base::failure{problems.first};
    return {boost::system::in_place_value, std::move(record)};
}

bool is_audited_folder(const std::string& path) {
    std::error_code ignored;
    return std::filesystem::exists(path_in(path), ignored);
}

base::expected<audit_record> read_audit(const std::string& folder) {
    const std::string path = path_in(folder).string();
    const auto text = base::read_file(path, largest_record);
    if (!text) return text.error();
    auto record = parse_audit_record(*text);
    if (!record) return base::at(base::printable(path, 300), record.error());
    return record;
}

}  // namespace postal::experiment
