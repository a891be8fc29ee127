// SPDX-License-Identifier: GPL-3.0-or-later
// Implementation notes: a command is written behind what is already in the output; when an argument
// turns out not to be sayable, line::end() takes it all back, so that callers write without ifs.
#include "proto/imap/commands.hpp"

#include <algorithm>
#include <charconv>
#include <iterator>

#include "base/text.hpp"

namespace postal::proto {
namespace {

constexpr std::size_t literal_minus_limit = 4096;  // RFC 7888 5

struct verb_row {
    imap_verb is;
    std::string_view name;
    bool forbids_expunge = false;
};

constexpr verb_row verbs[] = {
    {imap_verb::none, ""},
    {imap_verb::append, "APPEND"},
    {imap_verb::authenticate, "AUTHENTICATE"},
    {imap_verb::capability, "CAPABILITY"},
    {imap_verb::close, "CLOSE"},
    {imap_verb::compress, "COMPRESS DEFLATE"},
    {imap_verb::copy, "COPY"},
    {imap_verb::create, "CREATE"},
    {imap_verb::delete_mailbox, "DELETE"},
    {imap_verb::enable, "ENABLE"},
    {imap_verb::examine, "EXAMINE"},
    {imap_verb::expunge, "EXPUNGE"},
    {imap_verb::fetch, "FETCH", true},
    {imap_verb::idle, "IDLE"},
    {imap_verb::list, "LIST"},
    {imap_verb::login, "LOGIN"},
    {imap_verb::logout, "LOGOUT"},
    {imap_verb::starttls, "STARTTLS"},
    {imap_verb::move, "MOVE"},
    {imap_verb::name_space, "NAMESPACE"},
    {imap_verb::noop, "NOOP"},
    {imap_verb::notify, "NOTIFY"},
    {imap_verb::search, "SEARCH", true},
    {imap_verb::select, "SELECT"},
    {imap_verb::sort, "SORT", true},
    {imap_verb::status, "STATUS"},
    {imap_verb::store, "STORE", true},
    {imap_verb::thread, "THREAD", true},
    {imap_verb::uid_copy, "UID COPY"},
    {imap_verb::uid_expunge, "UID EXPUNGE"},
    {imap_verb::uid_fetch, "UID FETCH"},
    {imap_verb::uid_move, "UID MOVE"},
    {imap_verb::uid_search, "UID SEARCH"},
    {imap_verb::uid_sort, "UID SORT"},
    {imap_verb::uid_store, "UID STORE"},
    {imap_verb::uid_thread, "UID THREAD"},
    {imap_verb::unselect, "UNSELECT"},
};
static_assert(std::size(verbs) == static_cast<std::size_t>(imap_verb::unselect) + 1);
static_assert(std::is_sorted(std::begin(verbs), std::end(verbs),
                             [](const verb_row& a, const verb_row& b) { return a.is < b.is; }));

const verb_row& row_of(imap_verb verb) noexcept {
    return verbs[static_cast<std::size_t>(verb)];
}

// How a string can be said, the plainest first (RFC 3501 9: ASTRING-CHAR, QUOTED-CHAR, CHAR8).
enum class saying : std::uint8_t { atom, quoted, literal, never };

saying saying_of(char c) noexcept {
    const auto octet = static_cast<unsigned char>(c);
    if (c == '\0' || c == '\r' || c == '\n') return saying::never;
    if (octet >= 0x80) return saying::literal;
    constexpr std::string_view specials = "(){%*\"\\ ";
    const bool plain = octet > ' ' && octet != 0x7f && specials.find(c) == specials.npos;
    return plain ? saying::atom : saying::quoted;
}

saying saying_of(std::string_view text) noexcept {
    // An empty atom is none, and NIL would be read as nothing at all.
    saying needed = text.empty() || base::iequals(text, "NIL") ? saying::quoted : saying::atom;
    for (const char c : text)
        needed = std::max(needed, saying_of(c));
    return needed;
}

}  // namespace

std::string_view imap_verb_name(imap_verb verb) noexcept {
    return row_of(verb).name;
}

bool forbids_expunge(imap_verb verb) noexcept {
    return row_of(verb).forbids_expunge;
}

void append_imap_tag(std::string& out, imap_tag tag) {
    out += 'a';
    out.append(std::to_string(tag));
}

imap_tag read_imap_tag(std::string_view text) noexcept {
    if (text.size() < 2 || text[0] != 'a' || text[1] == '0') return no_tag;
    imap_tag tag = no_tag;
    const char* end = text.data() + text.size();
    const auto read = std::from_chars(text.data() + 1, end, tag);
    return read.ec == std::errc{} && read.ptr == end ? tag : no_tag;
}

imap_literals imap_literals_of(const imap_capabilities& offered) noexcept {
    if (offered.has(imap_capability::literal_plus)) return imap_literals::plus;
    const bool minus = offered.has(imap_capability::literal_minus) ||
                       offered.has(imap_capability::imap4rev2);  // RFC 9051 appendix E
    return minus ? imap_literals::minus : imap_literals::synchronizing;
}

// One command, from its tag to its end.
class imap_commands::line {
  public:
    line(imap_commands& owner, imap_output& out, imap_verb verb)
        : owner_(owner), out_(out), begin_(out.text.size()), waits_(out.waits.size()) {
        append_imap_tag(out.text, owner.tag_ + 1);
        owner.verb_ = verb;
        out.text.append(" ").append(imap_verb_name(verb));
    }

