// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <cctype>
#include <charconv>

#include <fmt/format.h>

#include "peers.hpp"

namespace clients {

namespace {

// "3,5:7,9:*" of numbers up to `last`, ascending and once each.
std::vector<std::uint32_t> numbers_of(std::string_view set, std::uint32_t last) {
    std::vector<std::uint32_t> found;
    while (!set.empty()) {
        const std::string_view part = set.substr(0, set.find(','));
        set.remove_prefix(std::min(set.size(), part.size() + 1));
        const auto number = [last](std::string_view text) {
            std::uint32_t value = last;
            if (text != "*") std::from_chars(text.data(), text.data() + text.size(), value);
            return value;
        };
        const std::size_t colon = part.find(':');
        std::uint32_t from = number(part.substr(0, colon));
        std::uint32_t to = colon == std::string_view::npos ? from : number(part.substr(colon + 1));
        if (from > to) std::swap(from, to);
        for (std::uint64_t each = from; each <= std::min(to, last); ++each)
            found.push_back(static_cast<std::uint32_t>(each));
    }
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
    return found;
}

// The next word of a command, an atom, a quoted string or a list, and takes it away.
std::string_view next_word(std::string_view& rest) {
    if (rest.starts_with(' ')) rest.remove_prefix(1);
    std::size_t end = 0;
    if (rest.starts_with('"')) {
        end = rest.find('"', 1) + 1;
    } else if (rest.starts_with('(')) {
        int depth = 0;
        do {
            depth += rest[end] == '(' ? 1 : rest[end] == ')' ? -1 : 0;
        } while (++end < rest.size() && depth > 0);
    } else {
        end = std::min(rest.find(' '), rest.size());
    }
    const std::string_view word = rest.substr(0, end);
    rest.remove_prefix(end);
    return word;
}

std::string_view unquoted(std::string_view word) {
    return word.starts_with('"') ? word.substr(1, word.size() - 2) : word;
}

class imap_server final : public dialogue {
  public:
    imap_server(house& of, line& to, log_of_line& log, std::vector<bad_answer> bad)
        : dialogue(of, to, log, std::move(bad)) {
        const manner how = next_manner();
        if (how == manner::refuses) {
            add("* BYE not now\r\n");
        } else {
            add(house_.traits.capabilities_in_greeting
                    ? "* OK [CAPABILITY " + capabilities() + "] ready\r\n"
                    : "* OK ready\r\n");
            mark(said::kind::greeting);
        }
        send_answer(how);
        house_.told.push_back([this] {
            if (idling_) tell_all();
        });
        told_at_ = house_.told.size() - 1;
    }
    ~imap_server() override {
        house_.told[told_at_] = [] {};
    }

    void gone() override { idling_ = false; }

  private:
    struct command {
        std::string_view tag;
        std::string verb;  // upper case, "UID FETCH"
        std::string_view rest;
    };

    std::string capabilities() const {
        std::string all = "IMAP4rev1";
        if (house_.traits.uidplus) all += " UIDPLUS";
        if (house_.traits.moves) all += " MOVE";
        if (house_.traits.idles) all += " IDLE";
        if (house_.traits.literal_plus) all += " LITERAL+";
        return all;
    }

    // One line, with the literals in it.
    std::size_t take(std::string_view text) override {
        if (idling_) return take_done(text);
        std::size_t begin = 0;
        for (;;) {
            const std::size_t end = text.find("\r\n", begin);
            if (end == std::string_view::npos) return 0;
            const std::optional<literal> one = literal_before(text.substr(0, end));
            if (!one) return perform(text.substr(0, end), end + 2);
            const std::size_t from = end + 2;
            if (one->waits && asked_at_ < from) {
                asked_at_ = from;
                add("+ go\r\n");
                const manner how = next_manner();
                if (how != manner::refuses) return send_answer(how) ? 0 : text.size();
                begin_answer();
                asked_at_ = 0;
                add(fmt::format("{} NO not that\r\n", text.substr(0, text.find(' '))));
                mark(said::kind::no);
                ++log_.commands;
                send_answer(manner::fine);
                return from;
            }
            if (text.size() < from + one->octets) return 0;
            begin = from + one->octets;
        }
    }

    struct literal {
        std::size_t octets = 0;
        bool waits = true;
    };
    static std::optional<literal> literal_before(std::string_view line) {
        if (!line.ends_with('}')) return std::nullopt;
        const std::size_t brace = line.rfind('{');
        if (brace == std::string_view::npos) return std::nullopt;
        literal made;
        const char* const end = line.data() + line.size() - 1;
        const auto got = std::from_chars(line.data() + brace + 1, end, made.octets);
        made.waits = got.ptr == end;
        return made;
    }

