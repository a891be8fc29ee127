// SPDX-License-Identifier: GPL-3.0-or-later
// Where accepted mail is kept (--store): a Maildir, or an mbox file.
//
// Flow: open() before the run; for each message that wants() says yes to
//   stored_message kept(store, reverse_path);
//   kept.append(headers); kept.append(content)...     with CRLF, in any pieces
//   outcome = kept.keep();                             when it is accepted
// and nothing is left of one that is not kept.
//
// The folder must be new or empty, so that nothing is overwritten or mixed. Names of files are made
// of time, process, count and host (maildir(5)); nothing that came over the network is in one.
// Files are for their owner alone. Messages have LF line ends.
//
// Bounded by messages and octets: the first that was accepted and does not fit makes the store
// full, and nothing more is kept then. All workers share a store; a worker writes as content comes
// and waits for the kernel. Unless `sync` asks for it nothing is synced: what stands in the folder
// when the machine dies is the file system's business. A write that fails is remembered, and told
// by keep().
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "base/file_descriptor.hpp"
#include "base/result.hpp"
#include "bhm/mboxrd.hpp"
#include "mail/crlf_to_lf.hpp"

namespace postal::bhm {

enum class store_format : std::uint8_t { maildir, mbox };

struct store_options {
    std::string folder;  // empty: nothing is kept
    store_format format = store_format::maildir;
    std::uint64_t most_messages = 100'000;
    std::uint64_t most_octets = std::uint64_t{1} << 30U;
    unsigned sample = 100;  // percent of the messages
    bool sync = false;      // what keep() has kept outlives a power cut: fsync of file and folder
};

class mail_store {
  public:
    // `host` becomes a part of names. Makes the folder if it is missing. Fails with "FOLDER:
    // reason".
    static base::expected<std::unique_ptr<mail_store>> open(const store_options& chosen,
                                                            const std::string& host);

    // Whether this message is in the sample, by its numbers: the same mail gives the same sample.
    bool wants(std::uint64_t session, std::uint64_t message) const noexcept;
    bool full() const noexcept { return full_.load(std::memory_order_relaxed); }
    // True for the first who asks.
    bool says_full() noexcept { return !said_full_.exchange(true); }

  private:
    friend class stored_message;

    mail_store(const store_options& chosen, const std::string& host);
    base::expected<void> prepare();
    std::string fresh_name();
    std::string temporary_path(const std::string& name) const;
    // 0, or an errno value.
    int rename_to_new(const std::string& name) const;
    int append_to_mbox(int from);
    // 0, or an errno value.
    int sync_new() const;
    base::expected<void> sync_made() const;
    bool reserve(std::uint64_t octets) noexcept;
    void give_back(std::uint64_t octets) noexcept { octets_ -= octets; }
    // A place among the messages; false when there is none.
    bool take_place() noexcept;

    const store_options chosen_;
    const std::string host_;
    std::atomic<std::uint64_t> names_{0};
    std::atomic<std::uint64_t> octets_{0};  // of what is kept, or being written
    std::atomic<std::uint64_t> messages_{0};
    std::atomic<bool> full_{false};
    std::atomic<bool> said_full_{false};
    std::mutex mutex_;  // guards what follows
    base::file_descriptor mbox_;
    std::uint64_t mbox_end_ = 0;
    base::file_descriptor new_;  // the Maildir's, to be synced
};

enum class store_outcome : std::uint8_t { kept, full, failed };

class stored_message {
  public:
    // The store must outlive it.
    stored_message(mail_store& in, std::string_view reverse_path);
    stored_message(const stored_message&) = delete;
    stored_message& operator=(const stored_message&) = delete;
    ~stored_message();

    void append(std::string_view octets);
    // Once, behind the last append().
    [[nodiscard]] store_outcome keep();
    // Of what failed, an errno value.
    int error() const noexcept { return error_; }

  private:
    void add(std::string_view octets);
    void flush();
    void finish();
    int close_file();
    void failed(int error) noexcept;
    void discard() noexcept;

    mail_store& store_;
    std::string name_{};
    std::string path_{};  // while a file of that name is there
    base::file_descriptor file_{};
    mail::crlf_to_lf lines_{};
    std::optional<mboxrd_quoter> quoter_{};
    std::string buffer_{};
    std::uint64_t reserved_ = 0;  // octets
    store_outcome outcome_ = store_outcome::kept;
    int error_ = 0;
};

}  // namespace postal::bhm
