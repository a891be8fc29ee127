// SPDX-License-Identifier: GPL-3.0-or-later
// Messages of HTTP/1.1 (RFC 9112) over a stream whose time is bounded, as scrapers and a gateway
// get and send them: a header and a text behind it.
//
// What others send is read by Beast's parser, within the bounds that it and `unread` have. Beast's
// own operations are not used: each is as much for the compiler as all the rest of this folder.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/error.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/error.hpp>

#include <algorithm>
#include <cstddef>
#include <string>

namespace postal::metrics {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;

// Reads until the parser has a whole message, or `error` says why it has none: `end_of_stream`
// where nothing came, `partial_message` where it ended within.
template <bool is_request>
asio::awaitable<void> read_message(beast::tcp_stream& from, beast::flat_buffer& unread,
                                   http::basic_parser<is_request>& parser,
                                   boost::system::error_code& error) {
    constexpr std::size_t most_at_once = 65536;
    parser.eager(true);
    while (!parser.is_done()) {
        const std::size_t room = std::min(unread.max_size() - unread.size(), most_at_once);
        if (room == 0) {
            error = http::error::buffer_overflow;
            co_return;
        }
        const std::size_t got = co_await from.async_read_some(
            unread.prepare(room), asio::redirect_error(asio::use_awaitable, error));
        unread.commit(got);
        if (error == asio::error::eof) {
            error.clear();
            if (parser.got_some()) {
                parser.put_eof(error);
            } else {
                error = http::error::end_of_stream;
            }
            co_return;
        }
        while (!error && !parser.is_done() && unread.size() > 0)
            unread.consume(parser.put(unread.data(), error));
        if (error == http::error::need_more) error.clear();
        if (error) co_return;
    }
}

inline asio::awaitable<void> write_message(beast::tcp_stream& to, const std::string& text,
                                           boost::system::error_code& error) {
    co_await asio::async_write(to, asio::buffer(text),
                               asio::redirect_error(asio::use_awaitable, error));
}

}  // namespace postal::metrics
