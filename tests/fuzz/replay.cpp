// SPDX-License-Identifier: GPL-3.0-or-later
// The main() of all fuzz harnesses where they are built without a fuzzer: feeds the one that is
// named first the files of the folders that are named after it, so that inputs that once broke a
// parser stay tested by every compiler. Those that
// people have written are fed whole and with their end cut off, at every octet or, of long ones, at
// a thousand of them; what a fuzzer has found, whose name is a digest, whole. Fails when there is
// no input at all, or no such harness.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>
#include <vector>

// harnesses.inc, which CMake writes, has HARNESS(name) for each of them.
#define HARNESS(name) \
    extern "C" int LLVMFuzzerTestOneInput_##name(const std::uint8_t* data, std::size_t size);
#include "harnesses.inc"
#undef HARNESS

namespace {

struct harness {
    std::string_view name;
    int (*feed)(const std::uint8_t* data, std::size_t size);
};
constexpr harness harnesses[] = {
#define HARNESS(name) {#name, LLVMFuzzerTestOneInput_##name},
#include "harnesses.inc"
#undef HARNESS
};

constexpr std::size_t most_cuts = 1000;
constexpr std::size_t digits_of_digest = 40;

}  // namespace

int main(int argc, char** argv) {
    const std::string_view named = argc > 1 ? argv[1] : "";
    const auto* const one = std::find_if(std::begin(harnesses), std::end(harnesses),
                                         [&](const harness& of) { return of.name == named; });
    if (one == std::end(harnesses)) {
        std::fprintf(stderr, "fuzz_replay: no harness is called '%s'\n", argc > 1 ? argv[1] : "");
        return 2;
    }
    std::size_t inputs = 0;
    for (int i = 2; i < argc; ++i) {
        for (const auto& entry : std::filesystem::directory_iterator(argv[i])) {
            std::ifstream file(entry.path(), std::ios::binary);
            const std::vector<char> text(std::istreambuf_iterator<char>(file), {});
            const bool found = entry.path().filename().native().size() == digits_of_digest;
            const std::size_t step = found ? text.size() + 1 : 1 + text.size() / most_cuts;
            for (std::size_t cut_off = 0; cut_off <= text.size(); cut_off += step) {
                const std::size_t size = text.size() - cut_off;
                // A copy of its own size, so that a sanitizer sees a read past the end.
                const std::vector<std::uint8_t> cut(
                    text.begin(), text.begin() + static_cast<std::ptrdiff_t>(size));
                one->feed(cut.data(), cut.size());
            }
            ++inputs;
        }
    }
    std::printf("%zu inputs replayed\n", inputs);
    return inputs > 0 ? 0 : 1;
}
