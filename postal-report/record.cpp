// SPDX-License-Identifier: GPL-3.0-or-later
// Run records as files: reading them whole, and telling several apart by name.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <map>

#include <sys/stat.h>
#include <unistd.h>
#include <csignal>

#include "base/read_file.hpp"
#include "base/text.hpp"
#include "postal-report/record.hpp"

namespace postal::report {

namespace {

constexpr std::uint64_t largest_record = std::uint64_t{256} << 20;

// A run that is interrupted writes its record, and whoever reads it from a pipe, and got the same
// signal from the terminal, is there until then.
class patient_reader {
  public:
    patient_reader() {
        struct stat about {};
        is_pipe_ = ::fstat(STDIN_FILENO, &about) == 0 && S_ISFIFO(about.st_mode);
        if (is_pipe_) before_ = std::signal(SIGINT, SIG_IGN);
    }
    patient_reader(const patient_reader&) = delete;
    patient_reader& operator=(const patient_reader&) = delete;
    ~patient_reader() {
        if (is_pipe_ && before_ != SIG_ERR) std::signal(SIGINT, before_);
    }

    base::expected<std::string> read() const {
        return base::read_descriptor(STDIN_FILENO, "-", largest_record);
    }

  private:
    bool is_pipe_ = false;
    void (*before_)(int) = SIG_DFL;
};

}  // namespace

base::expected<record> read_record(const std::string& file) {
    const auto text = file == "-" ? patient_reader().read() : base::read_file(file, largest_record);
    if (!text) return text.error();
    auto parsed = stats::parse_record(*text);
    if (!parsed) {
        // What a reason quotes may come from the file: harmless and short in this one place.
        return base::fail("{}: {}", base::printable(file, 300),
                          base::printable(parsed.error().message, 300));
    }
    record read{std::move(*parsed)};
    read.file = file;
    return read;
}

void label(std::vector<record>& records) {
    std::map<std::string, int> stems;
    const auto stem_of = [](const record& one) {
        const std::filesystem::path path{one.file};
        return one.file == "-"
                   ? std::string{"standard input"}
                   : (path.extension() == ".json" ? path.stem() : path.filename()).string();
    };
    for (const record& one : records)
        ++stems[stem_of(one)];
    std::map<std::string, int> used;
    for (record& one : records) {
        const std::string stem = stem_of(one);
        one.label = base::printable(stems[stem] > 1 ? one.file : stem, 80);
        if (const int times = ++used[one.label]; times > 1) {
            one.label += fmt::format(" #{}", times);
        }
    }
}

}  // namespace postal::report
