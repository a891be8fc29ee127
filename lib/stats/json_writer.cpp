// SPDX-License-Identifier: GPL-3.0-or-later
// How values are written, whatever list of fields they are of.
#include "stats/json_writer.hpp"

#include <nlohmann/json.hpp>

#include <cmath>
#include <variant>

namespace postal::stats {

std::string json_number(double value, double decimals) {
    return std::isfinite(value) ? nlohmann::json(std::round(value * decimals) / decimals).dump()
                                : "null";
}

void json_writer::write(bool value, as) {
    put(value ? "true" : "false");
}

void json_writer::write(std::int64_t value, as) {
    put(std::to_string(value));
}

void json_writer::write(std::uint64_t value, as) {
    put(std::to_string(value));
}

void json_writer::write(double value, as how) {
    constexpr double exact = 9007199254740992.0;  // 2^53
    if (digits_ == decimals::all && std::isfinite(value)) return put(nlohmann::json(value).dump());
    if (digits_ == decimals::needed && value == std::floor(value) && std::abs(value) < exact)
        return put(std::to_string(static_cast<std::int64_t>(value)));
    put(json_number(value, how.fine ? 1e9 : 1e4));
}

void json_writer::write(std::chrono::milliseconds value, as how) {
    write(value.count(), how);
}

void json_writer::write(std::chrono::nanoseconds value, as) {
    put(json_number(static_cast<double>(value.count()) / 1e3));
}

void json_writer::write(std::string_view value, as) {
    put(nlohmann::json(value).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
}

void json_writer::write(const std::string& value, as how) {
    write(std::string_view(value), how);
}

void json_writer::write(const histogram& value, as how) {
    write(value.encode(), how);
}

void json_writer::write(const thread_share& value, as how) {
    write(value.busy, how);
}

void json_writer::write(const named_numbers& all, as how) {
    open('{');
    for (const named_count& one : all) {
        begin(one.name);
        write(one.count, how);
    }
    close('}');
}

void json_writer::write(const option_value& value, as how) {
    std::visit([&](const auto& one) { write(one, how); }, value);
}

void json_writer::put(std::string_view text) {
    text_ += text;
}

void json_writer::open(char bracket) {
    text_ += bracket;
    ++depth_;
    first_ = true;
}

void json_writer::close(char bracket) {
    --depth_;
    if (!first_) next_line();
    text_ += bracket;
    first_ = false;
}

void json_writer::separate() {
    if (!std::exchange(first_, false)) text_ += ',';
    next_line();
}

void json_writer::begin(std::string_view key) {
    separate();
    write(key, as{});
    text_ += indent_ > 0 ? ": " : ":";
}

void json_writer::next_line() {
    if (indent_ <= 0) return;
    text_ += '\n';
    text_.append(static_cast<std::size_t>(indent_) * depth_, ' ');
}

}  // namespace postal::stats
