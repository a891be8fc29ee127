# SPDX-License-Identifier: GPL-3.0-or-later
"""An IMAP server that keeps what is appended, in memory, and has one fault at APPEND or beside it.

    with KeepingImap(fault="close_within", times=2) as server:    # the first two APPENDs break off in the middle
        rabid("--populate", …, "--imap", server.endpoint, …)

Every user may log in; `boxes[user][name]` has (uid, octets, flags, date) in order. `appends` are the commands' answers as (messages,
word). Faults, each committed `times` times (None: always):
  refuse, bad          NO, BAD to APPEND          try_create     NO [TRYCREATE]; the mailbox is gone until CREATE
  over_quota           NO [OVERQUOTA] from `room` messages on
  refuse_several       NO to a command of several messages
  close_within         the connection ends in the middle of the last literal; nothing is kept
  bye_within           the same with BYE
  half_kept            half of the command's messages are kept, and the connection ends without an answer
  kept_and_gone        all are kept, and the connection ends without an answer
  no_go_ahead          no continuation comes (without LITERAL+)
  wrong_uids           APPENDUID of another UIDVALIDITY
  forgets              OK, and nothing is kept
  doubles              OK, and each is kept twice
  shrinks              SELECT tells of two messages more than there are, and then of fewer
  anew                 the mailbox is made anew after the first APPEND: another UIDVALIDITY, and what there was is gone
  changes              OK, and an octet of each body is another
  other_flags          OK, and flags are lost; other_dates: INTERNALDATE is when it came
  no_keywords          PERMANENTFLAGS without keywords, and none is kept
  early_ok             OK in place of the first continuation (without LITERAL+); nothing is kept
  close_in_fetch       the connection ends in the middle of FETCH of whole messages, of the mailbox that has "Archive" in its name
  withholds            OK to FETCH of whole messages, and none
  gives_another        FETCH of whole messages gives each the body of the one before it
  lists_short          FETCH of identities leaves the last message out
  expunges             FETCH of identities tells at its end that the first message has gone, though it has not
  no_select            NO to SELECT of the mailbox that has "Archive" in its name
  floods               FETCH of identities tells of the first message without an end
"""
import asyncio
import re

from .served import Served

LITERAL = re.compile(rb"\{(\d+)(\+?)\}$")


class KeepingImap(Served):
    def __init__(self, *, fault="", times=None, multi=True, plus=True, room=50, delimiter="/", prefix=""):
        self.fault, self.times, self.multi, self.plus, self.room = fault, times, multi, plus, room
        self.delimiter, self.prefix = delimiter, prefix  # delimiter: "" for NIL, None: NAMESPACE has none, and LIST "/"
        self.boxes = {}
        self.validity = {}
        self.appends = []
        self.committed = 0
        self.uid = 100
        super().__init__()

    def due(self, *names):
        if self.fault not in names or (self.times is not None and self.committed >= self.times):
            return False
        self.committed += 1
        return True

    async def converse(self, reader, writer):
        try:
            await Session(self, reader, writer).run()
        except (asyncio.IncompleteReadError, ConnectionError, EOFError):
            pass


