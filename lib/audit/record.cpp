// SPDX-License-Identifier: GPL-3.0-or-later
// What the list of fields cannot say of an audit's record: what must fit together.
#include "audit/record.hpp"

#include "audit/record_fields.hpp"
#include "base/read_file.hpp"
#include "base/text.hpp"
#include "stats/json_fields.hpp"
#include "stats/json_writer.hpp"

#include <filesystem>

namespace postal::audit {
namespace {

constexpr std::string_view schema = "postal-audit/1";
constexpr std::uint64_t largest_record = std::uint64_t{256} << 20U;

void check_image(const audited_image& one, const std::string& place, stats::complaint& problems) {
    struct part {
        std::string_view key, of;
        std::uint64_t value, most;
    };
    for (const part& each : {part{"survived", "at_risk", one.survived, one.at_risk},
                             {"torn", "survived", one.torn, one.survived},
                             {"found", "acknowledged", one.found, one.acknowledged},
                             {"lost", "acknowledged", one.lost, one.acknowledged},
                             {"misplaced", "acknowledged", one.misplaced, one.acknowledged},
                             {"duplicated", "acknowledged", one.duplicated, one.acknowledged},
                             {"truncated", "acknowledged", one.truncated, one.acknowledged},
                             {"changed", "acknowledged", one.changed, one.acknowledged}})
        if (each.value > each.most)
            problems.add(fmt::format("{}.{}", place, each.key),
                         fmt::format("a part of {}", each.of));
}

void check_record(const audit_record& of, stats::complaint& problems) {
    if (of.torn_percent > 100) problems.add("torn_percent", "at most 100");
    if (of.variants.empty()) problems.add("variants", "a list of at least one variant");
    for (std::size_t i = 0; i < of.variants.size(); ++i)
        for (std::size_t k = 0; k < of.variants[i].images.size(); ++k)
            check_image(of.variants[i].images[k], fmt::format("variants[{}].images[{}]", i, k),
                        problems);
}

std::filesystem::path path_in(const std::string& folder) {
    return std::filesystem::path(folder) / audit_name;
}

}  // namespace

std::string audit_text(const audit_record& record) {
    return stats::fields_text(record, schema, 1, stats::decimals::all);
}

base::expected<audit_record> parse_audit_record(std::string_view text) {
    return stats::parse_fields<audit_record>(text, schema, check_record);
}

bool is_audited_folder(const std::string& path) {
    std::error_code ignored;
    return std::filesystem::exists(path_in(path), ignored);
}

base::expected<audit_record> read_audit(const std::string& folder) {
    const std::string path = path_in(folder).string();
    const auto text = base::read_regular_file(path, largest_record);
    if (!text) return text.error();
    auto record = parse_audit_record(*text);
    if (!record) return base::at(base::printable(path, 300), record.error());
    return record;
}

}  // namespace postal::audit
