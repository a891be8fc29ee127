// SPDX-License-Identifier: GPL-3.0-or-later
// Measured figures with as many digits as are known of them, for people.
//
// That is three, or more where it is known how far the figure may be off, down to whole numbers.
// What is not finite is "0". Nothing here fails.
#pragma once

#include <optional>
#include <string>

namespace postal::base {

// "232,000", "41.2", "0.0570"; "12,345" with an uncertainty below ten. `uncertainty` is in the same
// unit; 0: the figure is exact.
[[nodiscard]] std::string format_measured(double value, std::optional<double> uncertainty = {});

// Whole from a hundred on, with up to two decimals below: "14,752", "9.75".
[[nodiscard]] std::string format_number(double value);

// Octets a second, in the unit that fits: "371 MiB/s".
[[nodiscard]] std::string format_octet_rate(double per_second);

}  // namespace postal::base
