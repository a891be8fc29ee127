// SPDX-License-Identifier: GPL-3.0-or-later
// Clients that connect, over Unix sockets and loopback, and who is given them: served by coroutines
// that hold them until they or the run end.
#include "acceptor_play.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <memory>
#include <new>
#include <thread>

#include <fcntl.h>
#include <sys/resource.h>

using namespace acceptor_play;

// The address sanitizer has an allocator of its own, which is not to be replaced.
#ifndef __SANITIZE_ADDRESS__

namespace {
thread_local bool out_of_memory = false;
}

// Of the whole test program: what C++ and what Asio allocate with.
void* operator new(std::size_t octets) {
    void* memory = out_of_memory ? nullptr : std::malloc(octets == 0 ? 1 : octets);
    if (memory == nullptr) throw std::bad_alloc();
    return memory;
}
void operator delete(void* memory) noexcept {
    std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
    std::free(memory);
}
extern "C" void* aligned_alloc(std::size_t alignment, std::size_t octets) noexcept {
    void* memory = nullptr;
    const bool fine =
        !out_of_memory && posix_memalign(&memory, std::max(alignment, sizeof memory), octets) == 0;
    return fine ? memory : nullptr;
}

#endif

namespace {

constexpr std::string_view too_many = "421 4.3.2 Too many sessions, try again later\r\n";

// The soft limit of descriptors is such that not one more can be had, until lift().
class no_descriptor_left {
  public:
    no_descriptor_left() {
        REQUIRE(getrlimit(RLIMIT_NOFILE, &before_) == 0);
        const base::file_descriptor next(::fcntl(0, F_DUPFD_CLOEXEC, 0));
        rlimit none = before_;
        none.rlim_cur = static_cast<rlim_t>(next.get());
        REQUIRE(setrlimit(RLIMIT_NOFILE, &none) == 0);
    }
    ~no_descriptor_left() { lift(); }
    void lift() const { setrlimit(RLIMIT_NOFILE, &before_); }

  private:
    rlimit before_{};
};

#ifndef __SANITIZE_ADDRESS__

// The thread's memory has run out from starve() until the worker's ticker has come some times.
class relief final : public load::watched {
  public:
    void starve(load::worker& own) {
        own.watch(*this);
        set_deadline(load::steady_time::min());
        out_of_memory = true;
    }
    void on_deadline() override {
        out_of_memory = ++ticks_ < 3;
        if (out_of_memory) set_deadline(load::steady_time::min());
    }
    void on_stop(load::stop_kind) override {}

  private:
    unsigned ticks_ = 0;
};

#endif

}  // namespace

TEST_CASE("acceptor: clients are handed to the workers in turn, each in its own thread") {
    constexpr std::size_t client_count = 7;
    folder place;
    const auto tcp = *net::parse_endpoint("127.0.0.1:0", 0);
    for (const serve::listening_endpoint& where :
         {place.endpoint(), serve::listening_endpoint{tcp}}) {
        for (const unsigned workers : {1U, 2U, 3U}) {
            INFO(where.where.text << ", workers: " << workers);
            server tested(workers, client_count, where);
            std::array<std::size_t, client_count> served_by{};
            std::atomic<unsigned> in_own_thread = 0;
            std::atomic<unsigned> served = 0;
            const auto note = [&](std::size_t worker, int socket,
                                  asio::awaitable<void> held) -> asio::awaitable<void> {
                char number = 0;
                if (::recv(socket, &number, 1, 0) == 1) {
                    served_by.at(static_cast<std::size_t>(number - '0')) = worker;
                }
                const auto executor = tested.workers.at(worker).context().get_executor();
                in_own_thread += executor.running_in_this_thread() ? 1 : 0;
                co_await std::move(held);
                if (++served == client_count) tested.stop();
            };
            const serve::client_handler handler = [&](std::size_t worker,
                                                      serve::accepted_client who) {
                const int socket = who.socket.descriptor.get();
                return note(worker, socket, tested.holding(worker, std::move(who)));
            };
            // They wait in the listener's queue until they are served.
            std::vector<std::unique_ptr<client>> clients;
            for (std::size_t i = 0; i < client_count; ++i) {
                clients.push_back(std::make_unique<client>(tested.where()));
                REQUIRE(clients.back()->problem() == 0);
                clients.back()->say(static_cast<char>('0' + i));
                clients.back()->say_no_more();
            }
            const auto ran = serve::serve_all(tested.workers, tested.listeners, tested.slots,
                                              handler, tested.counted);
            CHECK(ran.has_value());
            CHECK(served == client_count);
            CHECK(in_own_thread == client_count);
            for (std::size_t i = 0; i < client_count; ++i) {
                CHECK(served_by.at(i) == i % workers);
                CHECK(clients[i]->hear(5) == "hello");
            }
            CHECK(tested.counted.errors.empty());
        }
    }
}

