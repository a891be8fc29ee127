// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/digits.hpp"

#include <catch2/catch.hpp>

#include <limits>

using namespace postal::base;

TEST_CASE("digits: as many as are known") {
    constexpr double infinite = std::numeric_limits<double>::infinity();
    struct {
        double value;
        std::optional<double> uncertainty;
        std::string_view wanted;
        std::string_view reason;
    } const rows[] = {
        {231'987, {}, "232,000", "three"},
        {41.234, {}, "41.2", "three"},
        {0.0567, {}, "0.0567", "three"},
        {5, {}, "5.00", "three"},
        {999.7, {}, "1,000", "rounding makes a digit more"},
        {-41.26, {}, "-41.3", "a change"},
        {0, {}, "0", "nothing"},
        {infinite, {}, "0", "no figure"},
        {12'345.4, 0, "12,345", "exact, and whole"},
        {12'345, 3.0, "12,345", "known to some ones"},
        {12'345, 30.0, "12,350", "known to some tens"},
        {12'345, 5'000.0, "12,300", "never fewer than three"},
        {12'345, infinite, "12,300", "an uncertainty that is not known"},
        {41.234, 0, "41.2", "never finer than three, where that is finer than a whole"},
        {1e30, {}, "1,000,000,000,000,000,000", "beyond all bounds"},
    };
    for (const auto& row : rows) {
        INFO(row.reason);
        CHECK(format_measured(row.value, row.uncertainty) == row.wanted);
    }
}

TEST_CASE("digits: fractions below a hundred alone") {
    struct {
        double value;
        std::string_view wanted;
        std::string_view reason;
    } const rows[] = {
        {14'752.4, "14,752", "whole"},
        {99.96, "99.96", "two decimals"},
        {100, "100", "the first that is whole"},
        {9.75, "9.75", "two decimals"},
        {0.1667, "0.17", "rounded"},
        {5, "5", "none that says nothing"},
        {-500.0, "-500", "a command may print one"},
        {1e300, "1e+300", "more than can be counted"},
        {std::numeric_limits<double>::infinity(), "0", "no figure"},
    };
    for (const auto& row : rows) {
        INFO(row.reason);
        CHECK(format_number(row.value) == row.wanted);
    }
}

TEST_CASE("digits: octets a second") {
    CHECK(format_octet_rate(0) == "0 B/s");
    CHECK(format_octet_rate(83.4) == "83.4 B/s");
    CHECK(format_octet_rate(5.0 * 1024) == "5.00 KiB/s");
    CHECK(format_octet_rate(370.7 * 1024 * 1024) == "371 MiB/s");
    CHECK(format_octet_rate(1020.4 * 1024) == "1,020 KiB/s");
    CHECK(format_octet_rate(std::numeric_limits<double>::max()).ends_with(" PiB/s"));
}