    line& astring(std::string_view text) {
        out_.text += ' ';
        return first_astring(text);
    }

    // Behind what is no blank.
    line& first_astring(std::string_view text) {
        const saying how = saying_of(text);
        good_ = good_ && how != saying::never;
        if (how == saying::literal) return literal(text.size()).append(text);
        return how == saying::quoted ? quoted(text) : append(text);
    }

    // The caller's own text.
    line& word(std::string_view text) {
        constexpr std::string_view forbidden("\r\n\0", 3);
        good_ = good_ && text.find_first_of(forbidden) == text.npos;
        return append(" ").append(text);
    }

    line& append(std::string_view text) {
        out_.text.append(text);
        return *this;
    }

    line& number(std::uint64_t number) {
        out_.text.append(std::to_string(number));
        return *this;
    }

    // The size of a literal, whose content follows.
    line& literal(std::uint64_t size) {
        owner_.put_literal(out_, size);
        return *this;
    }

    imap_tag end() { return append("\r\n").end_open(); }

    // The caller appends the rest.
    imap_tag end_open() {
        if (good_) return ++owner_.tag_;
        out_.text.resize(begin_);
        out_.waits.resize(waits_);
        return no_tag;
    }

  private:
    line& quoted(std::string_view text) {
        out_.text += '"';
        for (const char c : text) {
            if (c == '"' || c == '\\') out_.text += '\\';
            out_.text += c;
        }
        out_.text += '"';
        return *this;
    }

