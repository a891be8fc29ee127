// SPDX-License-Identifier: GPL-3.0-or-later
// What an IMAP client says: commands with their tags, appended to what is to be sent (RFC 3501 6,
// RFC 9051 6, 2177, 4315, 4959, 4978, 5256, 5465, 6851, 7162, 7888).
//
// Flow:
//   imap_output out; imap_commands commands;
//   commands.literals(imap_literals_of(capabilities));   once they are known
//   const imap_tag tag = commands.login(out, user, password);
//   if (tag == no_tag) ...                  an argument cannot be said; nothing was appended
//   mailbox.sent(tag, imap_verb::login);
//   Send out.text; but before the octet at each offset in out.waits, a continuation request must
//   have come (RFC 3501 7.5). Where there are none, commands may be pipelined.
//
// Strings go out as atoms, quoted, or as literals where they hold what cannot be quoted (RFC 3501
// 9, astring). NUL is refused everywhere; CR and LF within strings too, so that no name from a
// file can become a second command. `items`, `criteria` and sets are the caller's own text, and are
// refused when they hold CR, LF or NUL. Nothing else fails.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "proto/imap/capabilities.hpp"
#include "proto/imap/codes.hpp"

namespace postal::proto {

// The number in a tag: "a1", "a2", ...
using imap_tag = std::uint32_t;
inline constexpr imap_tag no_tag = 0;

void append_imap_tag(std::string& out, imap_tag tag);
// no_tag when it cannot be one of ours.
imap_tag read_imap_tag(std::string_view text) noexcept;

enum class imap_verb : std::uint8_t {
    none,
    append,
    authenticate,
    capability,
    close,
    compress,
    copy,
    create,
    delete_mailbox,
    enable,
    examine,
    expunge,
    fetch,
    idle,
    list,
    login,
    logout,
    starttls,
    move,
    name_space,
    noop,
    notify,
    search,
    select,
    sort,
    status,
    store,
    thread,
    uid_copy,
    uid_expunge,
    uid_fetch,
    uid_move,
    uid_search,
    uid_sort,
    uid_store,
    uid_thread,
    unselect
};

// "FETCH", "UID FETCH", "COMPRESS DEFLATE", ...
std::string_view imap_verb_name(imap_verb verb) noexcept;
// The server must not send EXPUNGE while it answers this (RFC 9051 7.5.1).
bool forbids_expunge(imap_verb verb) noexcept;

// How literals are said: with a wait, at once up to 4096 octets, or at once (RFC 7888).
enum class imap_literals : std::uint8_t { synchronizing, minus, plus };
imap_literals imap_literals_of(const imap_capabilities& offered) noexcept;

struct imap_output {
    std::string text{};
    std::vector<std::size_t> waits{};

    void clear() noexcept {
        text.clear();
        waits.clear();
    }
};

// What SELECT and EXAMINE ask for (RFC 7162 3.2.5). QRESYNC must have been enabled.
struct imap_select_options {
    std::uint32_t uid_validity = 0;  // not 0: QRESYNC with the state of an earlier session
    std::uint64_t modseq = 0;
    std::string_view known_uids{};
};

class imap_commands {
  public:
    void literals(imap_literals form) noexcept { literals_ = form; }

    // CAPABILITY, NAMESPACE, NOOP, LOGOUT, CLOSE, UNSELECT, EXPUNGE, IDLE, COMPRESS DEFLATE.
    imap_tag plain(imap_output& out, imap_verb verb);
    imap_tag login(imap_output& out, std::string_view user, std::string_view password);
    // An empty response: none, to be asked for. Else base64 (base64.hpp), if SASL-IR is offered.
    imap_tag authenticate(imap_output& out, std::string_view mechanism, std::string_view response);
    // Words of RFC 5161: "QRESYNC".
    imap_tag enable(imap_output& out, std::string_view words);
    imap_tag select(imap_output& out, imap_verb select_or_examine, std::string_view mailbox,
                    const imap_select_options& options = {});
    imap_tag create(imap_output& out, std::string_view mailbox);
    imap_tag delete_mailbox(imap_output& out, std::string_view mailbox);
    imap_tag list(imap_output& out, std::string_view reference, std::string_view pattern);
    // items: "(MESSAGES UIDNEXT)".
    imap_tag status(imap_output& out, std::string_view mailbox, std::string_view items);
    // The content, exactly `size` octets of it, and CRLF follow; behind the last wait.
    imap_tag append(imap_output& out, std::string_view mailbox, std::uint64_t size);
    // The same of several messages in one command (MULTIAPPEND, RFC 3502): begin_append(), and for
    // each message append_message(), behind which its content follows; then CRLF. `flags` is a list
    // in parentheses or empty, `date` a date-time without quotes or empty; both the caller's own.
    imap_tag begin_append(imap_output& out, std::string_view mailbox);
    void append_message(imap_output& out, std::string_view flags, std::string_view date,
                        std::uint64_t size) const;
    // SEARCH, SORT, THREAD (RFC 5256) and their UID forms; criteria: "UNSEEN", "RETURN (ALL) SINCE
    // 1-Feb-1994"; "(DATE) UTF-8 ALL"; "REFERENCES UTF-8 ALL".
    imap_tag search(imap_output& out, imap_verb verb, std::string_view criteria);
    // FETCH or UID FETCH; items: "(UID FLAGS)", "BODY.PEEK[]".
    imap_tag fetch(imap_output& out, imap_verb verb, std::string_view set, std::string_view items);
    // STORE or UID STORE; action: "+FLAGS.SILENT (\\Deleted)".
    imap_tag store(imap_output& out, imap_verb verb, std::string_view set, std::string_view action);
    // COPY, MOVE and their UID forms.
    imap_tag copy(imap_output& out, imap_verb verb, std::string_view set, std::string_view mailbox);
    imap_tag uid_expunge(imap_output& out, std::string_view set);
    // NOTIFY (RFC 5465); events: "SET (SELECTED-DELAYED (MessageNew MessageExpunge))", "NONE".
    imap_tag notify(imap_output& out, std::string_view events);
    // The same with STATUS of mailboxes that are not selected: "(SELECTED-DELAYED (MessageNew
    // MessageExpunge))", and "(MessageNew MessageExpunge)" of them.
    imap_tag notify(imap_output& out, std::string_view selected,
                    std::span<const std::string> mailboxes, std::string_view events);

    // The tag that was given last, and the command that was written last.
    imap_tag last() const noexcept { return tag_; }
    imap_verb last_verb() const noexcept { return verb_; }

  private:
    class line;

    void put_literal(imap_output& out, std::uint64_t size) const;

    imap_literals literals_ = imap_literals::synchronizing;
    imap_tag tag_ = no_tag;
    imap_verb verb_ = imap_verb::none;
};

// Ends IDLE (RFC 2177).
inline constexpr std::string_view imap_done = "DONE\r\n";

// Ascending numbers as a sequence set, "1:3,5", of at most max_octets, but at least one range;
// returns how many numbers it holds. Call again with the rest.
std::size_t append_imap_set(std::string& out, std::span<const std::uint32_t> numbers,
                            std::size_t max_octets = 4000);

}  // namespace postal::proto