class Session:
    def __init__(self, server, reader, writer):
        self.server, self.reader, self.writer = server, reader, writer
        self.user = self.selected = None

    async def say(self, text):
        self.writer.write(text)
        await self.writer.drain()

    async def run(self):
        words = [b"IMAP4rev1 UIDPLUS NAMESPACE"] + [b"LITERAL+"] * self.server.plus + [b"MULTIAPPEND"] * self.server.multi
        self.offered = b"* CAPABILITY " + b" ".join(words) + b"\r\n"
        await self.say(b"* OK here\r\n")
        while True:
            line = await self.reader.readline()
            if not line.endswith(b"\n"):
                return
            tag, _, rest = line.rstrip(b"\r\n").partition(b" ")
            verb, _, rest = rest.partition(b" ")
            if verb == b"LOGOUT":
                return await self.say(b"* BYE\r\n" + tag + b" OK\r\n")
            if verb == b"APPEND":
                await self.append(tag, rest)
            else:
                answer = await getattr(self, verb.decode().lower())(rest)
                head, _, tail = answer.rpartition(b"TAG")
                await self.say(head + tag + tail)

    async def capability(self, _):
        return self.offered + b"TAG OK done\r\n"

    async def login(self, rest):
        self.user = rest.split()[0].strip(b'"').decode()
        self.server.boxes.setdefault(self.user, {}).setdefault("INBOX", [])
        return b"TAG OK in\r\n"

    async def namespace(self, _):
        delimiter = b'"%s"' % self.server.delimiter.encode() if self.server.delimiter else b"NIL"
        return b'* NAMESPACE (("%s" %s)) NIL NIL\r\nTAG OK\r\n' % (self.server.prefix.encode(), delimiter)

    async def list(self, _):
        delimiter = b"NIL" if self.server.delimiter == "" else b'"%s"' % (self.server.delimiter or "/").encode()
        return b'* LIST (\\Noselect) %s ""\r\nTAG OK\r\n' % delimiter

    @property
    def mine(self):
        return self.server.boxes[self.user]

    async def create(self, rest):
        name = rest.strip(b'"').decode()
        if name in self.mine:
            return b"TAG NO [ALREADYEXISTS] there\r\n"
        self.mine[name] = []
        return b"TAG OK made\r\n"

    async def select(self, rest):
        self.selected = rest.strip(b'"').decode()
        if self.selected not in self.mine or ("Archive" in self.selected and self.server.due("no_select")):
            return b"TAG NO no such mailbox\r\n"
        box = self.mine[self.selected]
        validity = self.server.validity.setdefault((self.user, self.selected), 7)
        more = 2 if self.server.due("shrinks") else 0
        permanent = b"* OK [PERMANENTFLAGS (\\Seen \\Answered \\Flagged \\Deleted \\Draft)] x\r\n" * (self.server.fault == "no_keywords")
        return b"* %d EXISTS\r\n* 0 RECENT\r\n* FLAGS (\\Seen)\r\n%s* OK [UIDVALIDITY %d]\r\nTAG OK [READ-WRITE]\r\n" % (
            len(box) + more, permanent, validity)

    async def fetch(self, rest):
        numbers = []
        for part in rest.split(b" ")[0].split(b","):
            first, _, last = part.partition(b":")
            numbers += range(int(first), int(last or first) + 1)
        answer = b""
        box = self.mine[self.selected]
        server, identities = self.server, b"HEADER.FIELDS" in rest
        if not identities and server.due("withholds"):
            return b"TAG OK done\r\n"
        if identities and box and server.due("lists_short"):
            numbers.remove(len(box))
        breaks = not identities and "Archive" in self.selected and server.due("close_in_fetch")
        for number in numbers:
            if number > len(box):
                continue
            uid, text, flags, date = box[number - 1]
            if not identities and server.fault == "gives_another":
                text = box[number - 2][1]
            beside = b"FLAGS (%s) INTERNALDATE %s RFC822.SIZE %d" % (flags, date, len(text))
            if identities:
                head = text.partition(b"\r\n\r\n")[0] + b"\r\n"
                field = re.search(rb"^X-Postal-Id:(?:.*\r\n)(?:[ \t].*\r\n)*", head, re.M)
                name, text = b"BODY[HEADER.FIELDS (X-POSTAL-ID)]", (field[0] if field else b"") + b"\r\n"
            else:
                name = b"BODY[]"
            answer += b"* %d FETCH (UID %d %s %s {%d}\r\n" % (number, uid, beside, name, len(text)) + text + b")\r\n"
            if identities and server.due("floods"):
                while True:
                    await self.say(answer * 1000)
        if breaks:
            await self.say(answer[:len(answer) // 2])
            raise EOFError
        if identities and box and server.due("expunges"):
            answer += b"* 1 EXPUNGE\r\n"
        return answer + b"TAG OK done\r\n"

    async def append(self, tag, rest):
        server = self.server
        name = rest.split(b" ")[0].strip(b'"').decode()
        box = self.mine.get(name)
        texts, marks = [], []
        broken = server.due("close_within", "bye_within")
        while True:
            literal = LITERAL.search(rest)
            if not literal:
                break
            if not literal[2]:
                if server.due("no_go_ahead"):
                    await asyncio.sleep(3600)
                if server.due("early_ok"):
                    return await self.say(tag + b" OK done\r\n")
                await self.say(b"+ go\r\n")
            size = int(literal[1])
            if broken:
                await self.reader.readexactly(size // 2)
                if server.fault == "bye_within":
                    await self.say(b"* BYE enough\r\n")
                raise EOFError
            texts.append(await self.reader.readexactly(size))
            marks.append(self.marks_of(rest[:literal.start()]))
            rest = (await self.reader.readline()).rstrip(b"\r\n")
        await self.keep(tag, name, box, texts, marks)

    def marks_of(self, said):
        """Flags and INTERNALDATE of what stands before a literal."""
        flags, date = re.search(rb"\(([^()]*)\) ?(?=[^()]*$)", said), re.search(rb'"[^"]{26}"', said)
        kept = flags[1] if flags else b""
        if self.server.due("other_flags"):
            kept = b""
        if self.server.fault == "no_keywords":
            kept = b" ".join(flag for flag in kept.split() if flag.startswith(b"\\"))
        return kept, b'"27-Nov-2026 09:00:00 +0000"' if self.server.due("other_dates") else date[0]

    async def keep(self, tag, name, box, texts, marks):
        server = self.server

        async def answer(word, code=b""):
            server.appends.append((len(texts), word))
            await self.say(tag + b" " + word.encode() + b" " + code + b"done\r\n")
        if server.due("try_create"):
            self.mine.pop(name, None)
            return await answer("NO", b"[TRYCREATE] ")
        if box is None:
            return await answer("NO", b"[TRYCREATE] ")
        if server.due("refuse") or (len(texts) > 1 and server.due("refuse_several")):
            return await answer("NO")
        if server.due("bad"):
            return await answer("BAD")
        if server.fault == "over_quota" and sum(map(len, self.mine.values())) + len(texts) > server.room:
            return await answer("NO", b"[OVERQUOTA] ")
        kept = list(zip(texts, marks))
        if server.due("half_kept"):
            kept, gone = kept[:(len(texts) + 1) // 2], True
        else:
            gone = server.due("kept_and_gone")
        if server.due("forgets"):
            kept = []
        if server.due("doubles"):
            kept = [one for one in kept for _ in range(2)]
        if server.due("changes"):
            kept = [(text[:-3] + bytes([text[-3] ^ 1]) + text[-2:], marked) for text, marked in kept]
        for text, (flags, date) in kept:
            server.uid += 1
            box.append((server.uid, text, flags, date))
        if gone:
            raise EOFError
        validity = server.validity.setdefault((self.user, name), 7)
        if server.due("wrong_uids"):
            validity += 1
        if server.due("anew"):
            server.validity[self.user, name] = validity + 1
            box.clear()
        uids = b"%d:%d" % (server.uid - len(texts) + 1, server.uid) if len(texts) > 1 else b"%d" % server.uid
        await answer("OK", b"[APPENDUID %d %s] " % (validity, uids))