    imap_commands& owner_;
    imap_output& out_;
    std::size_t begin_;
    std::size_t waits_;
    bool good_ = true;
};

void imap_commands::put_literal(imap_output& out, std::uint64_t size) const {
    const bool at_once = literals_ == imap_literals::plus ||
                         (literals_ == imap_literals::minus && size <= literal_minus_limit);
    out.text.append("{").append(std::to_string(size)).append(at_once ? "+}\r\n" : "}\r\n");
    if (!at_once) out.waits.push_back(out.text.size());
}

imap_tag imap_commands::plain(imap_output& out, imap_verb verb) {
    return line(*this, out, verb).end();
}

imap_tag imap_commands::login(imap_output& out, std::string_view user, std::string_view password) {
    return line(*this, out, imap_verb::login).astring(user).astring(password).end();
}

imap_tag imap_commands::authenticate(imap_output& out, std::string_view mechanism,
                                     std::string_view response) {
    line command(*this, out, imap_verb::authenticate);
    command.word(mechanism);
    if (!response.empty()) command.word(response);
    return command.end();
}

imap_tag imap_commands::enable(imap_output& out, std::string_view words) {
    return line(*this, out, imap_verb::enable).word(words).end();
}

imap_tag imap_commands::select(imap_output& out, imap_verb select_or_examine,
                               std::string_view mailbox, const imap_select_options& options) {
    line command(*this, out, select_or_examine);
    command.astring(mailbox);
    if (options.uid_validity != 0) {
        command.append(" (QRESYNC (").number(options.uid_validity);
        command.append(" ").number(options.modseq);
        if (!options.known_uids.empty()) command.word(options.known_uids);
        command.append("))");
    }
    return command.end();
}

imap_tag imap_commands::create(imap_output& out, std::string_view mailbox) {
    return line(*this, out, imap_verb::create).astring(mailbox).end();
}

imap_tag imap_commands::delete_mailbox(imap_output& out, std::string_view mailbox) {
    return line(*this, out, imap_verb::delete_mailbox).astring(mailbox).end();
}

imap_tag imap_commands::list(imap_output& out, std::string_view reference,
                             std::string_view pattern) {
    return line(*this, out, imap_verb::list).astring(reference).astring(pattern).end();
}

imap_tag imap_commands::status(imap_output& out, std::string_view mailbox, std::string_view items) {
    return line(*this, out, imap_verb::status).astring(mailbox).word(items).end();
}

imap_tag imap_commands::append(imap_output& out, std::string_view mailbox, std::uint64_t size) {
    line command(*this, out, imap_verb::append);
    return command.astring(mailbox).append(" ").literal(size).end_open();
}

imap_tag imap_commands::begin_append(imap_output& out, std::string_view mailbox) {
    return line(*this, out, imap_verb::append).astring(mailbox).end_open();
}

void imap_commands::append_message(imap_output& out, std::string_view flags, std::string_view date,
                                   std::uint64_t size) const {
    if (!flags.empty()) out.text.append(" ").append(flags);
    if (!date.empty()) out.text.append(" \"").append(date).append("\"");
    out.text += ' ';
    put_literal(out, size);
}

imap_tag imap_commands::search(imap_output& out, imap_verb verb, std::string_view criteria) {
    return line(*this, out, verb).word(criteria).end();
}

imap_tag imap_commands::notify(imap_output& out, std::string_view events) {
    return line(*this, out, imap_verb::notify).word(events).end();
}

imap_tag imap_commands::notify(imap_output& out, std::string_view selected,
                               std::span<const std::string> mailboxes, std::string_view events) {
    line command(*this, out, imap_verb::notify);
    command.word("SET STATUS").word(selected).append(" (MAILBOXES (");
    bool first = true;
    for (const std::string& one : mailboxes)
        std::exchange(first, false) ? command.first_astring(one) : command.astring(one);
    return command.append(")").word(events).append(")").end();
}

imap_tag imap_commands::fetch(imap_output& out, imap_verb verb, std::string_view set,
                              std::string_view items) {
    return line(*this, out, verb).word(set).word(items).end();
}

imap_tag imap_commands::store(imap_output& out, imap_verb verb, std::string_view set,
                              std::string_view action) {
    return line(*this, out, verb).word(set).word(action).end();
}

imap_tag imap_commands::copy(imap_output& out, imap_verb verb, std::string_view set,
                             std::string_view mailbox) {
    return line(*this, out, verb).word(set).astring(mailbox).end();
}

imap_tag imap_commands::uid_expunge(imap_output& out, std::string_view set) {
    return line(*this, out, imap_verb::uid_expunge).word(set).end();
}

std::size_t append_imap_set(std::string& out, std::span<const std::uint32_t> numbers,
                            std::size_t max_octets) {
    const std::size_t begin = out.size();
    std::size_t used = 0;
    while (used < numbers.size()) {
        std::size_t last = used;
        while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1)
            ++last;
        const std::size_t before = out.size();
        if (used != 0) out += ',';
        out.append(std::to_string(numbers[used]));
        if (last != used) {
            out += ':';
            out.append(std::to_string(numbers[last]));
        }
        if (used != 0 && out.size() - begin > max_octets) {
            out.resize(before);
            break;
        }
        used = last + 1;
    }
    return used;
}

}  // namespace postal::proto
