# SPDX-License-Identifier: GPL-3.0-or-later
"""postal-list: what it prints, where it stops, and that the other programs read it. What is expected of conversions is what
the postal-list of postal 0.76 printed for the same files."""
import itertools
import subprocess

import pytest

from support.postal import refused, run

USERS = "abc@example.com\nxyz secret\nabcdef - d\n"


@pytest.fixture
def files(folder):
    """files(users, conversions) -> their paths."""
    def write(users, conversions):
        paths = folder / "users.txt", folder / "conversions.txt"
        for path, text in zip(paths, (users, conversions)):
            path.write_text(text)
        return paths
    return write


@pytest.mark.parametrize("users, conversions, printed", [
    ("abc@example.com\n", "^a .[0-2a][xy]", [f"a{a}{b}@example.com" for a in "012a" for b in "xy"]),
    ("abcdef@example.com secret d\n", "^a .[0-2]", [f"a{a}cdef@example.com secret d" for a in "012"]),
    ("abcdef\n", "@example .[01]", []),
    ("abcdef@example.com\n", "@example .[01]", ["a0cdef@example.com", "a1cdef@example.com"]),
    ("abcdef\n", "^(ab|xx) .[01]", []),
    ("abcdef\nb\n", "^a .[12]\nb [xy]\n.* .", ["a1cdef", "a2cdef", "x", "y"]),
])
def test_conversions(programs, files, users, conversions, printed):
    done = run([programs.postal_list, *files(users, conversions)])
    assert (done.status, done.stdout.splitlines()) == (0, printed)


def test_a_line_says_who_is_left_out(programs, files):
    users, conversions = files(USERS, "# comment\n^a .[01]\n")
    done = run([programs.postal_list, users, conversions])
    assert done.status == 0
    assert done.stdout.splitlines() == ["a0c@example.com", "a1c@example.com", "a0cdef - d", "a1cdef - d"]
    assert done.stderr == f"postal-list: 1 of 3 addresses left out: no regular expression of {conversions} is found in them\n"


def test_a_pattern(programs):
    done = run([programs.postal_list, "--pattern", "user[0000-9999]@example.com", "--password", "pw-%number%-%user%"])
    assert (done.status, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [f"user{n:04}@example.com pw-{n + 1}-user{n:04}" for n in range(10000)]


def test_a_list_is_what_the_others_read(programs, folder, bhm, postal):
    """Each of a thousand users gets one message."""
    users = folder / "users.txt"
    users.write_text(run([programs.postal_list, "--pattern", "u[1-1000]@example.com", "--password", "%address%"]).stdout)
    hole = bhm(users)
    sent = postal("--messages", "1000", "-c", "-1", "-m", "1", hole.endpoint, users)
    assert sent.total("messages") == 1000 and sent.total("rejected") == 0


@pytest.mark.parametrize("words, said", [
    ((), "USER-LIST is missing; give it and CONVERSION-FILE, or --pattern"),
    (("users.txt",), "CONVERSION-FILE is missing; give it behind USER-LIST"),
    (("--pattern", "a[0-9]", "users.txt"), "--pattern: is in place of USER-LIST; leave one of them out"),
    (("--password", "x", "users.txt", "c.txt"), "--password: is for the addresses of --pattern; give that too"),
    (("--pattern", "a[9-0]"), "--pattern: column 3: 9-0 goes down; write the lower one first"),
    (("--pattern", "a[0-9]", "--password", "%n%"), "--password: column 1: placeholder %n% is unknown; "),
    (("--pattern", "a@b@[xy]"), "--pattern: address \"a@b@x\" has more than one @"),
    (("missing.txt", "c.txt"), "missing.txt: "),
])
def test_one_line_for_what_is_wrong(programs, words, said):
    done = run([programs.postal_list, *words])
    refused(done, said, program="postal-list")


def test_nothing_is_printed_before_all_files_are_read(programs, files):
    users, conversions = files("abcdef\nab\n", "^a .[01][01]\n")
    done = run([programs.postal_list, users, conversions])
    refused(done, f'{users}:2: "ab" has 2 octets, and the replacement at {conversions}:1 is for 3; write a shorter one',
            program="postal-list")


def test_a_reader_that_has_seen_enough(programs):
    """A pattern for 10^18 addresses ends with its pipe, not when all are made."""
    with subprocess.Popen([programs.postal_list, "--pattern", "u[1-1000000000]x[1-1000000000]"], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True) as endless:
        assert list(itertools.islice(endless.stdout, 2)) == ["u1x1\n", "u1x2\n"]
        endless.stdout.close()
        assert endless.wait(timeout=30) == 2
        assert endless.stderr.read() == ""
