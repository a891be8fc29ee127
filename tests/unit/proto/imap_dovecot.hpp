// SPDX-License-Identifier: GPL-3.0-or-later
// What Dovecot 2.3.19 said in one session of 27 commands, but for the times and two repetitions:
// greeting, LOGIN, ENABLE QRESYNC, LIST, STATUS, SELECT, FETCH of everything, SEARCH, STORE, COPY,
// UID EXPUNGE, APPEND, MOVE, errors, SELECT anew and LOGOUT. Lines end in LF here; see with_crlf().
#pragma once

#include <string>
#include <string_view>

namespace postal::proto::test {

inline constexpr std::string_view dovecot_lines =
    R"--(* OK [CAPABILITY IMAP4rev1 SASL-IR LOGIN-REFERRALS ID ENABLE IDLE LITERAL+ AUTH=PLAIN] Dovecot (Debian) ready.
* CAPABILITY IMAP4rev1 SASL-IR LOGIN-REFERRALS ID ENABLE IDLE LITERAL+ AUTH=PLAIN
a1 OK Pre-login capabilities listed, post-login capabilities have more.
* CAPABILITY IMAP4rev1 SASL-IR LOGIN-REFERRALS ID ENABLE IDLE SORT SORT=DISPLAY THREAD=REFERENCES THREAD=REFS THREAD=ORDEREDSUBJECT MULTIAPPEND URL-PARTIAL CATENATE UNSELECT CHILDREN NAMESPACE UIDPLUS LIST-EXTENDED I18NLEVEL=1 CONDSTORE QRESYNC ESEARCH ESORT SEARCHRES WITHIN CONTEXT=SEARCH LIST-STATUS BINARY MOVE SNIPPET=FUZZY PREVIEW=FUZZY PREVIEW STATUS=SIZE SAVEDATE LITERAL+ NOTIFY
a2 OK Logged in
* ENABLED QRESYNC
a3 OK Enabled.
* NAMESPACE (("" ".")) NIL NIL
a4 OK Namespace completed.
* ID ("name" "Dovecot")
a5 OK ID completed.
* LIST (\HasNoChildren) "." INBOX
a6 OK List completed.
a7 OK Create completed.
* LIST (\HasNoChildren) "." "a \"b"
* LIST (\HasNoChildren) "." INBOX
a8 OK List completed.
* STATUS INBOX (MESSAGES 3 RECENT 3 UIDNEXT 4 UIDVALIDITY 1795205817 UNSEEN 3 HIGHESTMODSEQ 4 SIZE 1323)
a9 OK Status completed.
* FLAGS (\Answered \Flagged \Deleted \Seen \Draft)
* OK [PERMANENTFLAGS (\Answered \Flagged \Deleted \Seen \Draft \*)] Flags permitted.
* 3 EXISTS
* 3 RECENT
* OK [UNSEEN 1] First unseen.
* OK [UIDVALIDITY 1795205817] UIDs valid
* OK [UIDNEXT 4] Predicted next UID
* OK [HIGHESTMODSEQ 4] Highest
a10 OK [READ-WRITE] Select completed.
* 1 FETCH (UID 1 FLAGS (\Recent) RFC822.SIZE 439 INTERNALDATE "20-Nov-2026 20:16:57 +0000" MODSEQ (4) ENVELOPE (NIL {14}
méssage 0 {5} (({7}
A "q" B NIL "a" "example.com")) (({7}
A "q" B NIL "a" "example.com")) (({7}
A "q" B NIL "a" "example.com")) ((NIL NIL "u" "example.com")) NIL NIL NIL NIL) BODYSTRUCTURE (("text" "plain" ("charset" "us-ascii") NIL NIL "7bit" 7 0 NIL NIL NIL NIL)("text" "html" ("charset" "us-ascii") NIL NIL "7bit" 3 0 NIL NIL NIL NIL) "mixed" ("boundary" "b](") NIL NIL NIL))
a11 OK Fetch completed.
* 1 FETCH (UID 1 BODY[] {439}
Return-Path: <a@example.com>
Delivered-To: u@example.com
Received: from x ([127.0.0.1])
	by vm with LMTP
	id 0GviHbmqAGs6ZQAAg+zDdQ
	(envelope-from <a@example.com>)
	for <u@example.com>; Fri, 20 Nov 2026 20:16:57 +0000
From: "A \"q\" B" <a@example.com>
To: u@example.com
Subject: méssage 0 {5}
MIME-Version: 1.0
Content-Type: multipart/mixed; boundary="b]("

--b](

hello 0
--b](
Content-Type: text/html

<p>
--b](--
)
a12 OK Fetch completed.
* 2 FETCH (BODY[HEADER.FIELDS (FROM "SUBJECT")] {62}
From: "A \"q\" B" <a@example.com>
Subject: méssage 1 {5}

 BODY[1]<2> {3}
llo BODY[9] {0}
 BINARY[1] {7}
hello 1 RFC822.HEADER {376}
Return-Path: <a@example.com>
Delivered-To: u@example.com
Received: from x ([127.0.0.1])
	by vm with LMTP
	id 0GviHbmqAGs6ZQAAg+zDdQ:T2
	(envelope-from <a@example.com>)
	for <u@example.com>; Fri, 20 Nov 2026 20:16:57 +0000
From: "A \"q\" B" <a@example.com>
To: u@example.com
Subject: méssage 1 {5}
MIME-Version: 1.0
Content-Type: multipart/mixed; boundary="b]("

)
a13 OK Fetch completed.
* SEARCH 1 2 3
a14 OK Search completed.
* ESEARCH (TAG "a15") UID MIN 1 ALL 1:3 COUNT 3
a15 OK Search completed.
* SEARCH 1 2 3 (MODSEQ 4)
a16 OK Search completed.
* FLAGS (\Answered \Flagged \Deleted \Seen \Draft $Label)
* OK [PERMANENTFLAGS (\Answered \Flagged \Deleted \Seen \Draft $Label \*)] Flags permitted.
* 1 FETCH (UID 1 MODSEQ (6) FLAGS (\Deleted \Recent $Label))
a17 OK Store completed.
a18 OK [COPYUID 1795205818 1 1] Copy completed.
* VANISHED 1
* 2 RECENT
a19 OK [HIGHESTMODSEQ 7] Expunge completed.
* 3 EXISTS
* 3 RECENT
* OK [HIGHESTMODSEQ 8] Highest
a20 OK [APPENDUID 1795205817 4] Append completed.
a21 NO [TRYCREATE] Mailbox doesn't exist: Nope.
* OK [COPYUID 1795205818 2 2] Moved UIDs.
* VANISHED 2
* 2 RECENT
a22 OK [HIGHESTMODSEQ 9] Move completed.
* OK [CLOSED] Previous mailbox closed.
* FLAGS (\Answered \Flagged \Deleted \Seen \Draft $Label)
* OK [PERMANENTFLAGS (\Answered \Flagged \Deleted \Seen \Draft $Label \*)] Flags permitted.
* 2 EXISTS
* 2 RECENT
* OK [UNSEEN 1] First unseen.
* OK [UIDVALIDITY 1795205818] UIDs valid
* OK [UIDNEXT 3] Predicted next UID
* OK [HIGHESTMODSEQ 4] Highest
a23 OK [READ-WRITE] Select completed.
a24 BAD Error in IMAP command FOO: Unknown command.
a25 NO [NONEXISTENT] Mailbox doesn't exist: Nope.
* OK [CLOSED] Previous mailbox closed.
* FLAGS (\Answered \Flagged \Deleted \Seen \Draft $Label)
* OK [PERMANENTFLAGS (\Answered \Flagged \Deleted \Seen \Draft $Label \*)] Flags permitted.
* 2 EXISTS
* 0 RECENT
* OK [UNSEEN 1] First unseen.
* OK [UIDVALIDITY 1795205817] UIDs valid
* OK [UIDNEXT 5] Predicted next UID
* OK [HIGHESTMODSEQ 9] Highest
a26 OK [READ-WRITE] Select completed.
* BYE Logging out
a27 OK Logout completed.
)--";

inline std::string with_crlf(std::string_view lines) {
    std::string text;
    for (const char c : lines) {
        if (c == '\n') text += '\r';
        text += c;
    }
    return text;
}

}  // namespace postal::proto::test
