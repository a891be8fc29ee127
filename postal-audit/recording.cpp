#include "postal-audit/recording.hpp"

#include "base/read_file.hpp"
#include "base/text.hpp"
#include "base/write_file.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>

namespace postal::audit {
namespace {

constexpr const char* schema = "postal-recording/1";

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

bool is_recorded(const std::string& folder) {
    std::error_code unknown;
    return std::filesystem::exists(file_in(folder), unknown);
}

base::expected<void> keep(const recording& one, const std::string& folder) {
    const nlohmann::ordered_json made{
        {"schema", schema},
        {"started", one.started},
        {"mounted", one.mounted},
        {"disk_octets", one.disk_octets},
        {"first", one.first},
        {"last", one.last},
        {"begin_us", one.begin_us},
        {"end_us", one.end_us},
        {"longest_gap_s", one.longest_gap_s},
        {"last_us", one.last_us},
    };
    return base::write_file(file_in(folder), made.dump() + "\n");
}

base::expected<recording> read_recording(const std::string& folder) {
    const std::string path = file_in(folder);
    const auto text = base::read_file(path);
    if (!text) return text.error();
    recording one;
    try {
        const auto read = nlohmann::json::parse(*text);
        if (read.at("schema") != schema)
            return base::fail("{}: is no recording of this version", base::printable(path, 300));
        read.at("started").get_to(one.started);
        read.at("mounted").get_to(one.mounted);
        read.at("disk_octets").get_to(one.disk_octets);
        read.at("first").get_to(one.first);
        read.at("last").get_to(one.last);
        read.at("begin_us").get_to(one.begin_us);
        read.at("end_us").get_to(one.end_us);
        read.at("longest_gap_s").get_to(one.longest_gap_s);
        read.at("last_us").get_to(one.last_us);
    } catch (const nlohmann::json::exception& problem) {
        return base::fail("{}: is no recording: {}", base::printable(path, 300), problem.what());
    }
    if (one.first > one.last || one.last_us.size() != one.last - one.first + 1)
        return base::fail("{}: is no recording: times are missing", base::printable(path, 300));
    return {boost::system::in_place_value, std::move(one)};
}

}  // namespace postal::audit
