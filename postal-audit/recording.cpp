// SPDX-License-Identifier: GPL-3.0-or-later
#include "postal-audit/recording.hpp"

#include "base/read_file.hpp"
#include "base/text.hpp"
#include "base/write_file.hpp"
#include "stats/json_fields.hpp"
#include "stats/json_writer.hpp"

#include <algorithm>
#include <filesystem>

namespace postal::audit {
namespace {

constexpr std::string_view schema = "postal-recording/1";

std::string file_in(const std::string& folder) {
    return folder + "/recording.json";
}

}  // namespace

std::int64_t recording::time_of(std::size_t entries) const {
    return last_us.at(std::clamp(entries, first, last) - first);
}

std::string log_in(const std::string& folder) {
    return folder + "/writes.log";
}

std::string ledger_in(const std::string& folder) {
    return folder + "/sent.ledger";
}

base::expected<void> check_cut(const recording& of, std::string_view variant, std::size_t entries) {
    if (entries >= of.first && entries <= of.last) return {};
    return base::fail("--cut-at: the load of {} wrote entries {} to {} of its log",
                      base::printable(variant, 100), of.first, of.last);
}

bool is_recorded(const std::string& folder) {
    std::error_code unknown;
    return std::filesystem::exists(file_in(folder), unknown);
}

base::expected<void> keep(const recording& one, const std::string& folder) {
    return base::write_file(file_in(folder),
                            stats::fields_text(one, schema, -1, stats::decimals::all));
}

base::expected<recording> read_recording(const std::string& folder) {
    const std::string path = file_in(folder);
    const auto text = base::read_file(path);
    if (!text) return text.error();
    const auto check = [](const recording& one, stats::complaint& problems) {
        if (one.first > one.last || one.last_us.size() != one.last - one.first + 1)
            problems.add("last_us", "a list of one number for each of the entries first to last");
    };
    auto read = stats::parse_fields<recording>(*text, schema, check);
    if (!read) return base::at(base::printable(path, 300), read.error());
    return read;
}

}  // namespace postal::audit
