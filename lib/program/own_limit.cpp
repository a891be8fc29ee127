// SPDX-License-Identifier: GPL-3.0-or-later
#include "program/own_limit.hpp"

#include "base/read_file.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "os/find_program.hpp"
#include "os/printing_child.hpp"
#include "os/temporary_folder.hpp"
#include "stats/record_reader.hpp"

#include <fmt/format.h>

#include <poll.h>
#include <signal.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>

namespace postal::program {

namespace {

using base::expected;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::steady_clock;

// Until sessions are open and caches warm; not measured.
constexpr milliseconds warmup{500};
// To start, to listen and to end, beside what is measured.
constexpr std::chrono::seconds patience{10};
constexpr std::uint64_t most_printed = 1 << 20;
constexpr std::uint64_t most_record = 16 << 20;
constexpr double least_accepted = 0.99;  // a share; otherwise errors are measured
// Less of its busiest worker's time says little about what a message costs.
constexpr double least_busy = 0.05;

bool has_ended(const os::printing_child& of, milliseconds within) {
    pollfd asked{of.ended.get(), POLLIN, 0};
    return ::poll(&asked, 1, static_cast<int>(within.count())) > 0;
}

// A child that goes with its owner.
class helper {
  public:
    static expected<helper> start(os::spawner& children, const std::string& program,
                                  std::vector<std::string> words) {
        auto started = os::start_printing(children, program, words, most_record, true);
        if (!started) return started.error();
        return helper(std::move(*started));
    }
    helper(helper&&) = default;
    helper& operator=(helper&&) = delete;
    ~helper() {
        if (!of_.ended.is_open()) return;
        os::signal_group(of_.running, SIGKILL);
        has_ended(of_, patience);
        static_cast<void>(os::reap(of_.running));
    }

    [[nodiscard]] const os::printing_child& of() const noexcept { return of_; }
    [[nodiscard]] std::string printed() const {
        const auto text = os::read_printed(of_, "what it printed", most_printed);
        return text ? *text : std::string();
    }
    // Its last line, in brackets.
    [[nodiscard]] std::string last_words() const {
        const std::string all = printed();
        const std::string_view text = base::trim(all);
        const std::string_view last = text.substr(text.rfind('\n') + 1);
        return last.empty() ? std::string() : " (" + base::printable(last, 200) + ")";
    }

  private:
    explicit helper(os::printing_child&& started) : of_(std::move(started)) {}
    os::printing_child of_;
};

// Where it says that it listens: "bhm: listening on 127.0.0.1:40123".
expected<std::string> listening_place(const helper& server, const std::string& name,
                                      steady_clock::time_point end, waiting_in_order& wait) {
    constexpr std::string_view before = "listening on ";
    std::string place;
    const waited how = wait.until(end, [&] {
        const bool ended = has_ended(server.of(), milliseconds(10));
        const std::string printed = server.printed();
        const std::size_t at = printed.find(before);
        const std::size_t line_end = at == printed.npos ? at : printed.find('\n', at);
        if (line_end == printed.npos) return ended;
        place = printed.substr(at + before.size(), line_end - at - before.size());
        return true;
    });
    if (how == waited::interrupted) return base::fail("interrupted");
    if (place.empty()) return base::fail("{} does not listen{}", name, server.last_words());
    return {boost::system::in_place_value, std::move(place)};
}

std::vector<std::string> server_words(const alone_plan& of, nanoseconds time) {
    std::vector<std::string> words{of.server, of.tls_at_once ? "--listen-tls" : "--listen",
                                   "127.0.0.1:0"};
    words.insert(words.end(), of.server_options.begin(), of.server_options.end());
    words.insert(words.end(), {"--duration", base::format_duration(warmup + time + 2 * patience)});
    return words;
}

std::vector<std::string> generator_words(const std::string& self, const alone_plan& of,
                                         const std::string& target, const std::string& record,
                                         nanoseconds time) {
    std::vector<std::string> words{self};
    words.insert(words.end(), of.options.begin(), of.options.end());
    words.insert(words.end(),
                 {"--duration", base::format_duration(warmup + time), "--warmup",
                  base::format_duration(warmup), "--grace", "1s", "--record", record, target});
    words.insert(words.end(), of.behind_target.begin(), of.behind_target.end());
    return words;
}

expected<capacity::own_limit> limit_in(const stats::run_record& of) {
    const std::uint64_t accepted = of.totals.messages;
    const std::uint64_t started = of.totals.started;
    if (accepted == 0 ||
        static_cast<double>(accepted) < least_accepted * static_cast<double>(started))
        return base::fail("{} of {} messages came through", base::format_count(accepted),
                          base::format_count(started));
    const auto busy = of.generator.worker_busy;
    if (!busy || *busy < least_busy || !(of.measured_s > 0))
        return base::fail("it was hardly busy");
    const double load = static_cast<double>(accepted) / of.measured_s;
    return capacity::own_limit{
        .rate = load / *busy, .load = load, .busy = *busy, .measured_s = of.measured_s};
}

}  // namespace

expected<capacity::own_limit> measure_alone(const alone_plan& of, nanoseconds time,
                                            steady_clock::time_point end, waiting_in_order& wait) {
    const auto by = [&](nanoseconds from_now) {
        return std::min(end, steady_clock::now() + from_now);
    };
    std::error_code wrong;
    const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", wrong);
    if (wrong) return base::fail("/proc/self/exe: {}", wrong.message());
    const auto server_program = os::find_program(of.server, self.parent_path().string());
    if (!server_program) return server_program.error();
    const auto prepared = os::prepare_for_children();
    if (!prepared) return prepared.error();
    const auto folder = os::temporary_folder::make();
    if (!folder) return folder.error();
    auto children = os::spawner::create();
    if (!children) return children.error();
    const auto server = helper::start(*children, *server_program, server_words(of, time));
    if (!server) return server.error();
    const auto place = listening_place(*server, of.server, by(patience), wait);
    if (!place) return place.error();
    const std::string record = folder->at("record.json");
    const auto generator = helper::start(*children, self.string(),
                                         generator_words(self.string(), of, *place, record, time));
    if (!generator) return generator.error();
    const waited how = wait.until(by(warmup + time + patience),
                                  [&] { return has_ended(generator->of(), milliseconds(0)); });
    if (how == waited::interrupted) return base::fail("interrupted");
    if (how == waited::too_long) return base::fail("it did not end in time");
    const auto text = base::read_file(record, most_record);
    if (!text) return base::fail("it left no record{}", generator->last_words());
    const auto read = stats::parse_record(*text);
    if (!read) return read.error();
    auto made = limit_in(*read);
    if (!made) return made;
    made->left_out = of.left_out;
    return made;
}

}  // namespace postal::program
