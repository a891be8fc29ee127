// SPDX-License-Identifier: GPL-3.0-or-later
// ledger/reader.hpp and all that postal-report prints of a ledger: a file may be anything. The
// first octet chooses: the input is the file; or patches to a sound ledger, of an offset and an
// octet each; or rows with values of any type for one.
#include "ledger/reader.hpp"

#include "ledger/row_buffer.hpp"
#include "ledger/schema.hpp"
#include "postal-report/ledger.hpp"
#include "postal-report/relay.hpp"

#include "printed.hpp"

#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>

namespace {

using namespace postal;
namespace fs = std::filesystem;

// Gone at the end.
class folder {
  public:
    folder() {
        std::string name = fs::exists("/dev/shm")
                               ? "/dev/shm/fuzz_ledger_XXXXXX"
                               : fs::temp_directory_path() / "fuzz_ledger_XXXXXX";
        fuzz::require(::mkdtemp(name.data()) != nullptr);
        path_ = name;
    }
    folder(const folder&) = delete;
    folder& operator=(const folder&) = delete;
    ~folder() {
        std::error_code ignored;
        fs::remove_all(path_, ignored);
    }
    [[nodiscard]] std::string operator/(const char* name) const { return path_ / name; }

  private:
    fs::path path_;
};

void write(const std::string& path, std::string_view content) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << content;
}

std::string read(const std::string& path) {
    std::ostringstream content;
    content << std::ifstream(path, std::ios::binary).rdbuf();
    return content.str();
}

// Of a sender and a reader, in one piece.
std::string sound_ledger(const folder& here) {
    const std::string path = here / "sound";
    {
        auto made = ledger::open_to_write(path);
        fuzz::require(made.has_value());
        fuzz::require(
            made->execute(
                "INSERT INTO runs "
                "VALUES(1,'0000000000000001','sender','postal','2026-01-01T00:00:00Z',1,"
                "'postal',9000000,9000000,1),(2,'0000000000000002','reader','rabid',"
                "'2026-01-01T00:00:00Z',1,'rabid',9000000,9000000,1);"
                "INSERT INTO addresses VALUES(1,'from@example.com'),(2,'a@example.com'),"
                "(3,'b@example.org'),(4,'localhost:143');"
                "INSERT INTO sent VALUES(1,1,0,0,2,1,0,1,250,'2.0.0',1000000,5120),"
                "(2,1,0,1,3,1,0,1,250,'2.0.0',1000001,5120),(3,1,0,2,3,1,1,1,550,'5.1.1',1000002,"
                "100);"
                "INSERT INTO seen VALUES(1,2,1,0,0,2,0,3,4,7,1,1,NULL,2000000,999999,1900000,4,0,"
                "1000000),(2,2,NULL,NULL,NULL,2,2,3,4,7,2,2,'x',2000000,NULL,NULL,NULL,NULL,NULL);"
                "INSERT INTO waits VALUES(1,2,0,2,3,4,0,0,0,9000000),"
                "(2,2,1,2,3,4,3,-5000000,-4000000,9000000);"
                "INSERT INTO visits VALUES(1,2,2,3,4,0,1500000,2500000,2,2,NULL),"
                "(2,2,3,3,4,3,1500000,2500000,0,0,'no');"
                "INSERT INTO removed VALUES(1,2,1,0,0,2,3,4,7,1,2100000);"
                "INSERT INTO returned VALUES(1,2,1,0,1,3,1,0,'5.1.1','550 no',3,2200000);") ==
            SQLITE_OK);
        fuzz::require(made->execute("PRAGMA wal_checkpoint(TRUNCATE)") == SQLITE_OK);
    }
    return read(path);
}

std::string patched(std::string file, std::string_view patches) {
    for (; patches.size() >= 4; patches.remove_prefix(4)) {
        std::size_t at = 0;
        for (std::size_t i = 0; i < 3; ++i)
            at = at << 8U | static_cast<unsigned char>(patches[i]);
        file[at % file.size()] = patches[3];
    }
    return file;
}

constexpr std::array<std::pair<const char*, int>, 7> tables{{{"runs", 10},
                                                             {"addresses", 2},
                                                             {"sent", 12},
                                                             {"seen", 19},
                                                             {"waits", 10},
                                                             {"visits", 11},
                                                             {"returned", 12}}};

