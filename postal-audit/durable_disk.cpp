// SPDX-License-Identifier: GPL-3.0-or-later
#include "postal-audit/durable_disk.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

namespace postal::audit {
namespace {

std::string path_of(const std::string& folder) {
    return folder + "/durable.image";
}

std::string path_of_copy(const std::string& folder, std::size_t number) {
    return fmt::format("{}/durable-{}.image", folder, number + 1);
}

void remove(const std::string& path) {
    std::error_code ignored;
    std::filesystem::remove(path, ignored);
}

}  // namespace

std::vector<std::string> durable_disk::paths(const std::string& folder) {
    std::vector<std::string> all{path_of(folder)};
    for (std::size_t i = 0; i < most_copies; ++i)
        all.push_back(path_of_copy(folder, i));
    return all;
}

durable_disk::durable_disk(std::string folder, std::uint64_t octets, const write_log& log,
                           std::uint64_t between)
    : folder_(std::move(folder)), octets_(octets), log_(&log) {
    const std::uint64_t step = std::max(between, log.octets() / (most_copies + 1));
    std::uint64_t written = 0;
    for (std::size_t i = 0; i < log.entries().size() && copies_.size() < most_copies; ++i) {
        const log_entry& entry = log.entries()[i];
        if (changes_disk(entry) && !entry.discard) written += entry.octets;
        if (written < step) continue;
        copies_.push_back({.entries = i + 1});
        written = 0;
    }
}

durable_disk::~durable_disk() {
    if (!log_ || folder_.empty()) return;
    for (const std::string& path : paths(folder_))
        remove(path);
}

base::expected<durable_disk> durable_disk::create(const std::string& folder, std::uint64_t octets,
                                                  const write_log& log, std::uint64_t between) {
    for (const std::string& path : paths(folder))
        remove(path);
    durable_disk made(folder, octets, log, between);
    if (const auto empty = made.go_back(0); !empty) return empty.error();
    return {boost::system::in_place_value, std::move(made)};
}

base::expected<const disk_image*> durable_disk::at(std::size_t entries) {
    if (entries < applied_)
        if (const auto back = go_back(entries); !back) return back.error();
    while (applied_ < entries) {
        const auto next = std::find_if(copies_.begin(), copies_.end(),
                                       [&](const copy& one) { return one.entries > applied_; });
        const std::size_t until =
            next == copies_.end() ? entries : std::min(entries, next->entries);
        if (const auto moved = now_->apply(*log_, applied_, until); !moved) return moved.error();
        applied_ = until;
        leave_copies();
    }
    return {boost::system::in_place_value, &*now_};
}

std::size_t durable_disk::copies() const noexcept {
    return static_cast<std::size_t>(std::count_if(
        copies_.begin(), copies_.end(), [](const copy& one) { return one.image.has_value(); }));
}

base::expected<void> durable_disk::go_back(std::size_t entries) {
    const auto from = std::find_if(copies_.rbegin(), copies_.rend(), [&](const copy& one) {
        return one.image && one.entries <= entries;
    });
    now_.reset();
    const std::string path = path_of(folder_);
    remove(path);
    auto made =
        from == copies_.rend() ? disk_image::create(path, octets_) : from->image->copy_to(path);
    if (!made) return made.error();
    now_.emplace(std::move(*made));
    applied_ = from == copies_.rend() ? 0 : from->entries;
    return {};
}

void durable_disk::leave_copies() {
    for (std::size_t i = 0; i < copies_.size(); ++i) {
        copy& one = copies_[i];
        if (one.entries != applied_ || one.image || one.given_up) continue;
        const std::string path = path_of_copy(folder_, i);
        auto made = now_->copy_to(path);
        if (made) {
            one.image.emplace(std::move(*made));
        } else {
            one.given_up = true;
            remove(path);
        }
    }
}

}  // namespace postal::audit
