// SPDX-License-Identifier: GPL-3.0-or-later
#include "postal-report/audit.hpp"

#include <utility>
#include <vector>

#include "postal-report/csv.hpp"

namespace postal::report {

namespace {

constexpr const char* footnote =
    "A message is lost where the server had acknowledged it before the power was cut and it is "
    "found "
    "nowhere afterwards. What was acknowledged later may be there or not.";

}  // namespace

base::expected<std::optional<shown_audit>> find_audit(const std::string& folder) {
    using found = std::optional<shown_audit>;
    if (!audit::is_audited_folder(folder)) return found{};
    auto read = audit::read_audit(folder);
    if (!read) return read.error();
    auto analysis = analyse(*read);
    return found{shown_audit{std::move(*read), std::move(analysis)}};
}

sheet sheet_of(const shown_audit& of) {
    sheet made{{"variant",   "control",    "cut",       "at_s",         "draw",     "survival",
                "at_risk",   "survived",   "torn",      "acknowledged", "found",    "lost",
                "misplaced", "duplicated", "truncated", "changed",      "unopened", "lost_window_s",
                "failure",   "fsck",       "seconds"}};
    for (const audit::audited_variant& variant : of.record.variants) {
        for (const audit::audited_image& one : variant.images) {
            auto& cells = made.rows.emplace_back(
                std::vector<std::string>{csv_cell(variant.name), std::string(name_of(variant.as)),
                                         std::to_string(one.cut), csv_decimal(one.at_s, 6),
                                         std::to_string(one.draw), std::string(name_of(one.what))});
            const bool is_known = one.failure.empty();
            for (const std::uint64_t count :
                 {one.at_risk, one.survived, one.torn, one.acknowledged})
                cells.push_back(std::to_string(count));
            for (const std::uint64_t count : {one.found, one.lost, one.misplaced, one.duplicated,
                                              one.truncated, one.changed, one.unopened})
                cells.push_back(is_known ? std::to_string(count) : "");
            cells.push_back(csv_decimal(one.lost_window_s, 6));
            cells.push_back(csv_cell(one.failure));
            cells.push_back(csv_cell(one.fsck));
            cells.push_back(csv_decimal(one.seconds));
        }
    }
    return made;
}

document document_of(const shown_audit& of, medium wanted) {
    document made = document_of(of.record, of.found, wanted);
    made.page = {.title = made.title,
                 .subtitle = {describe(of.record)},
                 .kind = "experiment",
                 .footnote = footnote};
    return made;
}

}  // namespace postal::report
