// SPDX-License-Identifier: GPL-3.0-or-later
#include "lmtp-deliver/delivery.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <new>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/release.hpp"
#include "base/text.hpp"
#include "lmtp-deliver/headers.hpp"
#include "lmtp-deliver/phases.hpp"

namespace postal::lmtp_deliver {
namespace {

using std::chrono::steady_clock;

constexpr std::size_t most_kept = 64 * 1024;
constexpr unsigned reads_a_turn = 8;
constexpr int room_to_print = 1024 * 1024;  // for an agent that is left alone
// Where the pidfd cannot be watched, which takes a full epoll, the agent is asked after so often.
constexpr auto ask_again = std::chrono::milliseconds(100);
// An agent is looked at so often, whether somebody has stopped it, and continued; not for ever.
constexpr auto look_again = std::chrono::seconds(1);
constexpr unsigned most_stops = 3;
constexpr std::string_view stopped_again = "it was stopped again and again";
constexpr mode_t for_its_user_only = 0077;

const delivery_reply queue_full{451, "4.3.2", "Too many deliveries wait, try again later",
                                "max-queued"};
const delivery_reply waited_too_long{451, "4.3.2", "Waited too long for an agent, try again later",
                                     "queue-timeout"};

// What may have so many agents at once: details lead to the same mailbox, and so does the case of a
// domain.
std::string mailbox_name(const mailbox& of) {
    return fmt::format("{}@{}", of.user, base::lower(of.domain));
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
    std::vector<char*> result;
    result.reserve(texts.size() + 1);
    for (std::string& one : texts)
        result.push_back(one.data());
    result.push_back(nullptr);
    return result;
}

}  // namespace

delivery_reply to_delivery_reply(const proto::server_reply& of) {
    return {of.code, std::string(of.enhanced), std::string(of.text), of.limit};
}

delivery::delivery(worker_context& context, transaction& of, place where)
    : waiter(context.own.context(), where.customer),
      context_(context),
      of_(of),
      recipient_(where.recipient),
      whose_(where.whose),
      copy_(of.held.sibling()) {
    context_.own.watch(*this);
    set_deadline(of_.complete + context_.of_run.chosen.longest_wait());
}

delivery::~delivery() = default;

// ---- the queue ----

void delivery::begin(worker_context::home home) {
    home_ = std::move(home);
    switch (context_.slots.ask(*this, mailbox_name(recipient()))) {
        case dispatcher::answer::start:
            return start();
        case dispatcher::answer::wait:
            state_ = state::queued;
            return;
        case dispatcher::answer::refused:
            return end(queue_full);
    }
}

void delivery::cannot_begin(std::string_view why) {
    tally().agents.add_not_started();
    decide({agent_fate::not_started}, why);
}

void delivery::called(dispatcher::answer how) {
    const bool has_slot = how == dispatcher::answer::start;
    if (has_slot && !abandoned_ && !decided()) return start();
    if (has_slot) context_.slots.give_back(*this);
    end(abandoned_ || decided() ? answer_ : queue_full);
}

bool delivery::cancel(const delivery_reply& why) {
    const bool waits = state_ == state::fresh || state_ == state::queued;
    if (!waits || decided() || abandoned_) return false;
    if (state_ == state::fresh || context_.slots.withdraw(*this)) {
        end(why);
    } else {
        answer_ = why;  // called() is on its way, and ends it
    }
    return true;
}

void delivery::abandon() {
    abandoned_ = true;
    const bool queued = state_ == state::queued && context_.slots.withdraw(*this);
    if (queued || state_ == state::fresh) return end({});
    if (state_ != state::running) return;
    exit_.close();
    const int pipe = output_.is_open() ? output_.native() : unwatched_.get();
    ::fcntl(pipe, F_SETPIPE_SZ, room_to_print);
    close_output();
    context_.slots.give_back(*this);
    end({});
}

// ---- the agent's start ----

void delivery::start() {
    state_ = state::running;
    started_ = steady_clock::now();
    tally().latency[static_cast<std::size_t>(phase::queue)].record(started_ - of_.complete);
    const auto running = try_to_start();
    if (running) return;
    close_output();
    context_.slots.give_back(*this);
    if (decided()) return end(answer_);
    tally().agents.add_not_started();
    decide({agent_fate::not_started}, running.error().message);
}

base::expected<void> delivery::try_to_start() {
    try {
        return start_agent();
    } catch (const std::bad_alloc&) {
        return base::fail("out of memory");
    }
}

base::expected<void> delivery::start_agent() {
    const plan& run = context_.of_run;
    const std::string head = run.head_for_each(of_) ? headers(run, of_, &recipient()) : "";
    const auto message = open_message(head);
    if (!message) return message.error();
    const auto printing = make_output();
    if (!printing) return printing.error();

    expansion values = of_.values(&recipient());
    values.size += head.size();
    std::vector<std::string> words = run.agent.expand(values);
    std::vector<std::string> settings = run.environment(values, *home_);
    const std::vector<char*> argv = pointers(words);
    const std::vector<char*> environment = pointers(settings);
    const auto started =
        context_.starter.start({.program = run.program.c_str(),
                                .argv = argv.data(),
                                .environment = environment.data(),
                                .input = message->get(),
                                .output = printing->get(),
                                .directory = run.chosen.directory.c_str(),
                                .run_as = run.run_as ? &*run.run_as : nullptr,
                                .limits = run.limits,
                                .file_mask = for_its_user_only,
                                .before_it_runs = [this](pid_t child) { return guard(child); }});
    if (!started) {
        context_.guarded.remove(guarded_);
        return started.error();
    }
    tally().agents.add_start();
    watch_agent(*started);
    return {};
}

base::expected<base::file_descriptor> delivery::open_message(std::string_view head) {
    const bool only_reader = head.empty() && of_.recipients.size() == 1;
    if (only_reader) return of_.message.take();
    if (!head.empty() && !may_copy(head)) return base::fail("{}", answer_.text);
    return of_.message.open_copy(head);
}

bool delivery::may_copy(std::string_view head) {
    if (!copy_.add(head.size() + of_.message.size())) {
        answer_ = to_delivery_reply(serve::too_much_in_hand);
    } else if (!of_.message.may_copy(head)) {
        answer_ = to_delivery_reply(too_little_free);
    }
    return !decided();
}

// The agent's end of a pipe. It is open for reading too, so that an agent which outlives the server
// is not killed by SIGPIPE when it prints; what does not fit the pipe then, it waits with for ever.
base::expected<base::file_descriptor> delivery::make_output() {
    int ends[2] = {-1, -1};
    if (::pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) {
        return base::fail("cannot make a pipe: {}", base::system_message(errno));
    }
    unwatched_ = base::file_descriptor(ends[0]);
    base::file_descriptor theirs(ends[1]);
    const std::string path = fmt::format("/proc/self/fd/{}", ends[0]);
    // An agent of another user's may open it by its name, too: /dev/stderr.
    if (context_.of_run.is_root) ::fchmod(ends[0], 0666);
    base::file_descriptor both(::open(path.c_str(), O_RDWR | O_CLOEXEC));
    if (both.is_open()) return both;
    ::fcntl(theirs.get(), F_SETFL, 0);  // the agent's own writes wait
    return theirs;
}

// Were the server killed once the agent runs, nobody else would know its deadline.
base::expected<void> delivery::guard(pid_t child) {
    due_ = started_ + context_.of_run.chosen.timeout;
    guarded_ = context_.guarded.add(child, due_);
    return {};
}

void delivery::watch_agent(const os::child& started) {
    agent_ = started;
    set_deadline(started_);  // the next tick: see on_deadline()
    const int problem = exit_.open(context_.own.context(), started.pidfd);
    if (problem == 0) return exit_.when_readable([this] { agent_ended(); });
    agent_.pidfd = -1;
}

// Most agents end before the first tick, and what they print fits the pipe: to watch it then would
// cost more than to read it once at the end.
void delivery::watch_output() {
    if (!unwatched_.is_open()) return;
    const int problem = output_.open(context_.own.context(), unwatched_.release());
    if (problem == 0) output_.when_readable([this] { read_output(); });
}

// ---- while it runs ----

void delivery::on_deadline() {
    if (state_ != state::running) {
        cancel(waited_too_long);
        return;
    }
    const auto now = steady_clock::now();
    // Where both have come since the last time, the agent ended before its deadline.
    const bool asks = !exit_.is_open() || (now >= due_ && ending_ == ending::not_asked);
    if (asks && has_ended()) return;
    watch_output();
    if (ending_ == ending::not_asked && stands_still()) {
        ask_to_end(SIGKILL, now);
    } else if (now >= due_ && ending_ == ending::killed) {
        return give_up();
    } else if (now >= due_) {
        ask_to_end(ending_ == ending::not_asked ? SIGTERM : SIGKILL, now);
    }
    set_deadline(std::min(due_, now + (exit_.is_open() ? look_again : ask_again)));
}

// Any process of the agent's user may stop it, and so keep its slot. Whether that goes on too long.
bool delivery::stands_still() {
    if (!os::is_stopped(agent_)) return false;
    os::signal_group(agent_, SIGCONT);
    return ++stops_ == most_stops;
}

void delivery::ask_to_end(int signal, load::steady_time now) {
    os::signal_group(agent_, signal);
    // What stands still hears nothing else.
    if (signal != SIGKILL) os::signal_group(agent_, SIGCONT);
    ending_ = signal == SIGKILL ? ending::killed : ending::asked;
    due_ = now + kill_after;
}

void delivery::read_output() {
    const reading how = read_some(output_.native());
    if (how == reading::over) return output_.close();
    if (how == reading::nothing_now) output_.not_readable();
    output_.when_readable([this] { read_output(); });
    if (how == reading::more) output_.look_again();
}

// Not for ever: no agent keeps the thread to itself.
delivery::reading delivery::read_some(int from) {
    for (unsigned reads = 0; reads < reads_a_turn; ++reads) {
        const ssize_t got = ::read(from, context_.input.data(), context_.input.size());
        if (got < 0 && errno == EINTR) continue;
        if (got < 0 && errno == EAGAIN) return reading::nothing_now;
        if (got <= 0) return reading::over;
        const auto wanted = std::min(static_cast<std::size_t>(got), most_kept - printed_.size());
        printed_.append(context_.input.data(), wanted);
    }
    return reading::more;
}

// The agent has ended; what others may still print (its children have the pipe) is not waited for.
void delivery::drain_output() {
    if (output_.is_open()) {
        read_some(output_.native());
    } else if (unwatched_.is_open()) {
        read_some(unwatched_.get());
    }
    close_output();
}

void delivery::close_output() {
    output_.close();
    unwatched_.close();
}

// It cannot be ended: another user's by now, or stuck in the kernel. Nobody waits for it any more.
void delivery::give_up() {
    exit_.close();
    drain_output();
    context_.guarded.remove(guarded_);
    context_.leave(agent_);
    context_.slots.give_back(*this);
    tally().agents.add_end(stats::timeout_end, {});
    decide({agent_fate::timed_out}, printed_);
}

// ---- its end ----

void delivery::agent_ended() {
    if (!has_ended() && exit_.is_open()) exit_.when_readable([this] { agent_ended(); });
}

bool delivery::has_ended() {
    // What ignored TERM must not stay behind; the group's number is ours until the agent is reaped.
    const bool timed_out = ending_ != ending::not_asked;
    if (timed_out && exit_.is_open()) os::signal_group(agent_, SIGKILL);
    const auto how = os::reap(agent_);
    if (!how) return false;
    judge_end(*how, timed_out);
    return true;
}

void delivery::judge_end(const os::child_end& how, bool timed_out) {
    context_.guarded.remove(guarded_);
    clear_deadline();
    exit_.close();
    drain_output();
    context_.slots.give_back(*this);
    tally().latency[static_cast<std::size_t>(phase::agent)].record(steady_clock::now() - started_);
    const stats::agent_usage used{how.user, how.system, how.max_rss_bytes};
    stats::agent_counts& counts = tally().agents;
    if (timed_out && stops_ == most_stops) {
        counts.add_end_by_signal(SIGKILL, used);
        return decide({agent_fate::signalled, SIGKILL}, stopped_again);
    }
    if (timed_out) {
        counts.add_end(stats::timeout_end, used);
        return decide({agent_fate::timed_out}, printed_);
    }
    const int number = how.status_or_signal;
    if (how.signalled) {
        counts.add_end_by_signal(number, used);
        return decide({agent_fate::signalled, number}, printed_);
    }
    counts.add_end_with_status(number, used);
    decide({agent_fate::exited, number}, printed_);
}

void delivery::decide(const agent_end& how, std::string_view output) {
    delivery_reply answer = context_.of_run.exits.judge(how, output);
    const bool failed = answer.code >= 400;
    if (failed || !printed_.empty()) {
        context_.log.add({.id = of_.id,
                          .recipient = recipient().address,
                          .answer = answer,
                          .printed = printed_});
    }
    end(std::move(answer));
}

void delivery::end(delivery_reply answer) {
    answer_ = std::move(answer);
    state_ = state::over;
    clear_deadline();
    copy_.give_back();
    base::release(printed_);  // other recipients' agents may run for long
    whose_.delivered(*this);
}

}  // namespace postal::lmtp_deliver
