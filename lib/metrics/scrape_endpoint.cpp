// SPDX-License-Identifier: GPL-3.0-or-later
#include "metrics/scrape_endpoint.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/intrusive/list.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "metrics/families.hpp"
#include "metrics/http_message.hpp"

namespace postal::metrics {

namespace {

using asio::ip::tcp;

constexpr std::uint16_t exporter_port = 9464;  // what others' exporters of their own counts take
constexpr std::size_t most_clients = 8;        // at once; the next takes another's place
constexpr auto client_time = std::chrono::seconds(5);
constexpr std::uint32_t most_request = 8192;  // octets of its header

namespace intrusive = boost::intrusive;

struct client : intrusive::list_base_hook<intrusive::link_mode<intrusive::auto_unlink>> {
    explicit client(tcp::socket from) : stream(std::move(from)) {}

    beast::tcp_stream stream;
    bool has_asked = false;
};
using client_list = intrusive::list<client, intrusive::constant_time_size<false>>;

struct page {
    std::string_view status;
    std::string_view type{};  // empty: there is no text
    std::string text{};
};

// Of HEAD all but the text (RFC 9110 9.3.2).
std::string response_text(const page& of, const http::request<http::empty_body>& asked) {
    std::string made = fmt::format("HTTP/1.{} {}\r\n", asked.version() == 10 ? 0 : 1, of.status);
    if (asked.version() != 10) made += "Connection: close\r\n";
    if (!of.type.empty()) made += fmt::format("Content-Type: {}\r\n", of.type);
    made += fmt::format("Content-Length: {}\r\n\r\n", of.text.size());
    if (asked.method() != http::verb::head) made += of.text;
    return made;
}

// For people who come with a browser.
constexpr std::string_view front_page =
    "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\"><title>Postal</title>\n"
    "<p>A run of Postal goes on here. What it has counted so far, for Prometheus: "
    "<a href=\"/metrics\">/metrics</a></p>\n</html>\n";

}  // namespace

base::expected<net::endpoint> parse_place(std::string_view text) {
    auto where = net::parse_endpoint(text, exporter_port);
    if (!where) return where;
    if (where->is_unix())
        return base::fail("{} is a Unix socket; scrapers ask over TCP: give HOST:PORT", text);
    const auto found = net::resolve(*where);
    if (!found) return found.error();
    return where;
}

class scrape_endpoint::server {
  public:
    server() : acceptor_(loop_), pause_(loop_) {}
    ~server() {
        loop_.stop();
        if (thread_.joinable()) thread_.join();
    }

    boost::system::error_code listen(const net::address& where) {
        boost::system::error_code error;
        tcp::endpoint at;
        at.resize(where.size());
        std::copy_n(static_cast<const char*>(static_cast<const void*>(where.data())), where.size(),
                    static_cast<char*>(static_cast<void*>(at.data())));
        acceptor_.open(at.protocol(), error);
        if (!error) acceptor_.set_option(tcp::acceptor::reuse_address(true), error);
        if (!error) acceptor_.bind(at, error);
        if (!error) acceptor_.listen(tcp::acceptor::max_listen_connections, error);
        return error;
    }
    void start() {
        asio::co_spawn(loop_, accept(), [](const std::exception_ptr&) {});
        thread_ = std::thread([this] { loop_.run(); });
    }
    tcp::endpoint where() const {
        boost::system::error_code ignored;
        return acceptor_.local_endpoint(ignored);
    }
    void show(const stats::run_report& so_far, const stats::time_slice& last) {
        more_.add(last);
        auto made = families_of(so_far, more_);
        const std::scoped_lock lock(mutex_);
        std::swap(shown_, made);
    }
    void show(const stats::live_state& now) { more_.now = now; }

