// SPDX-License-Identifier: GPL-3.0-or-later
// What most files include: the standard library's common headers, fmt and Boost's result, compiled
// once. Nobody includes this file; each source names what it uses and compiles without it as well
// (POSTAL_PRECOMPILED=OFF).
#pragma once

#include <fmt/format.h>
#include <boost/system/result.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>
