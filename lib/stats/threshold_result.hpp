// What became of one threshold: plain data, part of run_report and of the record.
#pragma once

#include <optional>
#include <string>

namespace postal::stats {

struct threshold_result {
    std::string expression;       // as it was given
    std::optional<double> value;  // in `unit`; empty when nothing was measured, which never passes
    std::string unit;             // "us", "messages/min", "%", or empty for a count
    bool passed = false;
};

}  // namespace postal::stats
