// SPDX-License-Identifier: GPL-3.0-or-later
#include "ledger/writer.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <new>
#include <utility>

#include <pthread.h>
#include <unistd.h>

#include <unordered_map>

#include "ledger/row_buffer.hpp"
#include "ledger/table_writer.hpp"

namespace postal::ledger {

namespace {

using std::chrono::steady_clock;

constexpr auto write_every = std::chrono::milliseconds(200);
constexpr std::uint64_t rows_a_transaction = 50'000;  // and a batch that does not wait its time
constexpr std::uint64_t too_many_rows = 200'000;
constexpr std::uint64_t few_enough_rows = too_many_rows / 2;
constexpr std::size_t most_spare_blocks = 64;
constexpr std::uint64_t horizon_moves_us = 1'000'000;  // without rows, too
// At the end of the run, with a program that keeps the ledger locked.
constexpr auto last_patience = std::chrono::seconds(30);

std::uint64_t wall_us() {
    using namespace std::chrono;
    const auto since_epoch = system_clock::now().time_since_epoch();
    return static_cast<std::uint64_t>(duration_cast<microseconds>(since_epoch).count());
}

}  // namespace

struct writer::queue {
    std::mutex mutex;  // guards what follows
    std::condition_variable changed;
    blocks waiting;
    blocks spare;
    std::uint64_t rows = 0;          // in `waiting`, or being written
    std::uint64_t rows_waiting = 0;  // in `waiting`
    std::unordered_map<const row_buffer*, std::uint64_t> handed_over_us;  // all rows before that