    std::size_t perform(std::string_view text, std::size_t size) {
        asked_at_ = 0;
        ++log_.commands;
        command said{};
        said.rest = text;
        said.tag = next_word(said.rest);
        said.verb = next_word(said.rest);
        if (said.verb == "UID") said.verb += " " + std::string(next_word(said.rest));
        const manner how = next_manner();
        if (how == manner::refuses) {
            end_answer(said, "NO not now", said::kind::no);
        } else if (said.verb == "IDLE") {
            idling_ = true;
            idle_tag_ = said.tag;
            add("+ idling\r\n");
        } else {
            obey(said);
        }
        const bool on = send_answer(how);
        if (said.verb == "LOGOUT" && on) line_.hang_up();
        return size;
    }

    std::size_t take_done(std::string_view text) {
        const std::size_t end = text.find("\r\n");
        if (end == std::string_view::npos) return 0;
        idling_ = false;
        if (text.substr(0, end) != "DONE") house_.wrong.emplace_back("no DONE behind IDLE");
        const manner how = next_manner();
        add_news();
        const bool fine = how != manner::refuses;
        add(fmt::format("{} {}\r\n", idle_tag_, fine ? "OK idled" : "NO not now"));
        mark(fine ? said::kind::ok : said::kind::no);
        send_answer(how);
        return end + 2;
    }

    void end_answer(const command& of, std::string_view text, said::kind what) {
        add(fmt::format("{} {}\r\n", of.tag, text));
        mark(what);
    }

    void obey(const command& said) {
        const std::string& verb = said.verb;
        if (verb == "LOGIN") return log_in(said);
        if (verb == "CAPABILITY") add("* CAPABILITY " + capabilities() + "\r\n");
        if (verb == "SELECT") return select(said);
        if (verb == "LOGOUT") add("* BYE see you\r\n");
        if (verb == "LIST") add("* LIST () \"/\" INBOX\r\n");
        if (verb == "NAMESPACE") add("* NAMESPACE ((\"\" \"/\")) NIL NIL\r\n");
        if (verb == "STATUS")
            add("* STATUS INBOX (MESSAGES 1 UNSEEN 1 UIDNEXT 9 UIDVALIDITY 1)\r\n");
        if (verb == "FETCH") fetch(said);
        if (verb == "SEARCH" || verb == "UID SEARCH") search(said);
        if (verb == "UID STORE") store(said);
        if (verb == "UID EXPUNGE" || verb == "EXPUNGE") expunge(said);
        if (verb == "UID MOVE") move(said);
        if (verb == "APPEND") return append(said);
        const bool quiet = verb == "FETCH" || verb == "SEARCH" || verb == "UID STORE";
        expunging_ = verb.ends_with("EXPUNGE");
        if (box_ != nullptr && !quiet) add_news();
        expunging_ = false;
        end_answer(said, "OK done", said::kind::ok);
    }

    void log_in(const command& of) {
        std::string_view rest = of.rest;
        const std::string_view name = unquoted(next_word(rest));
        const auto found = house_.boxes.find(name);
        if (found == house_.boxes.end()) return end_answer(of, "NO who?", said::kind::no);
        whose_ = &found->second;
        end_answer(of, "OK [CAPABILITY " + capabilities() + "] in", said::kind::ok);
        mark(said::kind::let_in);
    }

    void select(const command& of) {
        if (whose_ == nullptr) return end_answer(of, "BAD log in first", said::kind::bad);
        box_ = whose_;
        view_.clear();
        for (const stored& one : box_->messages)
            view_.push_back(one.uid);
        add("* FLAGS (\\Seen \\Deleted \\Flagged)\r\n");
        add(
            fmt::format("* {} EXISTS\r\n* 0 RECENT\r\n* OK [UIDVALIDITY {}] fine\r\n"
                        "* OK [UIDNEXT {}] next\r\n",
                        view_.size(), box_->uid_validity, box_->uid_next));
        end_answer(of, "OK [READ-WRITE] selected", said::kind::ok);
    }

    // What has gone and come since, as other commands may be told (RFC 3501 7.4.1).
    void add_news() {
        for (std::size_t i = 0; i < view_.size();) {
            if (box_->find(view_[i]) != nullptr) {
                ++i;
                continue;
            }
            view_.erase(view_.begin() + static_cast<std::ptrdiff_t>(i));
            add(fmt::format("* {} EXPUNGE\r\n", i + 1));
            if (expunging_) mark(said::kind::expunged);
        }
        const std::size_t before = view_.size();
        for (const stored& one : box_->messages)
            if (view_.empty() || one.uid > view_.back()) view_.push_back(one.uid);
        if (view_.size() != before) add(fmt::format("* {} EXISTS\r\n", view_.size()));
    }

    void tell_all() {
        begin_answer();
        add_news();
        send_answer(manner::fine);
    }

