// SPDX-License-Identifier: GPL-3.0-or-later
// Logs of writes as dm-log-writes has them, made up for tests.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace test {

enum log_flag : std::uint64_t { flush = 1, fua = 2, discard = 4, mark = 8, metadata = 16 };

class log_builder {
  public:
    explicit log_builder(std::uint32_t sector_size = 512) : sector_size_(sector_size) {}

    log_builder& entry(std::uint64_t sector, std::uint64_t sectors, std::uint64_t flags,
                       std::string_view data = {}) {
        std::string header = number(sector) + number(sectors) + number(flags) + number(0);
        header.resize(sector_size_, '\0');
        entries_ += header;
        entries_ += data;
        ++count_;
        return *this;
    }
    // As many sectors as the letters, each filled with its letter.
    log_builder& write(std::uint64_t sector, std::string_view letters, std::uint64_t flags = 0) {
        std::string data;
        for (const char letter : letters)
            data.append(sector_size_, letter);
        return entry(sector, letters.size(), flags, data);
    }
    log_builder& flushed() { return entry(0, 0, flush); }

    std::string text() const { return text(count_); }
    // With another number of entries in the superblock.
    std::string text(std::uint64_t counted) const {
        std::string super = number(0x6a736677736872) + number(1) + number(counted);
        super += number(sector_size_).substr(0, 4);
        super.resize(sector_size_, '\0');
        return super + entries_;
    }

    static std::string number(std::uint64_t value) {
        std::string octets;
        for (unsigned i = 0; i < 8; ++i)
            octets += static_cast<char>(value >> (8 * i) & 0xffU);
        return octets;
    }

  private:
    std::uint32_t sector_size_;
    std::uint64_t count_ = 0;
    std::string entries_;
};

}  // namespace test
