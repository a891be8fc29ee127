#include "program/run.hpp"

namespace postal::program {

load::fleet_plan fleet_plan_of(const cli::run_options& chosen, std::size_t phases) {
    load::fleet_plan result;
    result.workers = chosen.workers;
    result.phases = phases;
    result.interval = chosen.interval;
    result.align_minutes = chosen.align_minutes;
    result.warmup = chosen.warmup;
    result.duration = chosen.duration;
    result.grace = chosen.grace;
    return result;
}

load::console_options console_options_of(const cli::run_options& chosen) {
    load::console_options result;
    switch (chosen.format) {
        case cli::log_format::csv:
            result.format = stats::log_format::csv;
            break;
        case cli::log_format::jsonl:
            result.format = stats::log_format::jsonl;
            break;
        case cli::log_format::extended:
            result.format = stats::log_format::extended;
            break;
    }
    result.record = chosen.record;
    result.thresholds = chosen.thresholds;
    result.progress = chosen.progress;
    result.duration = chosen.duration;
    return result;
}

cli::exit_status status_of(load::run_result result) noexcept {
    switch (result) {
        case load::run_result::done:
            return cli::exit_status::done;
        case load::run_result::threshold_missed:
            return cli::exit_status::threshold_not_met;
        case load::run_result::system_error:
            break;
    }
    return cli::exit_status::system_error;
}

}  // namespace postal::program