    void fetch(const command& of) {
        std::string_view rest = of.rest;
        const std::string_view set = next_word(rest);
        const std::string_view items = next_word(rest);
        const bool whole = items.find("BODY.PEEK[])") != std::string_view::npos;
        for (const std::uint32_t number :
             numbers_of(set, static_cast<std::uint32_t>(view_.size()))) {
            if (number == 0) continue;
            const stored* const one = box_->find(view_[number - 1]);
            if (one == nullptr) continue;
            add(fmt::format("* {} FETCH (UID {}", number, one->uid));
            if (items.find("FLAGS") != std::string_view::npos)
                add(one->seen ? " FLAGS (\\Seen)" : " FLAGS ()");
            if (items.find("INTERNALDATE") != std::string_view::npos)
                add(" INTERNALDATE \"27-Nov-2026 08:00:00 +0000\"");
            if (items.find("RFC822.SIZE") != std::string_view::npos)
                add(fmt::format(" RFC822.SIZE {}", one->text->size()));
            if (items.find("ENVELOPE") != std::string_view::npos)
                add(" ENVELOPE (NIL \"a (subject\" NIL NIL NIL NIL NIL NIL NIL NIL)");
            if (items.find("BODYSTRUCTURE") != std::string_view::npos)
                add(" BODYSTRUCTURE (\"TEXT\" \"PLAIN\" NIL NIL NIL \"7BIT\" 10 1)");
            if (items.find("<0.2048>") != std::string_view::npos)
                add_literal(" BODY[]<0> ", one->text->substr(0, 2048));
            if (items.find("HEADER.FIELDS") != std::string_view::npos)
                add_literal(" BODY[HEADER.FIELDS (DATE)] ", "Subject: x\r\n\r\n");
            if (whole) add_literal(" BODY[] ", *one->text);
            add(")\r\n");
            if (whole) mark_message(*one);
        }
    }

    void add_literal(std::string_view name, std::string_view text) {
        add(fmt::format("{}{{{}}}\r\n", name, text.size()));
        add(text);
    }

    void search(const command& of) {
        std::string found;
        const bool uids = of.verb == "UID SEARCH";
        const bool deleted = of.rest.find("DELETED") != std::string_view::npos;
        const bool unseen = of.rest.find("UNSEEN") != std::string_view::npos;
        for (std::size_t i = 0; i < view_.size(); ++i) {
            const stored* const one = box_->find(view_[i]);
            if (one == nullptr || (deleted && !one->deleted) || (unseen && one->seen)) continue;
            found += fmt::format(" {}", uids ? one->uid : i + 1);
        }
        add("* SEARCH" + found + "\r\n");
    }

    void store(const command& of) {
        std::string_view rest = of.rest;
        const std::string_view set = next_word(rest);
        for (const std::uint32_t uid : numbers_of(set, box_->uid_next)) {
            stored* const one = box_->find(uid);
            if (one == nullptr) continue;
            one->seen = one->seen || rest.find("\\Seen") != std::string_view::npos;
            if (rest.find("\\Deleted") == std::string_view::npos) continue;
            house_.removing(*one);
            one->deleted = true;
        }
    }

    // What is told of it comes with the news.
    void expunge(const command& of) {
        std::string_view rest = of.rest;
        if (!house_.traits.expunges) return;
        const bool all = of.verb == "EXPUNGE";
        std::vector<std::uint32_t> uids = view_;
        if (!all) uids = numbers_of(next_word(rest), box_->uid_next);
        for (const std::uint32_t uid : uids) {
            const stored* const one = box_->find(uid);
            if (one != nullptr && one->deleted) box_->remove(uid);
        }
    }

    void move(const command& of) {
        std::string_view rest = of.rest;
        for (const std::uint32_t uid : numbers_of(next_word(rest), box_->uid_next))
            box_->remove(uid);
    }

    // The message is a literal, the last one; whether it is one of ours was not looked at.
    void append(const command& of) {
        const std::size_t brace = of.rest.rfind("}\r\n", of.rest.find("\r\n"));
        if (brace == std::string_view::npos)
            return end_answer(of, "BAD no message", said::kind::bad);
        whose_->put(content::ours, std::string(of.rest.substr(brace + 3)));
        ++whose_->appended;
        if (box_ != nullptr) add_news();
        add(fmt::format("{} OK [APPENDUID 1 {}] kept\r\n", of.tag, whose_->uid_next - 1));
        mark(said::kind::ok);
        mark(said::kind::appended);
    }

    mailbox* whose_ = nullptr;
    mailbox* box_ = nullptr;
    std::vector<std::uint32_t> view_;
    std::size_t asked_at_ = 0;  // where the literal begins that may come
    std::size_t told_at_ = 0;
    bool idling_ = false;
    bool expunging_ = false;
    std::string idle_tag_;
};

}  // namespace

std::unique_ptr<peer> make_imap_server(house& of, line& to, log_of_line& log,
                                       std::vector<bad_answer> bad) {
    return std::make_unique<imap_server>(of, to, log, std::move(bad));
}

}  // namespace clients
