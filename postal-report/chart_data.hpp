// What the page's charts draw, as JSON that is small and safe to put between <script> tags.
//
// Intervals: at most 1500 points for each record; where there are more, neighbours of one kind
// (warm-up, partial or neither) are put together: messages are their mean for an interval, p50 and
// p99 the highest of them, and `together` says how many went into a point. Points are in messages
// for an interval where all records have the same interval, otherwise in messages a minute
// (`per_minute`).
//
// Distributions: the buckets of the record are spread over bins of equal width on a logarithmic
// axis, fractions and all, so that every record of a report has the same bins and the bins show
// nothing of the buckets' own edges.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "postal-report/record.hpp"

namespace postal::report {

std::string chart_data(const std::vector<record>& records);

// A JSON string in which neither "</script" nor "<!--" can occur; the text is UTF-8.
std::string script_string(std::string_view text);

// One bin of a distribution; shares of all bins add up to 1.
struct bin {
    double lower_us = 0;
    double upper_us = 0;
    double share = 0;
};
std::vector<bin> log_bins(const stats::histogram& from, unsigned bins_per_octave);

}  // namespace postal::report
