# SPDX-License-Identifier: GPL-3.0-or-later
"""standard.toml and standard-servers.toml are one profile: what makes it up stands in both, and is the same."""
import tomllib

import pytest

from conftest import ROOT

FOLDER = ROOT / "conf/experiments"
ONE, MANY = (tomllib.loads((FOLDER / name).read_text()) for name in ("standard.toml", "standard-servers.toml"))
# What a variant of the one file alone is made of.
OF_ONE = {"store"}
OF_MANY = {"root"}


def files(experiment):
    variables = experiment["variables"]
    return {file["path"]: file["text"].replace("${store}", variables.get("store", "")) for file in experiment["file"]}


@pytest.mark.parametrize("table", ["load", "capacity", "storage", "server", "command_limit"])
def test_the_load_the_promises_and_the_store_are_the_same(table):
    assert ONE[table] == MANY[table]


def test_the_variables_are_the_same():
    one, many = ONE["variables"], MANY["variables"]
    assert one.keys() - OF_ONE == many.keys() - OF_MANY
    assert {name: one[name] for name in one.keys() - OF_ONE} == {name: many[name] for name in many.keys() - OF_MANY}


def test_the_sizes_the_mailboxes_and_the_servers_of_both_are_the_same():
    one, many = files(ONE), files(MANY)
    assert one.keys() <= many.keys()
    assert {path: many[path] for path in one} == one


def test_what_both_run_is_the_same():
    one, many = ({variant["name"]: variant for variant in experiment["variant"]} for experiment in (ONE, MANY))
    both = one.keys() & many.keys()
    assert {"Dovecot", "Dovecot again", "Postfix and Dovecot"} <= both
    assert {name: one[name] for name in both} == {name: many[name] for name in both}


def test_mailboxes_begin_with_what_lies_in_them_between_two_visits():
    """A visit takes all that is there: of each 100 messages 20 visits take five each."""
    share = float(ONE["capacity"]["beside"][0]["share"].removesuffix("%")) / 100
    assert int(ONE["variables"]["messages"]) == int(ONE["variables"]["users"]) / share


def test_what_is_behind_smtp_has_its_queue_counted():
    for variant in MANY["variant"]:
        variables = variant.get("variables", {})
        if variables.get("protocol") == []:
            assert variables["queue"][0] == "--queue", variant["name"]


def test_the_script_makes_a_root_for_each_server_that_has_one():
    script = (FOLDER / "standard-servers.sh").read_text()
    made = {line.split()[1] for line in script.splitlines() if line.startswith("root ")}
    used = {name for name in ("cyrus", "exim", "opensmtpd", "chasquid", "courier") if "${root}/" + name in str(MANY["variant"] + MANY["file"])}
    assert made == used and len(made) == 5
