// SPDX-License-Identifier: GPL-3.0-or-later
// stats/record_reader.hpp: a run record may be anything.
#include "stats/record_reader.hpp"

#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
    const auto record = postal::stats::parse_record({reinterpret_cast<const char*>(data), size});
    return record && record->phases.size() > size ? 1 : 0;
}