TEST_CASE(
    "acceptor: a client too many is sent away, and a slot that was given back is used again") {
    folder place;
    server tested(2, 2, place.endpoint());
    std::vector<std::string> heard;
    std::thread clients([&] {
        client first(tested.where());
        heard.push_back(first.hear(5));
        client second(tested.where());
        heard.push_back(second.hear(5));
        heard.push_back(client(tested.where()).hear_all());
        heard.push_back(client(tested.where()).hear_all());
        first.say_no_more();
        heard.push_back(first.hear_all());
        client next(tested.where());
        heard.push_back(next.hear(5));
        heard.push_back(client(tested.where()).hear_all());
        second.say_no_more();
        next.say_no_more();
        heard.push_back(second.hear_all());
        heard.push_back(next.hear_all());
        tested.stop();
    });
    const auto ran = serve::serve_all(tested.workers, tested.listeners, tested.slots,
                                      tested.holding, tested.counted);
    clients.join();
    CHECK(ran.has_value());
    const std::string sent_away(too_many);
    CHECK(heard == std::vector<std::string>{"hello", "hello", sent_away, sent_away, "", "hello",
                                            sent_away, "", ""});
    CHECK(tested.counted.errors == std::vector<std::string>{"3x connect 421 4.3.2"});
}

TEST_CASE("acceptor: a client too many that begins with TLS is sent away without a word") {
    folder place;
    serve::listening_endpoint where = place.endpoint();
    where.tls = true;
    server tested(1, 0, where);
    std::string heard;
    std::thread clients([&] {
        heard = client(tested.where()).hear_all();
        tested.stop();
    });
    const auto ran = serve::serve_all(tested.workers, tested.listeners, tested.slots,
                                      tested.holding, tested.counted);
    clients.join();
    CHECK(ran.has_value());
    CHECK(heard.empty());
    CHECK(tested.counted.errors == std::vector<std::string>{"1x connect 421 4.3.2"});
}

TEST_CASE("acceptor: whether a client begins with TLS goes with it") {
    for (const bool tls : {false, true}) {
        folder place;
        serve::listening_endpoint where = place.endpoint();
        where.tls = tls;
        server tested(1, 1, where);
        bool told = !tls;
        const serve::client_handler handler = [&](std::size_t worker, serve::accepted_client who) {
            told = who.tls;
            tested.stop();
            return tested.holding(worker, std::move(who));
        };
        client one(tested.where());
        one.say_no_more();
        const auto ran = serve::serve_all(tested.workers, tested.listeners, tested.slots, handler,
                                          tested.counted);
        CHECK(ran.has_value());
        CHECK(told == tls);
    }
}

TEST_CASE("acceptor: a stop closes the listener before any session hears of it") {
    folder place;
    server tested(1, 1, place.endpoint());
    std::string heard;
    int problem = 0;
    bool file_left = true;
    std::thread clients([&] {
        client first(tested.where());
        heard = first.hear(5);
        tested.stop();
        heard += first.hear(4);
        problem = client(tested.where()).problem();
        file_left = std::filesystem::exists(place.socket());
        first.say_no_more();  // served until now
        heard += first.hear_all();
    });
    const auto ran = serve::serve_all(tested.workers, tested.listeners, tested.slots,
                                      tested.holding, tested.counted);
    clients.join();
    CHECK(ran.has_value());
    CHECK(heard == "hellostop");
    CHECK(problem == ENOENT);
    CHECK_FALSE(file_left);
    CHECK(tested.slots.take());
}

TEST_CASE("acceptor: a stop that comes before it first ran closes the listener too") {
    folder place;
    server tested(1, 1, place.endpoint());
    serve::acceptor acceptor(tested.listeners.front(), tested.each_worker, tested.slots,
                             tested.holding);
    const auto ran = tested.workers.run(
        [&](load::worker& own) {
            own.stop(load::stop_kind::gently);
            acceptor.wait();
        },
        tested.counted);
    CHECK(ran.has_value());
    CHECK_FALSE(std::filesystem::exists(place.socket()));
}

