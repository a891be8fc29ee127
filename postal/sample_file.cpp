// SPDX-License-Identifier: GPL-3.0-or-later
#include "postal/sample_file.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>
#include <zlib.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <new>
#include <utility>

#include <fmt/compile.h>
#include <fmt/format.h>

#include "base/file_descriptor.hpp"
#include "cli/binders.hpp"

namespace postal::sender {

namespace {

using std::chrono::nanoseconds;

constexpr std::size_t too_many_samples = 500'000;  // 40 MB
constexpr std::size_t most_spare_blocks = 64;
constexpr std::size_t text_at_once = 256 * 1024;
// As much text a second as a disk takes, for a tenth of what more would cost.
constexpr const char* compressed = "wb1";
constexpr const char* plain = "wbT";

bool begins_as_samples(std::string_view text) {
    return text.starts_with(samples_header.substr(0, text.size())) &&
           text.size() >= samples_header.size();
}

// The first octets, whether compressed or not.
bool is_samples(std::string_view beginning) {
    if (!beginning.starts_with("\x1f\x8b")) return begins_as_samples(beginning);
    std::array<char, samples_header.size()> text{};
    z_stream inflater{};
    if (inflateInit2(&inflater, 16 + MAX_WBITS) != Z_OK) return false;
    std::string octets(beginning);
    inflater.next_in = static_cast<Bytef*>(static_cast<void*>(octets.data()));
    inflater.avail_in = static_cast<uInt>(octets.size());
    inflater.next_out = static_cast<Bytef*>(static_cast<void*>(text.data()));
    inflater.avail_out = static_cast<uInt>(text.size());
    inflate(&inflater, Z_SYNC_FLUSH);
    const std::size_t made = text.size() - inflater.avail_out;
    inflateEnd(&inflater);
    return begins_as_samples({text.data(), made});
}

constexpr cli::file_kind of_samples{"samples", is_samples};

// Microseconds, to a tenth.
void append_us(std::string& to, nanoseconds time) {
    const auto tenths = (time.count() + 50) / 100;
    fmt::format_to(std::back_inserter(to), FMT_COMPILE("{}.{}"), tenths / 10, tenths % 10);
}

}  // namespace

cli::option samples_option(std::string& file) {
    const auto keep = [&file](const std::string& given) -> base::expected<void> {
        if (given == "-")
            return base::fail("standard output has the interval log; give the name of a file");
        return cli::text(file)(given);
    };
    return {"--samples",
            "FILE",
            "",
            "write each message's times and outcome there, as CSV; gzip where it ends in .gz",
            keep,
            false,
            &of_samples};
}

void append_line(std::string& to, const message_sample& one) {
    const auto us = (one.ended.count() + 500) / 1000;
    fmt::format_to(std::back_inserter(to), FMT_COMPILE("{}.{:06},{},{},{},"), us / 1'000'000,
                   us % 1'000'000, one.session, one.sequence, ledger::to_text(one.what));
    if (one.code > 0) fmt::format_to(std::back_inserter(to), FMT_COMPILE("{}"), one.code);
    fmt::format_to(std::back_inserter(to), FMT_COMPILE(",{},"), one.octets);
    append_us(to, one.late);
    to += ',';
    if (one.what == ledger::outcome::accepted) {
        append_us(to, one.envelope);
        to += ',';
        append_us(to, one.data);
    } else {
        to += ',';
    }
    to += ',';
    append_us(to, one.took);
    to += ',';
    append_us(to, one.late + one.took);
    to += '\n';
}

// What is written to; fails once, and then takes nothing more.
class sample_file::stream {
  public:
    explicit stream(gzFile file) : file_(file) {}
    ~stream() {
        if (file_ != nullptr) gzclose(file_);
    }
    stream(const stream&) = delete;
    stream& operator=(const stream&) = delete;

    base::expected<void> write(std::string_view text) {
        const auto octets = static_cast<unsigned>(text.size());
        errno = 0;
        if (gzwrite(file_, text.data(), octets) == static_cast<int>(octets)) return {};
        return reason();
    }
    // So that the file can be read up to here.
    base::expected<void> flush() {
        errno = 0;
        if (gzflush(file_, Z_SYNC_FLUSH) == Z_OK) return {};
        return reason();
    }
    base::expected<void> close() {
        errno = 0;
        if (gzclose(std::exchange(file_, nullptr)) == Z_OK) return {};
        return reason();
    }

