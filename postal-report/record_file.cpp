// Run records as files: reading them whole, and telling several apart by name.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>

#include "base/text.hpp"
#include "postal-report/record.hpp"

namespace postal::report {

namespace {

constexpr std::size_t largest_record = std::size_t{256} << 20;

base::expected<std::string> read_text(const std::string& file) {
    std::error_code ignored;
    if (file != "-" && std::filesystem::is_directory(file, ignored)) {
        return base::fail("is a directory; give a run record, the file of --record");
    }
    std::ifstream opened;
    if (file != "-") {
        errno = 0;
        opened.open(file, std::ios::binary);
        if (!opened) return base::fail("cannot be read: {}", base::system_message(errno));
    }
    std::istream& input = file == "-" ? std::cin : opened;
    std::string text;
    std::array<char, 65536> piece{};
    while (input.read(piece.data(), piece.size()), input.gcount() > 0) {
        text.append(piece.data(), static_cast<std::size_t>(input.gcount()));
        if (text.size() > largest_record) return base::fail("is larger than 256 MiB");
    }
    if (input.bad()) return base::fail("cannot be read to its end");
    return {boost::system::in_place_value, std::move(text)};
}

}  // namespace

base::expected<record> read_record(const std::string& file) {
    // What a reason quotes may come from the file: harmless and short in this one place.
    const auto refuse = [&](const base::failure& reason) {
        return base::fail("{}: {}", base::printable(file, 300),
                          base::printable(reason.message, 300));
    };
    const auto text = read_text(file);
    if (!text) return refuse(text.error());
    auto read = parse_record(*text);
    if (!read) return refuse(read.error());
    read->file = file;
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
