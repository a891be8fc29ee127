# SPDX-License-Identifier: GPL-3.0-or-later
"""Load belongs to test machines: a server that is neither loopback nor private must be named as one's own."""
import os
import subprocess

import pytest

from support.postal import refused, run

PUBLIC = "203.0.113.7:25"


def test_public_servers_are_refused_with_the_way_out(programs, users_file):
    postal = [programs.postal, "--messages", "1"]
    rabid = [programs.rabid, "--connections", "1"]
    users = users_file(["a@example.com password"])
    for server, host in ((PUBLIC, "203.0.113.7"), ("[2001:db8::7]:25", "2001:db8::7"), ("127.0.0.1:1,203.0.113.7", "203.0.113.7"),
                         ("+203.0.113.7", "203.0.113.7"), ("100.64.0.1", "100.64.0.1")):
        for words, program in ((postal, "postal"), (rabid, "rabid")):
            refused(run([*words, server, users], timeout=20), "SERVER", "neither loopback nor private", "test machines",
                    f"--target-is-mine {host}", program=program)
    refused(run([*rabid, "--imap", PUBLIC, "127.0.0.1:1", users], timeout=20), "--imap", "--target-is-mine 203.0.113.7", program="rabid")


@pytest.mark.parametrize("mine", [["203.0.113.7"], ["192.0.2.0/24", "203.0.113.0/24"]], ids=["address", "ranges"])
def test_what_is_named_is_allowed(programs, users_file, mine):
    """--dry-run resolves and judges, and connects to nobody."""
    words = [word for one in mine for word in ("--target-is-mine", one)]
    for program in (programs.postal, programs.rabid):
        done = run([program, "--dry-run", *words, PUBLIC, users_file(["a@example.com password"])], timeout=20)
        assert done.status == 0, done.stderr
        assert "203.0.113.7" in done.stdout


def test_the_configuration_file_names_them_too(programs, folder, users_file):
    config = folder / "site.toml"
    words = ["--dry-run", "--config", config, PUBLIC, users_file(2)]
    for key in ("allow-targets", "target-is-mine"):
        config.write_text(f'{key} = ["192.0.2.1", "203.0.113.7"]\n')
        assert run([programs.postal, *words], timeout=20).status == 0
        config.write_text(f'{key} = "192.0.2.1"\n')
        refused(run([programs.postal, *words], timeout=20), "203.0.113.7")
    config.write_text('allow-targets = ["mail:25"]\n')
    refused(run([programs.postal, *words], timeout=20), f"{config}:1: allow-targets", "mail:25", "without a port")
    config.write_text('target-is-mine = "192.0.2.1"\nallow-targets = "203.0.113.7"\n')
    refused(run([programs.postal, *words], timeout=20), f"{config}:2: allow-targets", "another name of target-is-mine")
    # The command line's list takes the place of the file's.
    config.write_text('allow-targets = "203.0.113.7"\n')
    refused(run([programs.postal, "--target-is-mine", "192.0.2.1", *words], timeout=20), "203.0.113.7")


def test_the_relay_of_bounces_counts_too(programs, users_file):
    users = users_file(["a@example.com password b"])
    words = [programs.bhm, "--listen", "127.0.0.1:0", "--duration", "1ms"]
    refused(run([*words, "--bounce-via", PUBLIC, users], timeout=20), "--bounce-via", "--target-is-mine 203.0.113.7", program="bhm")
    refused(run([*words, "--target-is-mine", "203.0.113.7"], timeout=20), "--target-is-mine", "--bounce-via", program="bhm")
    assert run([*words, "--bounce-via", PUBLIC, "--target-is-mine", "203.0.113.7", users], timeout=20).status == 0


@pytest.mark.skipif(os.geteuid() != 0, reason="a mount namespace needs root")
def test_a_name_counts_by_every_address(programs, folder, users_file):
    hosts = folder / "hosts"
    hosts.write_text("127.0.0.1 localhost mine.test both.test\n198.51.100.7 both.test\n")
    users = users_file(2)

    def within(*words):
        script = 'mount --bind "$0" /etc/hosts && exec "$@"'
        return subprocess.run(["unshare", "--mount", "sh", "-c", script, hosts, programs.postal, "--dry-run", "--resolve", *words, users],
                              capture_output=True, text=True, timeout=60, check=False)
    if within("mine.test").returncode != 0:
        pytest.skip("no mount namespaces here")
    for server in ("both.test", "+both.test:2525"):
        said = within(server)
        assert said.returncode == 1 and "its address 198.51.100.7 is neither" in said.stderr, said.stderr
    for mine in ("both.test", "198.51.100.7"):
        assert within("--target-is-mine", mine, "both.test").returncode == 0