  private:
    static base::failure reason() {
        return base::failure{errno == 0 ? "out of memory" : base::system_message(errno)};
    }
    gzFile file_;
};

base::expected<std::unique_ptr<sample_file>> sample_file::open(const std::string& path) {
    base::file_descriptor file(
        ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));  // NOLINT
    if (!file.is_open()) return base::fail("{}: {}", path, base::system_message(errno));
    const gzFile made = gzdopen(file.get(), path.ends_with(".gz") ? compressed : plain);
    if (made == nullptr) return base::fail("{}: out of memory", path);
    static_cast<void>(file.release());
    auto out = std::make_unique<stream>(made);
    auto begun = out->write(samples_header);
    if (!begun) return base::at(path, begun.error());
    return std::unique_ptr<sample_file>(new sample_file(std::move(out)));
}

sample_file::sample_file(std::unique_ptr<stream> out)
    : out_(std::move(out)), thread_([this] { work(); }) {}

sample_file::~sample_file() {
    static_cast<void>(close());
}

std::vector<message_sample> sample_file::hand_over(std::vector<message_sample> full) {
    const std::size_t count = full.size();
    if (count == 0) return full;
    std::vector<message_sample> empty;
    const std::scoped_lock lock(mutex_);
    try {
        if (spare_.empty()) empty.reserve(sample_feed::full);
        waiting_.push_back(std::move(full));
    } catch (const std::bad_alloc&) {
        return full;  // whole: they come with the next ones
    }
    if (empty.capacity() == 0) {
        empty = std::move(spare_.back());
        spare_.pop_back();
    }
    samples_ += count;
    if (samples_ > too_many_samples && keeps_up()) {
        keeps_up_.store(false, std::memory_order_relaxed);
        fell_behind_ = true;
    }
    changed_.notify_one();
    return empty;
}

base::expected<void> sample_file::close() {
    if (thread_.joinable()) {
        {
            const std::scoped_lock lock(mutex_);
            closing_ = true;
        }
        changed_.notify_one();
        thread_.join();
    }
    if (failure_) return base::failure{*failure_};
    return {};
}

// ---- in the thread ----

void sample_file::work() {
    pthread_setname_np(pthread_self(), "samples");
    blocks taken;
    while (wait_for_samples(taken)) {
        if (!failure_) write(taken);
        give_back(taken);
    }
    const auto closed = out_->close();
    if (!closed && !failure_) failure_ = closed.error().message;
}

// False when nothing is left and nothing will come.
bool sample_file::wait_for_samples(blocks& into) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return closing_ || !waiting_.empty(); });
    into.swap(waiting_);
    return !into.empty();
}

void sample_file::write(const blocks& samples) {
    std::string text;
    text.reserve(text_at_once + 1024);
    const auto keep = [&](const base::expected<void>& done) {
        if (!done && !failure_) failure_ = done.error().message;
    };
    const auto put = [&] {
        keep(out_->write(text));
        text.clear();
    };
    for (const auto& block : samples) {
        for (const message_sample& one : block) {
            append_line(text, one);
            if (text.size() >= text_at_once) put();
        }
    }
    if (!text.empty()) put();
    keep(out_->flush());
}

void sample_file::give_back(blocks& samples) {
    std::size_t written = 0;
    for (auto& block : samples) {
        written += block.size();
        block.clear();
    }
    const std::scoped_lock lock(mutex_);
    while (!samples.empty() && spare_.size() < most_spare_blocks) {
        spare_.push_back(std::move(samples.back()));
        samples.pop_back();
    }
    samples.clear();
    samples_ -= written;
    if (samples_ <= too_many_samples / 2) keeps_up_.store(true, std::memory_order_relaxed);
}

// ---- a worker's ----

// Its deadline has always passed, so that each tick of the worker comes here.
sample_feed::sample_feed(sample_file& into, load::worker& own, std::function<void(bool)> on_change)
    : file_(into), own_(own), on_change_(std::move(on_change)) {
    held_.reserve(full);
    own.watch(*this);
    set_deadline({});
}

void sample_feed::on_deadline() {
    set_deadline({});
    flush();
    const bool now = file_.keeps_up();
    if (now == kept_up_) return;
    kept_up_ = now;
    on_change_(now);
}

void sample_feed::flush() {
    held_ = file_.hand_over(std::move(held_));
}

}  // namespace postal::sender
