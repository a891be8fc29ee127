# SPDX-License-Identifier: GPL-3.0-or-later
"""--account-weights: the first accounts of a list get most of the mail, send most of it, and are visited most."""
import re
import sqlite3

from conftest import login_names, user_names


def test_the_first_ones_get_most(bhm, postal, users_file, folder):
    hole = bhm()
    book = folder / "sent.ledger"
    sent = postal("-t", "4", "-c", "-1", "-m", "1", "--messages", "2000", "--seed", "3", "--recipients", "1..2", "--account-weights", "zipf:1.1",
                  "--ledger", book, hole.endpoint, users_file(20))
    assert sent.record["options"]["account-weights"] == "zipf:1.1"
    names = user_names(20)
    with sqlite3.connect(f"file:{book}?mode=ro", uri=True) as ledger:
        for what in ("recipient", "sender"):
            counts = dict(ledger.execute(f"SELECT {what}, COUNT(*) FROM sent_messages GROUP BY {what}"))
            assert counts.keys() == set(names)
            assert counts[names[0]] > 2 * counts[names[4]] > 4 * counts[names[19]]
        assert sum(counts.values()) == sent.total("recipients") == hole.stop().record["totals"]["recipients"]


def test_the_first_ones_are_visited_most(dovecot, rabid, users_file):
    """By one session: two would leave out the account that the other one is in, all the more often where visits take long."""
    server = dovecot(6, reading=True)
    read = rabid("-p", "1", "-i", "100", "-d", "100:0", "--connections", "120", "--seed", "3", "--account-weights", "zipf:1.5",
                 "--imap", server.imap, server.pop3, users_file(login_names(server.users)))
    assert read.total("imap_connections") == 120 and read.record["errors"] == []
    visits = [len(re.findall(rf"Login: user=<{re.escape(user)}>", server.log)) for user in server.users]
    assert sum(visits) == 120 and visits[0] > 2 * visits[2] and min(visits) > 0
