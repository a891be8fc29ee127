// SPDX-License-Identifier: GPL-3.0-or-later
// A client of bhm: messages of postal, and what the scenario has it do in the middle of them.
#include <algorithm>
#include <charconv>
#include <deque>

#include <fmt/format.h>

#include "peers.hpp"

namespace clients {

namespace {

class smtp_client final : public dialogue {
  public:
    smtp_client(house& of, line& to, log_of_line& log, std::vector<bad_answer> bad, errand does)
        : dialogue(of, to, log, std::move(bad)), does_(std::move(does)) {
        awaited_ = {stage::banner};
    }

    void gone() override { line_.hang_up(); }

  private:
    enum class stage : std::uint8_t { banner, hello, mail, rcpt, data, end, reset, quit };

    // One line of a reply.
    std::size_t take(std::string_view text) override {
        const std::size_t end = text.find("\r\n");
        if (end == std::string_view::npos) return 0;
        const std::string_view said = text.substr(0, end);
        unsigned code = 0;
        std::from_chars(said.data(), said.data() + std::min<std::size_t>(3, said.size()), code);
        const bool more = said.size() > 3 && said[3] == '-';
        // Of one recipient it is a reply like others (RFC 2033 4.2).
        const bool of_recipient = !awaited_.empty() && awaited_.front() == stage::end;
        if (!more && (code != 421 || of_recipient)) act_on(code);
        return end + 2;
    }

    void act_on(unsigned code) {
        if (awaited_.empty()) {
            if (!log_.bad_manners) house_.wrong.emplace_back("a reply to nothing");
            return;
        }
        const stage at = awaited_.front();
        awaited_.pop_front();
        const bool fine = code < 400;
        refused_ = refused_ || !fine;
        all_taken_ = all_taken_ && (fine || at != stage::rcpt);
        switch (at) {
            case stage::banner:
                if (fine)
                    say(log_.spoken == protocol::lmtp ? "LHLO me\r\n" : "EHLO me\r\n",
                        {stage::hello});
                break;
            case stage::hello:
                begin_message();
                break;
            case stage::reset:
                if (in_hand_) ++sent_;  // it is not tried again
                begin_message();
                break;
            case stage::mail:
                if (!does_.pipelines) fine ? say(recipients(), rcpt_stages()) : reset();
                break;
            case stage::rcpt:
                if (!does_.pipelines && !awaits(stage::rcpt)) fine ? begin_content() : reset();
                break;
            case stage::data:
                fine ? send_content() : reset();
                break;
            case stage::end:
                // Behind what is no command replies are not to what it takes them for.
                log_.accepted += fine && !log_.bad_manners ? 1 : 0;
                if (all_taken_)
                    log_.heard.push_back({does_.messages[sent_].text, answered_++, code});
                if (!awaits(stage::end)) end_message();
                break;
            case stage::quit:
                line_.hang_up();
                break;
        }
    }

    bool awaits(stage what) const {
        return std::find(awaited_.begin(), awaited_.end(), what) != awaited_.end();
    }

    void say(std::string_view text, std::initializer_list<stage> then) {
        say(text, std::deque<stage>(then));
    }
    void say(std::string_view text, const std::deque<stage>& then) {
        awaited_.insert(awaited_.end(), then.begin(), then.end());
        add(text);
        manner how = next_manner();
        if (how == manner::refuses) how = manner::fine;
        send_answer(how);
    }

    void begin_message() {
        refused_ = false;
        all_taken_ = in_hand_ = true;
        answered_ = 0;
        if (sent_ == does_.messages.size()) return say("QUIT\r\n", {stage::quit});
        std::string text = "MAIL FROM:<sender@example.org>\r\n";
        if (!does_.pipelines) return say(text, {stage::mail});
        std::deque<stage> then = rcpt_stages();
        then.push_front(stage::mail);
        text += recipients();
        if (does_.chunks) {
            add_chunk(text);
            then.insert(then.end(), ends(), stage::end);
        } else {
            text += "DATA\r\n";
            then.push_back(stage::data);
        }
        say(text, then);
    }

    std::string recipients() const {
        std::string text;
        for (unsigned each = 0; each < does_.recipients; ++each)
            text += fmt::format("RCPT TO:<user{}@example.com>\r\n", each);
        return text;
    }
    std::deque<stage> rcpt_stages() const {
        return std::deque<stage>(does_.recipients, stage::rcpt);
    }
    std::size_t ends() const { return log_.spoken == protocol::lmtp ? does_.recipients : 1; }

    void begin_content() {
        if (!does_.chunks) return say("DATA\r\n", {stage::data});
        std::string text;
        add_chunk(text);
        say(text, std::deque<stage>(ends(), stage::end));
    }

    void add_chunk(std::string& text) {
        const stored& one = does_.messages[sent_];
        text += fmt::format("BDAT {} LAST\r\n", one.text->size());
        add(text);
        text.clear();
        add(*one.text);
        mark_sent(one);
    }

    void send_content() {
        const stored& one = does_.messages[sent_];
        add(stuffed(*one.text));
        add(".\r\n");
        mark_sent(one);
        say("", std::deque<stage>(ends(), stage::end));
    }

    void mark_sent(const stored& which) {
        log_.sent.push_back(which.text);
        for (std::size_t each = 0; each < ends(); ++each)
            mark_message(which);
    }

    void end_message() {
        ++sent_;
        in_hand_ = false;
        refused_ ? reset() : begin_message();
    }
    void reset() {
        if (does_.pipelines && !awaited_.empty()) return;
        say("RSET\r\n", {stage::reset});
    }

    const errand does_;
    std::deque<stage> awaited_;
    std::size_t sent_ = 0;
    bool refused_ = false;
    bool in_hand_ = false;   // a message that was not answered yet
    bool all_taken_ = true;  // recipients of the message in hand
    unsigned answered_ = 0;  // of these
};

}  // namespace

std::unique_ptr<peer> make_smtp_client(house& of, line& to, log_of_line& log,
                                       std::vector<bad_answer> bad, errand does) {
    return std::make_unique<smtp_client>(of, to, log, std::move(bad), std::move(does));
}

}  // namespace clients
