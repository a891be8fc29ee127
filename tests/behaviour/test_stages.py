# SPDX-License-Identifier: GPL-3.0-or-later
"""What a rule does at each stage, as a client meets it and as bhm's record has it: every stage with every action."""
import pytest

from support.behaviours import ended, errors, outcomes, rule
from support.process import wait_until
from support.scripted import PASSWORD, SILENCE, USER, Scripted
from support.tls_peers import client_context

DELAY = 0.15
REPLIES = {"4xx": (451, "451 4.3.0 Not now"), "5xx": (554, "554 5.7.1 Not for you"), "421": (421, "421 4.7.0 Too much")}
ENDS = {"fin": "closed", "rst": "reset", "silence": "silence"}  # how the client calls it, and the record
ACTIONS = (*REPLIES, "delay", *ENDS)
STAGES = ("connect", "banner", "ehlo", "starttls", "auth", "mail", "rcpt", "data", "chunk", "end", "rset", "quit")
# In the record.
STAGE_NAMES = {"starttls": "tls", "chunk": "data"}
USUAL = {"connect": 220, "banner": 220, "starttls": 220, "auth": 235, "data": 354, "quit": 221}  # elsewhere 250
IMPOSSIBLE = {("connect", "4xx"), ("connect", "5xx"), ("connect", "421"), ("banner", "4xx"), ("rset", "4xx"), ("quit", "4xx")}
CASES = [(stage, action, way) for stage in STAGES for action in ACTIONS if (stage, action) not in IMPOSSIBLE
         for way in (("DATA", "BDAT") if stage == "end" else ("BDAT",) if stage == "chunk" else ("DATA",))]


def what(action):
    """As the file says it."""
    if action in REPLIES:
        return f'reply = "{REPLIES[action][1]}"'
    return f'delay = "{DELAY * 1000:.0f}ms"' if action == "delay" else f'close = "{action}"'


def options_for(stage, users_file):
    """Of a bhm in which a client can come to this stage."""
    if stage == "auth":
        return "--auth", "PLAIN", "--auth-insecure", users_file([f"{USER} {PASSWORD}"])
    return ("-s",) if stage == "starttls" else ()


def fate(stage, action):
    """What becomes of the message that the client has come to send."""
    if action == "delay" or stage in ("rset", "quit"):
        return ended(messages=1)
    if stage in STAGES[:STAGES.index("mail")]:
        return ended(0)
    if action in REPLIES:
        return ended(rejected=1) if action == "5xx" else ended(deferred=1)
    return ended(in_doubt=1) if stage == "end" else ended(failed=1)


def check_errors(record, stage, action, units=1):
    """One for each refusal or close; of a close with the rule's name."""
    name = STAGE_NAMES.get(stage, stage)
    if action in REPLIES:
        assert errors(record) == [(name, REPLIES[action][0], units)]
    elif action in ENDS:
        assert errors(record) == [(name, ENDS[action], 1)]
        assert "the rule" in record["errors"][0]["sample"]
    else:
        assert not record["errors"]


def check_end(client, action):
    """What comes behind the action."""
    if action == "silence":
        assert client.hear(SILENCE).end == "silence"
    else:
        assert client.hear().end == ("rst" if action == "rst" else "fin")


@pytest.mark.thinned(4)
@pytest.mark.parametrize("stage, action, way", CASES, ids=["-".join(case) for case in CASES])
def test_action(behaving, users_file, stage, action, way):
    hole = behaving(rule(stage, what(action)), *options_for(stage, users_file))
    with Scripted(("127.0.0.1", hole.port), chunked=way == "BDAT") as client:
        client.reach(stage)
        heard = client.meet(stage, SILENCE if action == "silence" else None)
        if action in ENDS:
            assert heard.end == action and not heard.text
        elif action == "delay":
            assert heard.code == USUAL.get(stage, 250) and heard.seconds >= 0.95 * DELAY
            client.go_on(stage, tls=client_context())
        else:
            assert heard.text == REPLIES[action][1] + "\r\n"
            if action == "421" or stage == "quit":
                check_end(client, "fin")
            else:
                client.leave()
    record = hole.stop().record
    assert outcomes(record) == fate(stage, action)
    check_errors(record, stage, action)


@pytest.mark.thinned(4)
@pytest.mark.parametrize("stage, way", [(stage, way) for stage, action, way in CASES if action == "fin" and stage != "connect"])
@pytest.mark.parametrize("end", ENDS)
def test_reply_and_close(behaving, users_file, stage, way, end):
    """The connection ends behind the reply: one error, the refusal, and the reply says what became of the message."""
    action = "5xx" if stage in ("banner", "rset", "quit") else "4xx"
    hole = behaving(rule(stage, f"{what(action)}\n{what(end)}"), *options_for(stage, users_file))
    with Scripted(("127.0.0.1", hole.port), chunked=way == "BDAT") as client:
        client.reach(stage)
        heard = client.meet(stage)
        if heard.end != end or end != "rst":  # a reset may overtake what was said before it
            assert heard.text == REPLIES[action][1] + "\r\n"
            check_end(client, end)
    record = hole.stop().record
    assert outcomes(record) == fate(stage, action)
    name = STAGE_NAMES.get(stage, stage)
    assert errors(record) == [(name, REPLIES[action][0], 1)]


