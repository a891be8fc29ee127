// SPDX-License-Identifier: GPL-3.0-or-later
#include <charconv>

#include <fmt/format.h>

#include "peers.hpp"

namespace clients {

namespace {

class pop3_server final : public dialogue {
  public:
    pop3_server(house& of, line& to, log_of_line& log, std::vector<bad_answer> bad)
        : dialogue(of, to, log, std::move(bad)) {
        const manner how = next_manner();
        add(how == manner::refuses ? "-ERR not now\r\n" : "+OK ready <1.2@pop.example>\r\n");
        if (how != manner::refuses) mark(said::kind::greeting);
        send_answer(how);
    }

    void gone() override { unlock(); }

  private:
    std::size_t take(std::string_view text) override {
        const std::size_t end = text.find("\r\n");
        if (end == std::string_view::npos) return 0;
        ++log_.commands;
        const manner how = next_manner();
        const std::string_view command = text.substr(0, end);
        if (how == manner::refuses) {
            add("-ERR no\r\n");
            if (command.starts_with("RETR ")) mark(said::kind::no_message);
        } else {
            answer(command);
        }
        send_answer(how);
        if (command == "QUIT") leave(how);
        return end + 2;
    }

    void answer(std::string_view command) {
        const std::string_view verb = command.substr(0, 4);
        const std::string_view argument =
            command.size() > 5 ? command.substr(5) : std::string_view();
        if (verb == "CAPA") return capabilities();
        if (verb == "USER") return user(argument);
        if (verb == "PASS") return password();
        if (box_ == nullptr && verb != "QUIT") return add("-ERR log in first\r\n");
        if (verb == "STAT") return add(fmt::format("+OK {} {}\r\n", there_.size(), octets()));
        if (verb == "LIST" || verb == "UIDL") return list(verb == "UIDL");
        if (verb == "RETR") return retrieve(argument);
        if (verb == "DELE") return remove(argument);
        add("+OK\r\n");
        if (verb == "QUIT") mark(said::kind::goodbye);
    }

    void capabilities() {
        add("+OK\r\nUSER\r\nUIDL\r\n");
        if (house_.traits.pipelining) add("PIPELINING\r\n");
        add(".\r\n");
    }

    void user(std::string_view name) {
        name_ = name;
        add("+OK\r\n");
    }

    // The account has to be nobody else's, as far as clients can know.
    void password() {
        const auto found = house_.boxes.find(name_);
        if (found == house_.boxes.end()) return add("-ERR who?\r\n");
        mailbox& wanted = found->second;
        if (wanted.pop3 != nullptr) {
            if (house_.exclusive && !wanted.pop3->client_has_closed())
                house_.wrong.push_back(name_ + " is visited twice at once");
            return add("-ERR [IN-USE] locked\r\n");
        }
        wanted.pop3 = &line_;
        box_ = &wanted;
        for (const stored& one : wanted.messages)
            there_.push_back({one, false});
        add("+OK\r\n");
        mark(said::kind::let_in);
    }

    std::size_t octets() const {
        std::size_t sum = 0;
        for (const held& one : there_)
            sum += one.message.text->size();
        return sum;
    }

    void list(bool by_uid) {
        add("+OK\r\n");
        for (std::size_t i = 0; i < there_.size(); ++i) {
            const stored& one = there_[i].message;
            add(by_uid ? fmt::format("{} uid{}\r\n", i + 1, one.uid)
                       : fmt::format("{} {}\r\n", i + 1, one.text->size()));
        }
        add(".\r\n");
    }

    struct held;
    held* find(std::string_view argument) {
        std::size_t number = 0;
        std::from_chars(argument.data(), argument.data() + argument.size(), number);
        return number < 1 || number > there_.size() ? nullptr : &there_[number - 1];
    }

    void retrieve(std::string_view argument) {
        const held* const one = find(argument);
        if (one == nullptr || one->marked) {
            house_.wrong.push_back("RETR of what is not there");
            add("-ERR no such message\r\n");
            return mark(said::kind::no_message);
        }
        add("+OK\r\n");
        mark(said::kind::message_begins);
        add(stuffed(*one->message.text));
        add(".\r\n");
        mark_message(one->message);
    }

    void remove(std::string_view argument) {
        held* const one = find(argument);
        if (one == nullptr || one->marked) {
            house_.wrong.push_back("DELE of what is not there");
            return add("-ERR no such message\r\n");
        }
        house_.removing(one->message);
        one->marked = true;
        add("+OK\r\n");
        mark(said::kind::marked);
    }

    // With QUIT, whatever becomes of the answer (RFC 1939 6).
    void leave(manner how) {
        if (box_ != nullptr && how != manner::refuses) {
            for (const held& one : there_)
                if (one.marked) box_->remove(one.message.uid);
        }
        unlock();
        line_.hang_up();
    }

    void unlock() {
        if (box_ != nullptr && box_->pop3 == &line_) box_->pop3 = nullptr;
        box_ = nullptr;
    }

    struct held {
        stored message;
        bool marked = false;
    };
    std::string name_;
    mailbox* box_ = nullptr;
    std::vector<held> there_;
};

}  // namespace

std::unique_ptr<peer> make_pop3_server(house& of, line& to, log_of_line& log,
                                       std::vector<bad_answer> bad) {
    return std::make_unique<pop3_server>(of, to, log, std::move(bad));
}

}  // namespace clients