TEST_CASE("acceptor: goes on when descriptors had run out") {
    folder place;
    server tested(1, 2, place.endpoint());
    const client first(tested.where());
    const client second(tested.where());
    first.say_no_more();
    second.say_no_more();
    unsigned served = 0;
    const serve::client_handler handler = [&](std::size_t worker,
                                              serve::accepted_client who) -> asio::awaitable<void> {
        co_await tested.holding(worker, std::move(who));
        if (++served == 2) tested.stop();
    };
    serve::acceptor acceptor(tested.listeners.front(), tested.each_worker, tested.slots, handler);
    std::unique_ptr<no_descriptor_left> none;
    const auto lift = [&](load::worker& own) -> asio::awaitable<void> {
        while (own.tally().errors.empty()) {
            co_await asio::post(own.context(), asio::use_awaitable);
        }
        none->lift();
    };
    none = std::make_unique<no_descriptor_left>();
    const auto ran = tested.workers.run(
        [&](load::worker& own) {
            acceptor.wait();
            own.spawn(lift(own));
        },
        tested.counted);
    none.reset();
    CHECK(ran.has_value());
    CHECK(served == 2);
    CHECK(first.hear_all().substr(0, 5) == "hello");
    CHECK(second.hear_all().substr(0, 5) == "hello");
    CHECK(tested.counted.errors == std::vector<std::string>{"1x connect 0 resources"});
}

TEST_CASE("acceptor: a client for whom there is no memory is let go, and the next one is served") {
    for (const unsigned workers : {1U, 2U}) {
        INFO("workers: " << workers);
        folder place;
        server tested(workers, 1, place.endpoint());
        unsigned turned_away = 0;
        const serve::client_handler handler = [&](std::size_t worker, serve::accepted_client who) {
            if (turned_away++ < workers) throw std::bad_alloc();
            return tested.holding(worker, std::move(who));
        };
        std::vector<std::string> heard;
        std::thread clients([&] {
            for (unsigned i = 0; i < workers; ++i)
                heard.push_back(client(tested.where()).hear_all());
            const client next(tested.where());
            heard.push_back(next.hear(5));
            next.say_no_more();
            tested.stop();
        });
        const auto ran = serve::serve_all(tested.workers, tested.listeners, tested.slots, handler,
                                          tested.counted);
        clients.join();
        CHECK(ran.has_value());
        std::vector<std::string> wanted(workers);
        wanted.emplace_back("hello");
        CHECK(heard == wanted);
        CHECK(tested.counted.errors ==
              std::vector<std::string>{std::to_string(workers) + "x connect 0 resources"});
        CHECK(tested.slots.take());
    }
}

#ifndef __SANITIZE_ADDRESS__

TEST_CASE("acceptor: a moment in which nothing at all can be allocated is survived") {
    folder place;
    server tested(1, 0, place.endpoint());
    serve::acceptor acceptor(tested.listeners.front(), tested.each_worker, tested.slots,
                             tested.holding);
    relief later;
    const client first(tested.where());
    std::thread others([&] {
        while (client(tested.where()).hear_all() != too_many) {
        }
        tested.stop();
    });
    const auto ran = tested.workers.run(
        [&](load::worker& own) {
            acceptor.wait();
            later.starve(own);
        },
        tested.counted);
    net::close(tested.listeners.front());  // for the others, had the run ended before
    CHECK(ran.has_value());
    others.join();
    auto& errors = tested.counted.errors;
    REQUIRE(errors.size() == 2);
    if (errors[0].find("421") == std::string::npos) std::swap(errors[0], errors[1]);
    CHECK(errors[0] == "1x connect 421 4.3.2");
    CHECK(errors[1].ends_with("x connect 0 resources"));
    CHECK(first.hear_all().empty());
}

#endif

TEST_CASE("open_listeners: an address that cannot be had ends it, unless it may be missing") {
    asio::io_context context(1);
    folder place;
    serve::listening_endpoint missing{*net::parse_endpoint("unix:" + place.socket() + "/x", 0)};
    serve::listening_endpoint there = place.endpoint();
    there.tls = true;
    CHECK_FALSE(serve::open_listeners({missing}, context).has_value());
    missing.required = false;
    auto opened = serve::open_listeners({missing, there}, context);
    REQUIRE(opened.has_value());
    REQUIRE(opened->size() == 1);
    CHECK(opened->front().tls);
    CHECK(std::filesystem::exists(place.socket()));
    net::close(opened->front());
    CHECK_FALSE(std::filesystem::exists(place.socket()));
}