@pytest.mark.parametrize("stage, text", [("mail", "250 2.1.0 Let us see"), ("rcpt", "251 2.1.5 Will forward"),
                                         ("end", "250 2.0.0 Ok: queued as 4ZK9"), ("quit", "221 2.0.0 Farewell")])
def test_a_text_of_its_own(behaving, stage, text):
    """A good reply stays one."""
    hole = behaving(rule(stage, f'reply = "{text}"'))
    with Scripted(("127.0.0.1", hole.port)) as client:
        client.reach(stage)
        assert client.meet(stage).text == text + "\r\n"
        client.go_on(stage)
    record = hole.stop().record
    assert outcomes(record) == ended(messages=1) and not record["errors"]


def pipelined_answers(stage, action):
    """To MAIL, RCPT and DATA in one breath, up to the end; RFC 2920 3.1."""
    place = ("mail", "rcpt", "data").index(stage)
    taken = [220, 250, *[250, 250][:place]]
    if action == "delay":
        return [220, 250, 250, 250, 354, 250, 221, "fin"]
    if action in ENDS:
        return [*taken, action]
    if action == "421":
        return [*taken, 421, "fin"]
    behind = {"mail": [503, 503], "rcpt": [554], "data": []}[stage]
    return [*taken, REPLIES[action][0], *behind, 221, "fin"]


@pytest.mark.thinned(4)
@pytest.mark.parametrize("stage", ["mail", "rcpt", "data"])
@pytest.mark.parametrize("action", ACTIONS)
def test_pipelined(behaving, stage, action):
    """Replies come in the order of their commands, also of those that wait behind a delay; nothing is answered behind a close."""
    hole = behaving(rule(stage, what(action)))
    with Scripted(("127.0.0.1", hole.port)) as client:
        answers = pipelined_answers(stage, action)
        assert client.converse(pipelined=True, answers=len(answers) - 1) == answers
    record = hole.stop().record
    assert outcomes(record) == fate(stage, action)
    check_errors(record, stage, action)


@pytest.mark.parametrize("action", ACTIONS)
def test_the_next_transaction_behind_the_content(behaving, action):
    """A client that overlaps two: what happens at the end of the first takes the second along only where the connection ends."""
    hole = behaving(rule("end", what(action), "message = 1"))
    lasts = action in ("4xx", "5xx", "delay")
    with Scripted(("127.0.0.1", hole.port)) as client:
        client.reach("end")
        client.write(client.words("end") + client.words("mail") + client.words("rcpt") + client.words("data"))
        heard = client.hear(SILENCE if action == "silence" else None)
        assert heard.what == (REPLIES[action][0] if action in REPLIES else 250 if action == "delay" else action)
        if lasts:
            assert client.replies(3) == [250, 250, 354]
            assert client.meet("end").code == 250
            client.leave()
        elif action == "421":
            check_end(client, "fin")
    record = hole.stop().record
    first = fate("end", action)
    assert outcomes(record) == ({**first, "started": 2, "messages": first.get("messages", 0) + 1} if lasts else first)
    check_errors(record, "end", action)


# stage and action of the rule, whom it is about, what a client with two recipients hears from MAIL on, and the books.
SECOND = 'recipient = "user1@*"'
LMTP = {
    "mail 4xx": ("mail", "4xx", "", [451, 221, "fin"], ended(deferred=1), 1),
    "rcpt 4xx": ("rcpt", "4xx", "", [250, 451, 451, 221, "fin"], ended(2, deferred=2), 2),
    "rcpt 5xx of one": ("rcpt", "5xx", SECOND, [250, 250, 554, 354, 250, 221, "fin"], ended(2, messages=1, rejected=1), 1),
    "rcpt 421 of one": ("rcpt", "421", SECOND, [250, 250, 421, "fin"], ended(2, deferred=2), 1),
    "rcpt fin of one": ("rcpt", "fin", SECOND, [250, 250, "fin"], ended(2, failed=2), 1),
    "data 4xx": ("data", "4xx", "", [250, 250, 250, 451, 221, "fin"], ended(2, deferred=2), 1),
    "data rst": ("data", "rst", "", [250, 250, 250, "rst"], ended(2, failed=2), 1),
    "end 4xx": ("end", "4xx", "", [250, 250, 250, 354, 451, 451, 221, "fin"], ended(2, deferred=2), 2),
    "end 4xx of the first": ("end", "4xx", 'recipient = "user0@*"', [250, 250, 250, 354, 451, 250, 221, "fin"],
                             ended(2, messages=1, deferred=1), 1),
    "end 5xx of the second": ("end", "5xx", SECOND, [250, 250, 250, 354, 250, 554, 221, "fin"],
                              ended(2, messages=1, rejected=1), 1),
    "end 421": ("end", "421", "", [250, 250, 250, 354, 421, 421, "fin"], ended(2, deferred=2), 2),
    "end delay": ("end", "delay", "", [250, 250, 250, 354, 250, 250, 221, "fin"], ended(2, messages=2), 0),
    "end fin": ("end", "fin", "", [250, 250, 250, 354, "fin"], ended(2, in_doubt=2), 1),
    "end rst": ("end", "rst", "", [250, 250, 250, 354, "rst"], ended(2, in_doubt=2), 1),
    "end fin of the second": ("end", "fin", SECOND, [250, 250, 250, 354, 250, "fin"], ended(2, messages=1, in_doubt=1), 1),
}


