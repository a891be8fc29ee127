// SPDX-License-Identifier: GPL-3.0-or-later
#include "metrics/push_gateway.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <exception>

#include "base/text.hpp"
#include "metrics/families.hpp"
#include "metrics/http_message.hpp"

namespace postal::metrics {

namespace {

using asio::ip::tcp;

constexpr std::uint16_t gateway_port = 9091;
constexpr auto patience = std::chrono::seconds(10);
constexpr std::uint64_t most_answer = 65536;
constexpr std::string_view scheme = "http://";

// A segment of a path (RFC 3986 3.3).
std::string segment(std::string_view text) {
    std::string made;
    for (const char c : text) {
        const bool plain = (base::ascii_lower(c) >= 'a' && base::ascii_lower(c) <= 'z') ||
                           base::is_digit(c) || std::string_view("-._~").find(c) != text.npos;
        made += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
    return made;
}

bool is_path(std::string_view text) {
    return std::all_of(text.begin(), text.end(),
                       [](char c) { return c > ' ' && c < 0x7f && c != '#'; });
}

struct answer {
    unsigned status = 0;
    std::string text{};
};

// One request, from the connection to the end of its response, on a loop of its own.
class exchange {
  public:
    exchange(const net::address& to, const std::string& request)
        : stream_(loop_), request_(request) {
        parser_.body_limit(most_answer);
        stream_.expires_after(patience);
        tcp::endpoint at;
        at.resize(to.size());
        std::copy_n(static_cast<const char*>(static_cast<const void*>(to.data())), to.size(),
                    static_cast<char*>(static_cast<void*>(at.data())));
        signals_.async_wait([this](auto error, int) {
            if (error) return;
            interrupted_ = true;
            stream_.close();
        });
        asio::co_spawn(loop_, ask(at), [this](const std::exception_ptr& thrown) {
            signals_.cancel();
            if (thrown) std::rethrow_exception(thrown);
        });
        loop_.run();
    }

    [[nodiscard]] const boost::system::error_code& error() const noexcept { return error_; }
    [[nodiscard]] bool interrupted() const noexcept { return interrupted_; }
    [[nodiscard]] answer got() const { return {parser_.get().result_int(), parser_.get().body()}; }

  private:
    asio::awaitable<void> ask(tcp::endpoint where) {
        co_await stream_.async_connect(where, asio::redirect_error(asio::use_awaitable, error_));
        if (!error_) co_await write_message(stream_, request_, error_);
        if (!error_) co_await read_message(stream_, unread_, parser_, error_);
    }

    asio::io_context loop_{1};
    beast::tcp_stream stream_;
    asio::signal_set signals_{loop_, SIGINT, SIGTERM};
    const std::string& request_;
    http::response_parser<http::string_body> parser_;
    beast::flat_buffer unread_{most_answer};
    boost::system::error_code error_;
    bool interrupted_ = false;
};

std::string reason_of(const boost::system::error_code& error) {
    if (error == beast::error::timeout)
        return fmt::format("no answer within {} s", patience.count());
    if (error == http::error::end_of_stream) return "the connection was closed without an answer";
    return error.message();
}

}  // namespace

base::expected<push_gateway> push_gateway::find(std::string_view url, std::string_view program,
                                                std::string_view host) {
    if (!url.starts_with(scheme)) {
        return base::fail("{} is not the URL of a gateway; give http://HOST[:PORT][/PATH]",
                          base::printable(url, 200));
    }
    const std::string_view rest = url.substr(scheme.size());
    const std::size_t slash = std::min(rest.find('/'), rest.size());
    push_gateway made;
    made.authority_ = rest.substr(0, slash);
    made.path_ = rest.substr(slash);
    if (made.authority_.find('@') != std::string::npos)
        return base::fail("a gateway is asked without a password; give http://HOST[:PORT][/PATH]");
    if (!is_path(made.path_)) {
        return base::fail("{} has what no path may have; write it as %XX",
                          base::printable(made.path_, 200));
    }
    if (made.path_.size() <= 1) {
        made.path_ = fmt::format("/metrics/job/{}/instance/{}", segment(program), segment(host));
    }
    const auto where = net::parse_endpoint(made.authority_, gateway_port);
    if (!where) return where.error();
    if (where->is_unix())
        return base::fail("{} is a Unix socket; give http://HOST[:PORT][/PATH]", made.authority_);
    auto found = net::resolve(*where);
    if (!found) return found.error();
    made.addresses_ = std::move(*found);
    made.url_ = fmt::format("{}{}{}", scheme, made.authority_, made.path_);
    return made;
}

base::expected<void> push_gateway::push(const stats::run_report& ended) const {
    const std::string page = as_text(results_of(ended, beside_));
    const std::string request = fmt::format(
        "PUT {} HTTP/1.1\r\nHost: {}\r\nContent-Type: {}\r\nConnection: close\r\n"
        "Content-Length: {}\r\n\r\n{}",
        path_, authority_, text_type, page.size(), page);
    std::string why;
    for (const net::address& one : addresses_) {
        const exchange done(one, request);
        if (done.interrupted()) return base::fail("{}: interrupted", url_);
        if (done.error()) {
            why = reason_of(done.error());
            continue;
        }
        const answer got = done.got();
        if (got.status / 100 == 2) return {};
        return base::fail("{} answered {}: {}", url_, got.status,
                          base::printable(base::trim(got.text), 200));
    }
    return base::fail("{}: {}", url_, why);
}

}  // namespace postal::metrics