  private:
    asio::awaitable<void> accept() {
        for (;;) {
            boost::system::error_code error;
            tcp::socket accepted(loop_);
            co_await acceptor_.async_accept(accepted,
                                            asio::redirect_error(asio::use_awaitable, error));
            if (error) {  // no descriptor is left, say
                pause_.expires_after(std::chrono::milliseconds(100));
                co_await pause_.async_wait(asio::redirect_error(asio::use_awaitable, error));
                continue;
            }
            if (clients_.size() >= most_clients) make_room();
            let_in(std::move(accepted));
        }
    }

    void let_in(tcp::socket accepted) {
        try {
            auto one = std::make_shared<client>(std::move(accepted));
            clients_.push_back(*one);
            // What a session throws, for want of memory, ends that session.
            asio::co_spawn(loop_, serve(std::move(one)), [](const std::exception_ptr&) {});
        } catch (const std::bad_alloc&) {  // and this one is not begun
        }
    }

    // Who asks at once has its page before others come: whoever has been there for longest without
    // a whole request goes first.
    void make_room() {
        const auto silent = std::find_if(clients_.begin(), clients_.end(),
                                         [](const client& one) { return !one.has_asked; });
        client& goes = silent == clients_.end() ? clients_.front() : *silent;
        clients_.erase(clients_.iterator_to(goes));
        goes.stream.close();
    }

    asio::awaitable<void> serve(std::shared_ptr<client> one) const {
        beast::tcp_stream& stream = one->stream;
        beast::flat_buffer unread(most_request);
        http::request_parser<http::empty_body> parser;
        parser.header_limit(most_request);
        stream.expires_after(client_time);  // for all of it
        boost::system::error_code error;
        co_await read_message(stream, unread, parser, error);
        if (error) co_return;
        one->has_asked = true;
        const std::string made = response_text(respond(parser.get()), parser.get());
        co_await write_message(stream, made, error);
        stream.socket().shutdown(tcp::socket::shutdown_send, error);
    }

    page respond(const http::request<http::empty_body>& to) const {
        const std::string_view target(to.target().data(), to.target().size());
        if (to.method() != http::verb::get && to.method() != http::verb::head)
            return {"405 Method Not Allowed"};
        if (target.substr(0, target.find('?')) == "/metrics") {
            const auto accepts = to[http::field::accept];
            if (prefers_protobuf({accepts.data(), accepts.size()}))
                return {"200 OK", protobuf_type, as_protobuf(shown())};
            return {"200 OK", text_type, as_text(shown())};
        }
        if (target == "/") return {"200 OK", "text/html; charset=utf-8", std::string(front_page)};
        return {"404 Not Found", "text/plain; charset=utf-8", "The counts are at /metrics.\n"};
    }

    exposition shown() const {
        const std::scoped_lock lock(mutex_);
        return shown_;
    }

    asio::io_context loop_{1};
    tcp::acceptor acceptor_;
    asio::steady_timer pause_;
    client_list clients_;  // in the order in which they came
    beside_report more_;   // the main thread's own
    mutable std::mutex mutex_;
    exposition shown_;
    std::thread thread_;
};

base::expected<std::unique_ptr<scrape_endpoint>> scrape_endpoint::open(const net::endpoint& place) {
    const auto found = net::resolve(place);
    if (!found) return found.error();
    auto serves = std::make_unique<server>();
    if (const auto error = serves->listen(found->front()); error)
        return base::fail("--metrics: cannot listen on {}: {}", net::to_text(found->front()),
                          error.message());
    serves->start();
    return std::unique_ptr<scrape_endpoint>(new scrape_endpoint(std::move(serves)));
}

scrape_endpoint::scrape_endpoint(std::unique_ptr<server> serves) : server_(std::move(serves)) {}

scrape_endpoint::~scrape_endpoint() = default;

std::string scrape_endpoint::url() const {
    return "http://" + net::to_text(net::address(server_->where())) + "/metrics";
}

void scrape_endpoint::show(const stats::run_report& so_far, const stats::time_slice& last) {
    server_->show(so_far, last);
}

void scrape_endpoint::show(const stats::live_state& now) {
    server_->show(now);
}

}  // namespace postal::metrics
