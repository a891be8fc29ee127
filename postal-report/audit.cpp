#include "postal-report/audit.hpp"

#include <fmt/format.h>

#include <vector>

#include "base/text.hpp"
#include "base/version.hpp"
#include "experiment/findings.hpp"
#include "postal-report/assets.hpp"
#include "postal-report/csv.hpp"
#include "report/table.hpp"

namespace postal::report {

namespace {

constexpr std::size_t most_large_sentences = 3;

constexpr const char* footnote =
    "A message is lost where the server had acknowledged it before the power was cut and it is "
    "found "
    "nowhere afterwards. What was acknowledged later may be there or not.";

std::string verdicts_html(const shown_audit& of) {
    const auto sentences = verdict_sentences(of.record, of.found);
    if (sentences.empty()) return {};
    std::string out = fmt::format("<section class=\"card verdicts{}\" id=\"power-cuts\">\n",
                                  sentences.size() > most_large_sentences ? " several" : "");
    for (const std::string& one : sentences)
        out += fmt::format("<p class=\"say\">{}.</p>\n", escape_html(one));
    return out + "</section>\n";
}

std::string remarks_html(const shown_audit& of) {
    std::string out;
    for (const experiment::remark& one : remarks(of.record, of.found))
        out += fmt::format("<p class=\"remark {}\" role=\"note\">{}.</p>\n", one.kind,
                           escape_html(one.text));
    return out.empty() ? out : "<div class=\"remarks\">\n" + out + "</div>\n";
}

}  // namespace

base::expected<std::optional<shown_audit>> find_audit(const std::string& folder) {
    using found = std::optional<shown_audit>;
    if (!experiment::is_audited_folder(folder)) return found{};
    auto read = experiment::read_audit(folder);
    if (!read) return read.error();
    auto analysis = analyse(*read);
    return found{shown_audit{std::move(*read), std::move(analysis)}};
}

std::string render_csv(const shown_audit& of) {
    std::string out =
        "variant,control,cut,at_s,draw,survival,at_risk,survived,torn,acknowledged,found,lost,"
        "misplaced,duplicated,truncated,changed,unopened,lost_window_s,failure,fsck,seconds\n";
    for (const experiment::audited_variant& variant : of.record.variants) {
        for (const experiment::audited_image& one : variant.images) {
            std::vector<std::string> cells{
                csv_cell(variant.name),   std::string(name_of(variant.as)),
                std::to_string(one.cut),  csv_decimal(one.at_s, 6),
                std::to_string(one.draw), std::string(name_of(one.what))};
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
            out += base::join(cells, ",") + "\n";
        }
    }
    return out;
}

std::string sentences_html(const shown_audit& of) {
    const std::string verdicts = verdicts_html(of);
    const std::string noted = remarks_html(of);
    return of.found.counts() ? verdicts + noted : noted + verdicts;
}

std::string tables_html(const shown_audit& of) {
    std::string out;
    for (const table& each : tables(of.record, of.found))
        out += render_html(each);
    return out;
}

std::string render_page(const shown_audit& of, const page_parts& parts) {
    const std::string& title = of.record.title.empty() ? of.record.file : of.record.title;
    return fill(page_frame, {{"TITLE", escape_html(title)},
                             {"SUBTITLE", escape_html(describe(of.record))},
                             {"VERSION", std::string{base::build_version}},
                             {"NONCE", std::string{parts.nonce}},
                             {"STYLE", std::string{page_style}},
                             {"REMARKS", sentences_html(of)},
                             {"HEADLINE", ""},
                             {"CHARTS", ""},
                             {"KIND", " experiment"},
                             {"TABLES", tables_html(of)},
                             {"FOOTNOTE", footnote},
                             {"DATA", "{}"},
                             {"LIBRARY", ""},
                             {"SCRIPT", ""}});
}

}  // namespace postal::report
