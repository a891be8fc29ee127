# SPDX-License-Identifier: GPL-3.0-or-later
"""Sessions that share mailboxes and are told of each message at different times, up to eight seconds late: nobody has missed
any but the one that is told nothing. tests/bench/told.py does so with a million announcements."""
from support.telling import account_of, check_account

SIZE = {"accounts": 2, "sessions": 10, "messages": 50}


def test_a_thousand_announcements(programs, folder):
    check_account(account_of(programs, folder, rate=10, **SIZE), **SIZE)
