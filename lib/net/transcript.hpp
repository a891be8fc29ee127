// SPDX-License-Identifier: GPL-3.0-or-later
// Transcripts: what went over a session's connections, in files for people to read (-z, -Z, -a).
//
// `BASE:SESSION` gets all connections of a session, `BASE:SESSION:CONNECTION` one of them. Each
// line is the time since the transcript began, "->" for sent or "<-" for received, and the octets,
// made printable. Message data is only counted, unless everything is wanted; everything without a
// file goes to standard error.
//
// A transcript slows a run down; it is for finding out, not for measuring. Files are opened when
// they are first written; one that cannot be, or not be written to its end, is left out or cut, and
// transcript_failure() tells.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace postal::net {

struct transcript_options {
    std::string session_base;     // empty: no file for a session
    std::string connection_base;  // empty: no file for a connection
    bool everything = false;

    bool wanted() const noexcept {
        return everything || !session_base.empty() || !connection_base.empty();
    }
};

// To be asked before the run: can files be written there? Leaves nothing behind.
base::expected<void> check_transcripts(const transcript_options& options);

// The first of a transcript of this process that failed, when all of them have ended: its file, and
// why.
std::optional<std::string> transcript_failure();

// Whether a file that begins so is one.
bool is_transcript(std::string_view beginning) noexcept;

class transcript {
  public:
    transcript(transcript_options options, unsigned session);

    // The next connection of the session begins; `peer` is whom it is with.
    void begin_connection(std::string_view peer);
    void sent(std::string_view octets) { write("->", octets); }
    void received(std::string_view octets) { write("<-", octets); }
    void sent_data(std::string_view octets) { write_data("->", octets); }
    void received_data(std::string_view octets) { write_data("<-", octets); }
    // What happened to the connection, in words.
    void note(std::string_view what) { write("--", what); }

  private:
    // Notes what it could not write, at its end at the latest.
    class file {
      public:
        file() = default;
        explicit file(const std::string& path);
        file(const file&) = delete;
        file& operator=(file&& other) noexcept;
        ~file() { close(); }
        explicit operator bool() const noexcept { return opened_ != nullptr; }
        void write(std::string_view octets) noexcept;

      private:
        void close() noexcept;

        std::FILE* opened_ = nullptr;
        std::string path_;
    };

    void write(std::string_view arrow, std::string_view octets);
    void write_data(std::string_view arrow, std::string_view octets);
    void write_line(std::string_view line);
    void flush_count();

    transcript_options options_;
    unsigned session_;
    std::uint64_t connection_ = 0;
    std::uint64_t counted_ = 0;  // octets of message data that were not written
    std::string_view counted_arrow_;
    std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
    file session_file_;
    file connection_file_;
};

}  // namespace postal::net