    void fall_behind(writer& of) {
        if (!of.keeps_up()) return;
        of.keeps_up_.store(false, std::memory_order_relaxed);
        of.times_behind_.fetch_add(1, std::memory_order_relaxed);
    }
    bool closing = false;
    steady_clock::time_point closing_since{};
    std::string failure;
};

base::expected<std::unique_ptr<writer>> writer::open(const std::string& path,
                                                     const run_entry& own) {
    auto tables = table_writer::open(path, own);
    if (!tables) return tables.error();
    return std::unique_ptr<writer>(new writer(std::move(*tables)));
}

writer::writer(std::unique_ptr<table_writer> tables)
    : tables_(std::move(tables)), queue_(std::make_unique<queue>()), thread_([this] { work(); }) {
    thread_number_.wait(0, std::memory_order_acquire);
}

writer::~writer() {
    const auto ignored = close();
}

address_id writer::address(std::string_view text) {
    return tables_->addresses().number(text);
}

std::string writer::failure() const {
    const std::scoped_lock lock(queue_->mutex);
    return queue_->failure;
}

std::unique_ptr<block> writer::hand_over(std::unique_ptr<block> rows, const row_buffer& from) {
    if (has_failed()) {
        rows->clear();
        return rows;
    }
    std::unique_ptr<block> spare;
    const std::size_t count = rows->size();
    try {
        const std::scoped_lock lock(queue_->mutex);
        if (count != 0) {
            if (queue_->spare.empty()) spare = std::make_unique<block>();
            queue_->waiting.push_back(std::move(rows));
        }
        queue_->handed_over_us.at(&from) = wall_us();
        if (count == 0) return rows;
        queue_->rows += count;
        queue_->rows_waiting += count;
        if (queue_->rows > too_many_rows) queue_->fall_behind(*this);
        if (queue_->rows_waiting >= rows_a_transaction) queue_->changed.notify_one();
        if (!spare) {
            spare = std::move(queue_->spare.back());
            queue_->spare.pop_back();
        }
    } catch (const std::bad_alloc&) {
        return rows;  // whole: they come with the next ones
    }
    return spare;
}

void writer::know(const row_buffer& which) {
    const std::scoped_lock lock(queue_->mutex);
    queue_->handed_over_us.emplace(&which, wall_us());
}

// Its last rows, for which there was no memory so far: nothing comes behind them that they could
// come with.
void writer::forget(const row_buffer& which, std::unique_ptr<block> last) noexcept {
    const std::size_t count = has_failed() ? 0 : last->size();
    bool lost = false;
    {
        const std::scoped_lock lock(queue_->mutex);
        queue_->handed_over_us.erase(&which);
        try {
            if (count != 0) queue_->waiting.push_back(std::move(last));
            queue_->rows += count;
            queue_->rows_waiting += count;
        } catch (const std::bad_alloc&) {
            lost = true;
        }
    }
    if (lost) fail("out of memory");  // short enough to need none
}

base::expected<void> writer::close() {
    if (thread_.joinable()) {
        {
            const std::scoped_lock lock(queue_->mutex);
            queue_->closing = true;
            queue_->closing_since = steady_clock::now();
        }
        queue_->changed.notify_one();
        thread_.join();
        tables_.reset();
    }
    const std::string why = failure();
    if (!why.empty()) return base::failure{why};
    return {};
}

// ---- in the thread ----

void writer::work() {
    pthread_setname_np(pthread_self(), "ledger");  // for top and for those who measure
    thread_number_.store(::gettid(), std::memory_order_release);
    thread_number_.notify_one();
    blocks rows;
    while (wait_for_rows(rows)) {
        if (!has_failed()) write(rows);
        give_back(rows);
    }
    if (!has_failed()) end();
}

// False when nothing is left and nothing will come.
bool writer::wait_for_rows(blocks& into) {
    std::unique_lock lock(queue_->mutex);
    queue_->changed.wait_for(lock, write_every, [this] {
        return queue_->closing || queue_->rows_waiting >= rows_a_transaction;
    });
    into.swap(queue_->waiting);
    queue_->rows_waiting = 0;
    horizon_us_ = wall_us();
    for (const auto& [buffer, us] : queue_->handed_over_us)
        horizon_us_ = std::min(horizon_us_, us);
    return !into.empty() || !queue_->closing;
}

// Waits for other programs' transactions, at the end not for ever; messages wait with it.
bool writer::begin() {
    int result = tables_->begin();
    while ((result & 0xff) == SQLITE_BUSY) {
        {
            const std::scoped_lock lock(queue_->mutex);
            const bool enough =
                queue_->closing && steady_clock::now() - queue_->closing_since > last_patience;
            if (enough) break;
            if (queue_->rows > 0) queue_->fall_behind(*this);
        }
        result = tables_->begin();
    }
    return done(result);
}

// False, and the run has failed, when that is what a call has given.
bool writer::done(int result) {
    if (result != SQLITE_OK) fail(tables_->failure(result).message);
    return result == SQLITE_OK;
}

void writer::write(const blocks& rows) {
    // A clock that is set back takes the horizon with it.
    if (rows.empty() && horizon_us_ - written_horizon_us_ < horizon_moves_us) return;
    std::size_t next = 0;
    do {
        if (!begin()) return;
        std::uint64_t written = 0;
        for (; next < rows.size() && written < rows_a_transaction; ++next) {
            if (!done(tables_->write(*rows[next]))) return;
            written += rows[next]->size();
        }
        if (next == rows.size() && !done(tables_->note_horizon(horizon_us_))) return;
        if (!done(tables_->commit())) return;
        rows_written_.fetch_add(written, std::memory_order_relaxed);
        count_down(written);
    } while (next < rows.size());
    written_horizon_us_ = horizon_us_;
}

void writer::end() {
    if (begin() && done(tables_->note_end(wall_us()))) done(tables_->commit());
}

void writer::fail(std::string why) {
    const std::scoped_lock lock(queue_->mutex);
    queue_->failure = std::move(why);
    keeps_up_.store(true, std::memory_order_relaxed);  // nobody is to wait for it any more
    failed_.store(true, std::memory_order_release);
}

void writer::count_down(std::uint64_t rows) {
    const std::scoped_lock lock(queue_->mutex);
    queue_->rows -= rows;
    if (queue_->rows <= few_enough_rows) keeps_up_.store(true, std::memory_order_relaxed);
}

// Their memory is used again.
void writer::give_back(blocks& rows) {
    for (auto& one : rows) {
        one->clear();
    }
    const std::scoped_lock lock(queue_->mutex);
    while (!rows.empty() && queue_->spare.size() < most_spare_blocks) {
        queue_->spare.push_back(std::move(rows.back()));
        rows.pop_back();
    }
    rows.clear();
}

}  // namespace postal::ledger