// A value as SQL writes it, of any type.
std::string drawn_value(fuzz::drawn& from) {
    switch (from.below(8)) {
        case 0:
            return "NULL";
        case 1:
            return std::to_string(from.number()) + ".5";
        case 2:
        case 3: {
            std::string hex;
            for (const char c : from.text(40))
                hex += fmt::format("{:02x}", static_cast<unsigned char>(c));
            return from.below(4) == 0 ? "x'" + hex + "'" : "CAST(x'" + hex + "' AS TEXT)";
        }
        default:
            return std::to_string(from.number());
    }
}

void add_rows(const std::string& path, std::string_view input) {
    auto file = ledger::database::open(path, SQLITE_OPEN_READWRITE);
    fuzz::require(file.has_value());
    fuzz::drawn from(input);
    file->execute("PRAGMA synchronous = OFF; BEGIN");
    while (!from.empty()) {
        const auto& [table, columns] = tables[from.below(tables.size())];
        std::string sql = "INSERT OR REPLACE INTO " + std::string(table) + " VALUES(";
        for (int i = 0; i < columns; ++i)
            sql += (i > 0 ? "," : "") + drawn_value(from);
        file->execute(sql + ")");
    }
    file->execute("COMMIT");
}

void check_list(const std::string& path, bool all) {
    auto book = ledger::reader::open(path);
    if (!book) return fuzz::require(!book.error().message.empty());
    std::string text;
    std::string csv = report::discrepancy_header(report::output::csv);
    std::string markdown = report::discrepancy_header(report::output::markdown);
    ledger::questions questions;
    questions.list_all = all;
    if (!all) questions.list = ledger::discrepancy::unacknowledged;
    questions.on_row = [&](const ledger::discrepancy_row& row) {
        text += report::render_discrepancy(row, report::output::text);
        csv += report::render_discrepancy(row, report::output::csv);
        markdown += report::render_discrepancy(row, report::output::markdown);
    };
    if (!book->reconcile(questions)) return;
    fuzz::require_lines(text);
    fuzz::require_markdown(markdown);
    fuzz::require_lines(csv);
    const auto widths = fuzz::widths_of_csv(csv);
    fuzz::require(std::all_of(widths.begin(), widths.end(),
                              [&](std::size_t width) { return width == widths.front(); }));
}

// For what takes long: whether this input is one of so many, each time the same.
bool one_in(std::size_t n, std::string_view input) {
    return base::scramble(std::hash<std::string_view>()(input)) % n == 0;
}

void check_relay(const std::string& path) {
    auto relay = report::read_relay_ledger({path});
    if (!relay) return fuzz::require(!relay.error().message.empty());
    const report::shown_relay shown{std::move(*relay), std::nullopt};
    fuzz::require_printable([&](report::medium kind) { return document_of(shown, kind); },
                            sheet_of(shown));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
    static const folder here;
    static const std::string sound = sound_ledger(here);
    const std::string path = here / "ledger";
    const std::string_view input = fuzz::text_of(data, size);
    const std::string_view rest = input.substr(std::min<std::size_t>(1, size));
    for (const char* helper : {"ledger-wal", "ledger-shm", "ledger-journal"})
        ::unlink((here / helper).c_str());
    if (input.starts_with('p')) {
        write(path, patched(sound, rest));
    } else if (input.starts_with('r')) {
        write(path, sound);
        add_rows(path, rest);
    } else {
        write(path, input);
    }
    report::options wanted;
    wanted.ledger = path;
    wanted.html = "page";
    const auto found = report::read_ledger(wanted);
    if (!found) {
        fuzz::require(!found.error().message.empty());
        return 0;
    }
    // Printing takes longest: most inputs are read, and shown as text.
    if (one_in(16, input)) {
        fuzz::require_printable([&](report::medium kind) { return document_of(*found, kind); },
                                sheet_of(*found));
    } else {
        fuzz::require_lines(report::render_text(document_of(*found, report::medium::text), 80));
    }
    // One of three, and not each time.
    if (!one_in(4, input)) return 0;
    if (size % 3 == 0)
        check_relay(path);
    else
        check_list(path, size % 3 == 1);
    return 0;
}
