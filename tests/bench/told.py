#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a million announcements make one false missed notification: what tests/books/test_told_late.py does, a thousand
times as large. Each message is told to 50 sessions of its mailbox (support/telling.py), half of them in IDLE and half by
NOTIFY, at different times; one more session is behind a proxy that keeps all to itself, and has missed every one of its
mailbox's messages. Fails where any other is named, or one of these is not. Takes some minutes, and two processors.

    told.py [--accounts 20] [--sessions 50] [--messages 1000] [--rate 10]

Programs come from $POSTAL_BIN or build/release/bin. All traffic stays on 127.0.0.1.
"""
import argparse
import os
import pathlib
import sys
import tempfile
import time
import types

HERE = pathlib.Path(__file__).resolve()
sys.path[:0] = [str(HERE.parents[1])]

from support.telling import account_of, check_account  # noqa: E402

BIN = pathlib.Path(os.environ.get("POSTAL_BIN", HERE.parents[2] / "build/release/bin"))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--accounts", type=int, default=20)
    parser.add_argument("--sessions", type=int, default=50, help="of each account")
    parser.add_argument("--messages", type=int, default=1000, help="for each account")
    parser.add_argument("--rate", type=int, default=10, help="messages a second for each account")
    args = parser.parse_args()
    programs = types.SimpleNamespace(**{name.replace("-", "_"): BIN / name for name in ("postal", "rabid", "postal-report")})
    size = {"accounts": args.accounts, "sessions": args.sessions, "messages": args.messages}
    begun = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        told = account_of(programs, pathlib.Path(folder), rate=args.rate, timeout=600, **size)
    print(f"{told['told']} announcements in {time.monotonic() - begun:.0f} s; {len(told['missed'])} missed notifications, "
          f"{args.messages} of them swallowed; announced p99 {told['announced_p99_us'] / 1e6:.2f} s")
    check_account(told, **size)


if __name__ == "__main__":
    main()
