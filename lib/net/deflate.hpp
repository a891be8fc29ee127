// SPDX-License-Identifier: GPL-3.0-or-later
// Both directions of a connection compressed with DEFLATE (RFC 1951), as IMAP's COMPRESS has it
// (RFC 4978): raw, without a header, each piece of output flushed so that the peer can read it.
//
// compress() appends what is to be sent; expand() fills a buffer of the caller's and no more, so
// that a peer whose few octets become gigabytes is read like any other that talks a lot. Failures:
// no memory (create() gives null), and octets that are no DEFLATE (expand() says broken, for good).
// About 300 KiB a connection, zlib's own.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace postal::net {

class deflate {
  public:
    static std::unique_ptr<deflate> create();
    ~deflate();
    deflate(const deflate&) = delete;
    deflate& operator=(const deflate&) = delete;

    void compress(std::string_view text, std::string& out);

    struct expanded {
        std::size_t size = 0;
        bool broken = false;
    };
    // Takes octets from the front of `packed`. A full buffer may leave more to come: call again,
    // also with nothing.
    expanded expand(std::string_view& packed, std::span<char> into);

  private:
    struct streams;
    explicit deflate(std::unique_ptr<streams> own);
    std::unique_ptr<streams> own_;
};

}  // namespace postal::net
