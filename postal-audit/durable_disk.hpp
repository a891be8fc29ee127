// SPDX-License-Identifier: GPL-3.0-or-later
// What is on the disk for sure at any place of a log of writes, in whatever order the places are
// asked for.
//
// A disk image goes forward through the log. To go back it is made anew, from the nearest of a few
// copies that were left on the way: of the disk at every 64 MiB of log, or an eighth of it where
// that is more. Short logs have none. A copy for which there is no room is done without. The files
// are removed at the end; whoever may be killed before announces paths() to a journal. Every
// failure is one line that names the file.
#pragma once

#include "base/result.hpp"
#include "postal-audit/disk_image.hpp"
#include "postal-audit/write_log.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace postal::audit {

class durable_disk {
  public:
    static constexpr std::size_t most_copies = 7;
    static constexpr std::uint64_t least_between = std::uint64_t{64} << 20U;

    // The log must outlive it.
    [[nodiscard]] static base::expected<durable_disk> create(const std::string& folder,
                                                             std::uint64_t octets,
                                                             const write_log& log,
                                                             std::uint64_t between = least_between);
    // The files that there may be.
    [[nodiscard]] static std::vector<std::string> paths(const std::string& folder);

    durable_disk(durable_disk&&) = default;
    durable_disk& operator=(durable_disk&&) = delete;
    ~durable_disk();

    // As it is after so many entries of the log; valid until the next call.
    [[nodiscard]] base::expected<const disk_image*> at(std::size_t entries);

    [[nodiscard]] std::size_t copies() const noexcept;

  private:
    struct copy {
        std::size_t entries = 0;  // that it holds
        std::optional<disk_image> image{};
        bool given_up = false;
    };

    durable_disk(std::string folder, std::uint64_t octets, const write_log& log,
                 std::uint64_t between);
    [[nodiscard]] base::expected<void> go_back(std::size_t entries);
    void leave_copies();

    std::string folder_;
    std::uint64_t octets_;
    const write_log* log_;
    std::vector<copy> copies_;  // ascending
    std::optional<disk_image> now_;
    std::size_t applied_ = 0;
};

}  // namespace postal::audit
