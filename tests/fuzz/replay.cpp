// The main() of a fuzz harness that is built without a fuzzer: feeds it the files of the folders
// that are named, each whole and with its end cut off at every octet, so that inputs that once
// broke a parser stay tested by every compiler. Fails when there is no input at all.

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

int main(int argc, char** argv) {
    std::size_t inputs = 0;
    for (int i = 1; i < argc; ++i) {
        for (const auto& entry : std::filesystem::directory_iterator(argv[i])) {
            std::ifstream file(entry.path(), std::ios::binary);
            const std::vector<char> text(std::istreambuf_iterator<char>(file), {});
            for (std::size_t size = 0; size <= text.size(); ++size) {
                // A copy of its own size, so that a sanitizer sees a read past the end.
                const std::vector<std::uint8_t> cut(
                    text.begin(), text.begin() + static_cast<std::ptrdiff_t>(size));
                LLVMFuzzerTestOneInput(cut.data(), cut.size());
            }
            ++inputs;
        }
    }
    std::printf("%zu inputs replayed\n", inputs);
    return inputs > 0 ? 0 : 1;
}