@pytest.mark.thinned(4)
@pytest.mark.parametrize("case, chunked", [pytest.param(case, chunked, id=f"{'BDAT' if chunked else 'DATA'}-{case}") for chunked in (False, True)
                                           for case in LMTP if not (chunked and LMTP[case][0] == "data")])
def test_lmtp(behaving, case, chunked):
    """A recipient is what can be refused or lost."""
    stage, action, whom, answers, books, count = LMTP[case]
    hole = behaving(rule(stage, what(action), whom), "--lmtp")
    with Scripted(("127.0.0.1", hole.port), lmtp=True, chunked=chunked) as client:
        assert client.converse(recipients=2) == [220, 250, *(code for code in answers if not chunked or code != 354)]
    record = hole.stop().record
    assert outcomes(record) == books
    check_errors(record, stage, action, count)


def test_some_recipients_refused(behaving):
    """Over SMTP the message goes to those that are left."""
    hole = behaving(rule("rcpt", what("4xx"), SECOND))
    with Scripted(("127.0.0.1", hole.port)) as client:
        assert client.converse(recipients=3) == [220, 250, 250, 250, 451, 250, 354, 250, 221, "fin"]
    record = hole.stop().record
    assert outcomes(record) == ended(messages=1) and record["totals"]["recipients"] == 2
    check_errors(record, "rcpt", "4xx")


def test_silence_until_the_time_is_over(behaving):
    """What is said is thrown away, and the connection ends without a word when its client would have been sent away."""
    hole = behaving(rule("mail", what("silence")), "--timeout", "1s")
    with Scripted(("127.0.0.1", hole.port)) as client:
        client.reach("mail")
        client.write(client.words("mail"))
        client.write(b"NOOP\r\n" * 100_000)
        heard = client.hear()
        assert heard.end in ("fin", "rst") and not heard.text
    record = hole.stop().record
    assert outcomes(record) == ended(failed=1)
    check_errors(record, "mail", "silence")


def test_a_client_that_leaves_a_silence_leaves_nothing_behind(behaving):
    hole = behaving(rule("mail", what("silence")))
    for leaving in ("close", "reset"):
        client = Scripted(("127.0.0.1", hole.port))
        client.reach("mail")
        assert client.meet("mail", SILENCE).end == "silence"
        getattr(client, leaving)()
    record = hole.stop().record
    assert outcomes(record) == ended(2, failed=2)
    assert errors(record) == [("mail", "silence", 2)]


@pytest.mark.parametrize("way", ["rule", "--speed"])
def test_content_is_read_slowly(behaving, bhm, way):
    """20 KiB at 16 KiB a second, from a stage on, or all of every session."""
    hole = behaving(rule("data", 'read = "16K"')) if way == "rule" else bhm("--speed", "16K")
    with Scripted(("127.0.0.1", hole.port)) as client:
        client.content = b"Subject: x\r\n\r\n" + b"0123456789\r\n" * 1707
        client.reach("end")
        heard = client.meet("end")
        assert heard.code == 250 and heard.seconds > 0.8 * len(client.content) / (16 << 10)
        client.leave()
    assert outcomes(hole.stop().record) == ended(messages=1)


@pytest.mark.parametrize("window", ['window = "4K"', None], ids=["small", "usual"])
def test_a_small_window(behaving, window):
    """What bhm does not read yet fills its window, and the rest waits at the client."""
    hole = behaving((rule("connect", window, name="the window") if window else "") + rule("data", 'read = "1K"'), "--grace", "0s")
    with Scripted(("127.0.0.1", hole.port)) as client:
        client.reach("end")
        client.socket.setblocking(False)
        sent = client.socket.send(b"x" * 60_000)
        assert sent > 50_000, "the client's own buffer takes it"
        if window:
            wait_until(lambda: client.window() == 0, lambda: f"a full window: {client.window()} octets are left")
            assert client.unsent() > 10_000
        else:
            wait_until(lambda: client.unsent() == 0, lambda: f"room: {client.unsent()} octets wait")
