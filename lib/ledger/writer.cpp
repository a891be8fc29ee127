#include "ledger/writer.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <utility>

#include <pthread.h>

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
// At the end of the run, with a program that keeps the ledger locked.
constexpr auto last_patience = std::chrono::seconds(30);

}  // namespace

struct writer::queue {
    std::mutex mutex;  // guards what follows
    std::condition_variable changed;
    blocks waiting;
    blocks spare;
    std::uint64_t rows = 0;          // in `waiting`, or being written
    std::uint64_t rows_waiting = 0;  // in `waiting`
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
    : tables_(std::move(tables)), queue_(std::make_unique<queue>()), thread_([this] { work(); }) {}

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

std::unique_ptr<block> writer::hand_over(std::unique_ptr<block> rows) {
    if (has_failed()) {
        rows->clear();
        return rows;
    }
    std::unique_ptr<block> empty;
    {
        const std::scoped_lock lock(queue_->mutex);
        queue_->rows += rows->size();
        queue_->rows_waiting += rows->size();
        queue_->waiting.push_back(std::move(rows));
        if (queue_->rows > too_many_rows && keeps_up()) {
            keeps_up_.store(false, std::memory_order_relaxed);
            times_behind_.fetch_add(1, std::memory_order_relaxed);
        }
        if (queue_->rows_waiting >= rows_a_transaction) queue_->changed.notify_one();
        if (!queue_->spare.empty()) {
            empty = std::move(queue_->spare.back());
            queue_->spare.pop_back();
        }
    }
    return empty ? std::move(empty) : std::make_unique<block>();
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
    blocks rows;
    while (wait_for_rows(rows)) {
        if (!has_failed()) write(rows);
        give_back(rows);
    }
}

// False when nothing is left and nothing will come.
bool writer::wait_for_rows(blocks& into) {
    std::unique_lock lock(queue_->mutex);
    queue_->changed.wait_for(lock, write_every, [this] {
        return queue_->closing || queue_->rows_waiting >= rows_a_transaction;
    });
    into.swap(queue_->waiting);
    queue_->rows_waiting = 0;
    return !into.empty() || !queue_->closing;
}

// Waits for other programs' transactions, at the end not for ever.
bool writer::begin() {
    int result = tables_->begin();
    while ((result & 0xff) == SQLITE_BUSY) {
        {
            const std::scoped_lock lock(queue_->mutex);
            const bool enough =
                queue_->closing && steady_clock::now() - queue_->closing_since > last_patience;
            if (enough) break;
        }
        result = tables_->begin();
    }
    if (result != SQLITE_OK) fail(tables_->failure(result).message);
    return result == SQLITE_OK;
}

void writer::write(blocks& rows) {
    for (std::size_t next = 0; next < rows.size();) {
        if (!begin()) return;
        std::uint64_t written = 0;
        for (; next < rows.size() && written < rows_a_transaction; ++next) {
            const int result = tables_->write(*rows[next]);
            if (result != SQLITE_OK) return fail(tables_->failure(result).message);
            written += rows[next]->size();
        }
        const int result = tables_->commit();
        if (result != SQLITE_OK) return fail(tables_->failure(result).message);
        rows_written_.fetch_add(written, std::memory_order_relaxed);
        count_down(written);
    }
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
