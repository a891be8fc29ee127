// SPDX-License-Identifier: GPL-3.0-or-later
#include "ledger/checkpointer.hpp"

#include <chrono>
#include <utility>

namespace postal::ledger {

namespace {

constexpr auto every = std::chrono::seconds(2);
constexpr int brief_patience_ms = 200;  // with writers and readers, who wait meanwhile, too

}  // namespace

base::expected<std::unique_ptr<checkpointer>> checkpointer::open(const std::string& path,
                                                                 int large) {
    auto file = database::open(path, SQLITE_OPEN_READWRITE);
    if (!file) return file.error();
    const int result = file->execute("PRAGMA synchronous = NORMAL");
    if (result != SQLITE_OK) return file->failure(result);
    file->set_patience(brief_patience_ms);
    return std::unique_ptr<checkpointer>(new checkpointer(std::move(*file), large));
}

checkpointer::checkpointer(database file, int large)
    : file_(std::move(file)), large_(large), thread_([this] { work(); }) {}

checkpointer::~checkpointer() {
    {
        const std::scoped_lock lock(mutex_);
        closing_ = true;
    }
    changed_.notify_one();
    thread_.join();
}

void checkpointer::work() {
    std::unique_lock lock(mutex_);
    while (!changed_.wait_for(lock, every, [this] { return closing_; })) {
        lock.unlock();
        if (file_.checkpoint(SQLITE_CHECKPOINT_PASSIVE) > large_) {
            file_.checkpoint(SQLITE_CHECKPOINT_TRUNCATE);
        }
        lock.lock();
    }
}

}  // namespace postal::ledger
