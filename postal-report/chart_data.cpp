#include "postal-report/chart_data.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/text.hpp"

namespace postal::report {

namespace {

constexpr std::size_t most_points = 1500;

struct point {
    interval covered;
    std::size_t together = 1;
};

void widen(std::optional<double>& highest, std::optional<double> other) {
    if (other && (!highest || *other > *highest)) highest = other;
}

std::vector<point> points_of(const std::vector<interval>& intervals) {
    const std::size_t together = (intervals.size() + most_points - 1) / most_points;
    std::vector<point> points;
    for (const interval& each : intervals) {
        const bool fits = !points.empty() && points.back().together < together &&
                          points.back().covered.warmup == each.warmup &&
                          !points.back().covered.partial && !each.partial;
        if (!fits) {
            points.push_back({each});
            continue;
        }
        interval& covered = points.back().covered;
        ++points.back().together;
        covered.end_s = each.end_s;
        covered.messages += each.messages;
        widen(covered.p50_us, each.p50_us);
        widen(covered.p99_us, each.p99_us);
    }
    return points;
}

std::string number(std::optional<double> value) {
    return value && std::isfinite(*value) ? fmt::format("{}", *value) : "null";
}

std::string list_of(const std::vector<std::string>& elements) {
    return "[" + base::join(elements, ",") + "]";
}

// Arrays instead of objects: a day of seconds is 86,400 of them.
std::string interval_points(const record& one, bool per_minute) {
    std::vector<std::string> list;
    for (const point& each : points_of(one.intervals)) {
        const interval& covered = each.covered;
        const double length_s = covered.end_s - covered.start_s;
        const auto messages = static_cast<double>(covered.messages);
        double height = messages / static_cast<double>(each.together);
        if (per_minute) height = length_s > 0 ? messages * 60 / length_s : 0;
        list.push_back(fmt::format("[{},{},{},{},{},{:d},{:d},{}]", number(covered.start_s),
                                   number(covered.end_s), number(height), number(covered.p50_us),
                                   number(covered.p99_us), covered.warmup, covered.partial,
                                   each.together));
    }
    return list_of(list);
}

double octaves_of(const std::vector<record>& records) {
    double lowest = 0;
    double highest = 0;
    for (const record& one : records) {
        for (const phase& each : one.phases) {
            if ((each.name != "message" && each.name != "service") || !each.distribution) continue;
            const auto buckets = each.distribution->buckets();
            if (buckets.empty()) continue;
            const double low = std::log2(buckets.front().lower_us);
            const double high = std::log2(buckets.back().upper_us);
            if (lowest == highest) {
                lowest = low;
                highest = high;
            }
            lowest = std::min(lowest, low);
            highest = std::max(highest, high);
        }
    }
    return highest - lowest;
}

// Enough bins for a shape, few enough that a run of some thousand messages does not fall apart.
unsigned bins_per_octave(const std::vector<record>& records) {
    const double octaves = octaves_of(records);
    if (octaves < 2) return 24;
    return octaves < 10 ? 12 : 8;
}

std::string distribution(const phase* of, unsigned per_octave) {
    std::vector<std::string> list;
    if (of == nullptr || !of->distribution) return list_of(list);
    for (const bin& each : log_bins(*of->distribution, per_octave)) {
        list.push_back(fmt::format("[{},{},{}]", number(each.lower_us), number(each.upper_us),
                                   number(each.share)));
    }
    return list_of(list);
}

bool same_interval(const std::vector<record>& records) {
    return std::all_of(records.begin(), records.end(), [&](const record& one) {
        return one.interval_s == records.front().interval_s;
    });
}

}  // namespace

std::vector<bin> log_bins(const stats::histogram& from, unsigned bins_per_octave) {
    const auto position = [&](double us) { return std::log2(us) * bins_per_octave; };
    const auto edge = [&](long index) {
        return std::exp2(static_cast<double>(index) / bins_per_octave);
    };
    std::map<long, double> weights;
    double sum = 0;
    for (const auto& bucket : from.buckets()) {
        const double from_position = position(bucket.lower_us);
        const double to_position = position(bucket.upper_us);
        const auto weight = static_cast<double>(bucket.count);
        sum += weight;
        for (auto index = static_cast<long>(std::floor(from_position));
             static_cast<double>(index) < to_position; ++index) {
            const double start = std::max(from_position, static_cast<double>(index));
            const double end = std::min(to_position, static_cast<double>(index) + 1);
            weights[index] += weight * (end - start) / (to_position - from_position);
        }
    }
    std::vector<bin> bins;
    for (const auto& [index, weight] : weights) {
        // Gaps are drawn as nothing, not as a line from one hill to the next.
        if (!bins.empty()) {
            const long previous = std::lround(position(bins.back().upper_us));
            if (previous < index) bins.push_back({edge(previous), edge(index), 0});
        }
        bins.push_back({edge(index), edge(index + 1), weight / sum});
    }
    return bins;
}

std::string chart_data(const std::vector<record>& records) {
    const bool per_minute = !same_interval(records);
    const unsigned per_octave = bins_per_octave(records);
    std::vector<std::string> series;
    for (const record& one : records) {
        const phase* message = one.main_phase();
        series.push_back(fmt::format(
            R"({{"label":{},"warmup_s":{},"phase":{},"p50_us":{},"p99_us":{},"intervals":{},)"
            R"("message":{},"service":{}}})",
            script_string(base::printable(one.label, 80)), number(one.warmup_s),
            script_string(message == nullptr ? "message" : message->name),
            number(value_of(message, &phase::p50_us)), number(value_of(message, &phase::p99_us)),
            interval_points(one, per_minute), distribution(message, per_octave),
            distribution(one.find_phase("service"), per_octave)));
    }
    return fmt::format(R"({{"per_minute":{},"interval_s":{},"bins_per_octave":{},"series":{}}})",
                       per_minute, number(records.front().interval_s), per_octave, list_of(series));
}

std::string script_string(std::string_view text) {
    std::string out = "\"";
    for (const char c : text) {
        if (static_cast<unsigned char>(c) < ' ' || c == '<' || c == '"' || c == '\\') {
            out += fmt::format("\\u{:04x}", static_cast<unsigned char>(c));
        } else {
            out += c;
        }
    }
    return out + '"';
}

}  // namespace postal::report
