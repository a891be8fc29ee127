# SPDX-License-Identifier: GPL-3.0-or-later
"""postal-report --bundle and --verify: results that strangers can check, and what they find out."""
import gzip
import hashlib
import io
import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import tarfile
import time

import pytest
import sample_experiments
import sample_records
from printed import run
from support.compare import Experiments

VERIFIED = re.compile(r"^Verified: ([\d,]+) lines? of text and ([\d,]+) figures? follow from ([\d,]+) files? of the bundle\.\n\Z", re.M)
SIGNATURE = "manifest.json.sig"


@pytest.fixture(scope="module")
def done(programs, tmp_path_factory):
    """An experiment of two blocks, that was really run, and a record by itself."""
    folder = tmp_path_factory.mktemp("done")
    made = Experiments(programs.postal_compare, folder)
    assert made(blocks=2).run().status == 0
    (folder / "one.json").write_text(json.dumps(sample_records.record()))
    return made


@pytest.fixture
def bundled(done, run, tmp_path):
    """A bundle of both."""
    made = run("--bundle", tmp_path / "b.tar.gz", done.results, done.folder / "one.json")
    assert re.fullmatch(r".*/b\.tar\.gz: \d+ files in [\d.]+ KiB; SHA-256 ([0-9a-f]{64})\n", made.stdout)
    return tmp_path / "b.tar.gz"


def files_of(bundle):
    with tarfile.open(bundle, "r:gz") as archive:
        return {one.name: archive.extractfile(one).read() for one in archive}


def pack(target, files, mode="w:gz"):
    with tarfile.open(target, mode, format=tarfile.PAX_FORMAT) as archive:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return target


def listed_anew(files):
    """As whoever changes something would: with a manifest that fits."""
    manifest = json.loads(files["manifest.json"])
    manifest["files"] = [{"name": name, "size": len(content), "sha256": hashlib.sha256(content).hexdigest()}
                         for name, content in sorted(files.items()) if not name.startswith("manifest.json")]
    return {**files, "manifest.json": json.dumps(manifest).encode()}


def wrong(run, bundle, status, *options):
    said = run("--verify", bundle, *options, status=status).stdout
    assert "Verified" not in said
    return [line.removeprefix("WRONG: ") for line in said.splitlines() if line.startswith("WRONG: ")]


def test_what_was_bundled_is_verified(run, bundled):
    files = files_of(bundled)
    assert {"manifest.json", "printed/records.txt", "printed/records.csv", "printed/results.txt", "printed/results.csv",
            "records/one.json", "results/experiment.json", "results/journal.jsonl"} <= set(files)
    verified = run("--verify", bundled)
    lines, figures, made_from = [int(count.replace(",", "")) for count in VERIFIED.search(verified.stdout).groups()]
    assert not verified.stderr
    printed = {name: content.decode() for name, content in files.items() if name.startswith("printed/")}
    assert lines == sum(1 for name, text in printed.items() if name.endswith(".txt") for line in text.splitlines() if line.strip())
    assert 0 < figures < sum(text.count(",") for name, text in printed.items() if name.endswith(".csv"))
    assert made_from == sum(1 for name in files if name.startswith(("records/", "results/"))) + 1  # no audit.json
    assert files["printed/results.txt"].decode() in verified.stdout
    assert "noted: it is not signed" in verified.stdout
    manifest = json.loads(files["manifest.json"])
    assert manifest["schema"] == "postal-bundle/1" and manifest["records"] == ["records/one.json"]
    assert {one["name"] for one in manifest["files"]} == set(files) - {"manifest.json"}


def test_the_same_octets_twice(programs, done, bundled, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    shutil.copytree(done.results, other / "anything", copy_function=shutil.copyfile)  # with times of its own
    shutil.copyfile(done.folder / "one.json", other / "one.json")
    made = subprocess.run([programs.postal_report, "--bundle", "c.tar.gz", "anything", "one.json"], cwd=other, timeout=60, umask=0o077,
                          env={"PATH": os.environ["PATH"], "TZ": "Asia/Kathmandu", "LC_ALL": "C", "HOME": str(other)}, check=True)
    assert made.returncode == 0 and (other / "c.tar.gz").read_bytes() == bundled.read_bytes()
    with tarfile.open(bundled, "r:gz") as archive:
        members = archive.getmembers()
    names = [one.name for one in members]
    assert names[0] == "manifest.json" and names[1:] == sorted(names[1:])
    assert {(one.mtime, one.uid, one.gid, one.uname, one.gname, one.mode) for one in members} == {(0, 0, 0, "", "", 0o644)}


def test_one_octet_in_each_file(run, bundled, tmp_path):
    files = files_of(bundled)
    for name, content in files.items():
        if name == "manifest.json":
            continue
        at = len(content) // 2
        harmed = pack(tmp_path / "harmed.tar.gz", {**files, name: content[:at] + bytes([content[at] ^ 1]) + content[at + 1:]})
        said = run("--verify", harmed, status=5).stdout.splitlines()
        assert f"WRONG: {name}: is not what it was: its SHA-256 is another one" in said, name
        # Nothing is made of it, and so nothing of it is shown.
        assert all(line.startswith(("noted: ", "left out: ", "WRONG: ")) for line in said)


def test_a_file_that_is_missing_or_too_much(run, bundled, tmp_path):
    files = files_of(bundled)
    without = {name: content for name, content in files.items() if name != "results/journal.jsonl"}
    assert wrong(run, pack(tmp_path / "less.tar.gz", without), 6) == [
        "results/journal.jsonl: is in the manifest, and not there"]
    more = pack(tmp_path / "more.tar.gz", {**files, "notes.txt": b"trust me"})
    assert wrong(run, more, 7) == ["notes.txt: is there, and not in the manifest"]
    listed = listed_anew({**files, "results/users.txt": b"trust me", "results/runs/x.json": b"{}"})
    assert wrong(run, pack(tmp_path / "unused.tar.gz", listed), 3) == [
        f"{name}: is in the bundle, and nothing is made from it" for name in ("results/runs/x.json", "results/users.txt")]
    assert wrong(run, pack(tmp_path / "listed.tar.gz", listed_anew({**files, "notes.txt": b"trust me"})), 3) == [
        "notes.txt: is in the bundle, and nothing is made from it"]
    nothing = {name: content for name, content in without.items() if name != "manifest.json"}
    said = run("--verify", pack(tmp_path / "no.tar.gz", nothing), status=1).stderr
    assert said.endswith("no.tar.gz: is no bundle: it has no manifest.json\n")


def test_a_sentence_and_a_figure_with_a_manifest_that_fits(run, bundled, tmp_path):
    """Sums say that nothing was changed since; whether it follows, only computing it does."""
    files = files_of(bundled)
    text = files["printed/records.txt"].decode()
    rate = re.search(r"rate +([\d,]+) /min", text).group(1)
    forged = {**files, "printed/records.txt": text.replace(rate, "99,999", 1).encode()}
    [line] = wrong(run, pack(tmp_path / "text.tar.gz", listed_anew(forged)), 3)
    assert line.startswith("printed/records.txt:") and "99,999" in line and rate in line
    header, row = files["printed/records.csv"].decode().splitlines()
    at = header.split(",").index("latency_p99_us")
    cells = row.split(",")
    cells[at] = "1.5"
    forged = {**files, "printed/records.csv": f"{header}\n{','.join(cells)}\n".encode()}
    [line] = wrong(run, pack(tmp_path / "csv.tar.gz", listed_anew(forged)), 3)
    assert line.startswith("printed/records.csv: line 2, latency_p99_us: says 1.5; what follows is ")
    names, cells = header.split(","), row.split(",")
    for changed, said in ((
            [names[:-1], cells[:-1]], f"printed/records.csv: column {len(names)} is nothing; what follows is {names[-1]}"), (
            [names[1:], cells[1:]], f"printed/records.csv: column 1 is {names[1]}; what follows is {names[0]}"), (
            [names + ["worth"], cells + ["1"]], f"printed/records.csv: column {len(names) + 1} is worth; what follows is nothing"), (
            [names, cells + ["1"]], f"printed/records.csv: line 2 has {len(cells) + 1} cells, and the first line {len(names)}"), (
            [names, cells[:-1]], f"printed/records.csv: line 2 has {len(cells) - 1} cells, and the first line {len(names)}"), (
            [names + [names[0]] * 5, cells + [cells[0]] * 5], f"printed/records.csv: has the column {names[0]} twice"), (
            [names + ["more"] * 101, cells + ["1"] * 101], f"printed/records.csv: has {len(names) + 101} columns; {len(names)} follow"), (
            [names, cells, cells], "printed/records.csv: has 3 lines; 2 follow")):
        table = "".join(",".join(line) + "\n" for line in changed).encode()
        lines = wrong(run, pack(tmp_path / "csv.tar.gz", listed_anew({**files, "printed/records.csv": table})), 3)
        assert said in lines and len(lines) <= 2, lines
    record = json.loads(files["records/one.json"])
    record["totals"]["messages"] += 1
    forged = {**files, "records/one.json": json.dumps(record).encode()}
    assert any("printed/records.csv: line 2, messages: " in line
               for line in wrong(run, pack(tmp_path / "record.tar.gz", listed_anew(forged)), 3))
    long = listed_anew({**files, "printed/records.txt": b"\n" * (5 << 20)})
    [line] = wrong(run, pack(tmp_path / "long.tar.gz", long), 3)
    assert line.startswith("printed/records.txt: is 5.0 MiB long, and what follows is ")
    gone = {name: content for name, content in files.items() if name != "printed/results.csv"}
    assert wrong(run, pack(tmp_path / "gone.tar.gz", listed_anew(gone)), 3) == [
        "printed/results.csv: what was printed is not there"]


def test_a_run_that_was_taken_out_of_the_experiment(run, bundled, tmp_path):
    files = files_of(bundled)
    record = json.loads(files["results/experiment.json"])
    del record["runs"][1]
    forged = listed_anew({**files, "results/experiment.json": json.dumps(record).encode()})
    assert any("is missing, or not in its place" in line for line in wrong(run, pack(tmp_path / "b.tar.gz", forged), 3))


def test_another_version(run, bundled, tmp_path):
    files = files_of(bundled)
    manifest = json.loads(files["manifest.json"])
    manifest["version"] = "0.0.1"
    same = run("--verify", pack(tmp_path / "same.tar.gz", {**files, "manifest.json": json.dumps(manifest).encode()}))
    assert "noted: it was made by 0.0.1, and this is " in same.stdout
    other = listed_anew({**files, "manifest.json": json.dumps(manifest).encode(),
                         "printed/records.txt": files["printed/records.txt"].replace(b"Result", b"Outcome", 1)})
    said = run("--verify", pack(tmp_path / "other.tar.gz", other), status=8).stdout
    assert 'DIFFERS: printed/records.txt:' in said and "WRONG" not in said and "Verified" not in said
    newer = {**files, "manifest.json": json.dumps(manifest).encode(), "printed/energy.txt": b"as later versions do"}
    said = run("--verify", pack(tmp_path / "newer.tar.gz", listed_anew(newer)), status=8).stdout
    assert 'DIFFERS: printed/energy.txt: follows from nothing in the bundle' in said and "WRONG" not in said
    assert any(line.startswith("printed/energy.txt") for line in wrong(
        run, pack(tmp_path / "now.tar.gz", listed_anew({**files, "printed/energy.txt": b""})), 3))
    older = {name: content for name, content in newer.items() if name not in ("printed/results.csv", "printed/energy.txt")}
    said = run("--verify", pack(tmp_path / "older.tar.gz", listed_anew(older)), status=8).stdout
    assert 'DIFFERS: printed/results.csv: what was printed is not there' in said and "WRONG" not in said
    header, row = files["printed/records.csv"].decode().splitlines()
    fewer = {**files, "manifest.json": json.dumps(manifest).encode(),
             "printed/records.csv": f"{header.rpartition(',')[0]}\n{row.rpartition(',')[0]}\n".encode()}
    assert "Verified" in run("--verify", pack(tmp_path / "fewer.tar.gz", listed_anew(fewer))).stdout


def test_verdicts_of_another_version(run, bundled, tmp_path):
    files = files_of(bundled)
    record = json.loads(files["results/experiment.json"])
    record["analysis"]["rules"] = "others"
    ours = json.loads(files["manifest.json"])["version"]

    def said_of(version):
        changed = json.dumps({**record, "version": version}).encode()
        return wrong_and_differing(pack(tmp_path / "b.tar.gz", listed_anew({**files, "results/experiment.json": changed})))

    def wrong_and_differing(bundle):
        done = run("--verify", bundle, status=None)
        return done.returncode, [line for line in done.stdout.splitlines() if line.startswith(("WRONG", "DIFFERS"))]
    status, lines = said_of(ours)
    assert status == 3 and "WRONG: the verdicts in the record are not those that follow from the runs" in lines
    _, lines = said_of("0.0.1")
    begin = "the verdicts in the record are not those that follow from the runs by the rules of "
    assert f"DIFFERS: {begin}{ours}; it was made by 0.0.1" in lines and not any(line.startswith("WRONG: the verdicts") for line in lines)


def test_many_options(run, bundled, tmp_path):
    """A table of them side by side has a bound, and is made in no square of their number."""
    files = files_of(bundled)
    record = json.loads(files["records/one.json"])

    def with_options(count, names):
        more = {f"records/{i}.json": json.dumps({**record, "options": {f"o{i}-{j}": "" for j in range(count)}}).encode()
                for i in range(names)}
        manifest = json.loads(files["manifest.json"])
        manifest["records"] = list(more)
        manifest["results"] = ""
        return listed_anew({**more, "printed/records.txt": b"", "printed/records.csv": b"",
                            "manifest.json": json.dumps(manifest).encode()})
    [line] = wrong(run, pack(tmp_path / "many.tar.gz", with_options(10001, 1)), 3)
    assert line == "nothing can be computed from it: records/0.json: has 10001 options, and at most 10000 are shown"
    [line] = wrong(run, pack(tmp_path / "side.tar.gz", with_options(100, 101)), 3)
    assert line == ("nothing can be computed from it: 101 records side by side have more options than a table of 1000000 "
                    "cells holds")


def test_a_manifest_that_claims_nothing(run, bundled, tmp_path):
    files = files_of(bundled)
    manifest = {**json.loads(files["manifest.json"]), "records": [], "results": "", "ledgers": [], "account": False}
    alone = listed_anew({"manifest.json": json.dumps(manifest).encode(), "printed/records.txt": b"ours is the fastest"})
    said = run("--verify", pack(tmp_path / "b.tar.gz", alone), status=1)
    assert "records is not a list of at least one" in said.stderr and "Verified" not in said.stdout
    manifest["account"] = True
    account = {"manifest.json": json.dumps(manifest).encode(), "printed/ledgers.txt": b"nothing lost",
               "printed/ledgers.csv": b"lost\n0\n"}
    said = run("--verify", pack(tmp_path / "b.tar.gz", listed_anew(account)), status=10).stdout
    assert "unchecked: the ledgers are not in it" in said and not VERIFIED.search(said)
    more = listed_anew({**account, "printed/ledgers.html": b"nothing lost"})
    assert wrong(run, pack(tmp_path / "b.tar.gz", more), 3) == ["printed/ledgers.html: follows from nothing in the bundle"]


def test_a_file_that_ten_thousand_runs_name(run, bundled, tmp_path):
    """Each run wrote its own: it is read once."""
    files = files_of(bundled)
    record = json.loads(files["results/experiment.json"])
    first = record["runs"][0]
    record["runs"] += [{**first, "block": block} for block in range(3, 10003)]
    forged = listed_anew({**files, "results/experiment.json": json.dumps(record).encode()})
    lines = wrong(run, pack(tmp_path / "b.tar.gz", forged), 3)
    assert any("is named by two runs" in line for line in lines)


# ---- signatures ----

@pytest.fixture(scope="session")
def keys(tool, tmp_path_factory):
    """ada's key and bob's, and who may sign."""
    keygen = tool("ssh-keygen")
    folder = tmp_path_factory.mktemp("keys")
    for name in ("ada", "bob"):
        subprocess.run([keygen, "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", folder / name], check=True)
    public = {name: " ".join((folder / f"{name}.pub").read_text().split()[:2]) for name in ("ada", "bob")}
    (folder / "ada-alone").write_text(f"ada@example.com {public['ada']}\n")
    (folder / "both").write_text(f"ada@example.com {public['ada']}\nbob@example.com {public['bob']}\n")
    (folder / "for-git").write_text(f'ada@example.com namespaces="git" {public["ada"]}\n')
    return folder


@pytest.fixture
def signed(run, done, keys, tmp_path):
    run("--bundle", tmp_path / "signed.tar.gz", "--sign", keys / "ada", done.folder / "one.json")
    return tmp_path / "signed.tar.gz"


def test_a_good_signature(run, signed, keys):
    assert "noted: it is signed, and nobody asked by whom" in run("--verify", signed).stdout
    verified = run("--verify", signed, "--allowed-signers", keys / "ada-alone")
    assert verified.stdout.startswith("Signed by ada@example.com.\n") and VERIFIED.search(verified.stdout)
    run("--verify", signed, "--allowed-signers", keys / "both", "--signer", "ada@example.com")


def test_each_line_of_the_allowed_is_tried(run, signed, keys):
    """ssh-keygen names the first one that has the key, though it is for git alone."""
    ada = (keys / "ada-alone").read_text().split(maxsplit=1)[1]
    (keys / "git-first").write_text(f'# who may\nada@git.example namespaces="git" {ada}old@example.com valid-before="20010101" {ada}'
                                    f'"eve@example.com,mallory@example.com" namespaces="file,postal-bundle" {ada}')
    verified = run("--verify", signed, "--allowed-signers", keys / "git-first")
    assert verified.stdout.startswith("Signed by eve@example.com.\n")
    (keys / "any").write_text(f"*@example.com {ada}")
    assert run("--verify", signed, "--allowed-signers", keys / "any", "--signer", "zoe@example.com").stdout.startswith(
        "Signed by zoe@example.com.\n")
    (keys / "only-git").write_text(f'ada@git.example namespaces="git" {ada}*@old.example namespaces="file" {ada}')
    said = run("--verify", signed, "--allowed-signers", keys / "only-git", status=9)
    assert not said.stdout and len(said.stderr.splitlines()) == 1


@pytest.mark.parametrize("allowed, options", [
    ("both", ["--signer", "bob@example.com"]),
    ("for-git", []),
    ("nobody", []),
    ("none/such", []),
])
def test_a_signature_of_somebody_else(run, signed, keys, allowed, options):
    (keys / "nobody").write_text("")
    said = run("--verify", signed, "--allowed-signers", keys / allowed, *options, status=9)
    assert not said.stdout and len(said.stderr.splitlines()) == 1


def test_bobs_signature_where_ada_is_allowed(run, done, keys, tmp_path):
    run("--bundle", tmp_path / "b.tar.gz", "--sign", keys / "bob", done.folder / "one.json")
    said = run("--verify", tmp_path / "b.tar.gz", "--allowed-signers", keys / "ada-alone", status=9)
    assert "nobody in" in said.stderr and not said.stdout


def test_what_was_changed_behind_the_signature(run, signed, keys, tmp_path):
    files = files_of(signed)
    record = json.loads(files["records/one.json"])
    record["totals"]["messages"] += 1
    forged = listed_anew({**files, "records/one.json": json.dumps(record).encode()})
    said = run("--verify", pack(tmp_path / "f.tar.gz", forged), "--allowed-signers", keys / "ada-alone", status=9)
    assert "its signature is not a good one of ada@example.com" in said.stderr and not said.stdout
    other = {**files, SIGNATURE: b"-----BEGIN SSH SIGNATURE-----\nAAAA\n-----END SSH SIGNATURE-----\n"}
    run("--verify", pack(tmp_path / "g.tar.gz", other), "--allowed-signers", keys / "ada-alone", status=9)


def test_what_carries_no_signature(run, done, bundled, keys):
    """An option that asks for one is never passed over."""
    for what, said in ((bundled, "has no signature, and --allowed-signers asks for one"),
                       (done.results, "is a folder, which carries no signature, and --allowed-signers asks for one")):
        refused = run("--verify", what, "--allowed-signers", keys / "ada-alone", status=9)
        assert said in refused.stderr and not refused.stdout
    refused = run("--verify", done.folder / "one.json", "--allowed-signers", keys / "ada-alone", status=9)
    assert "is no bundle, and carries no signature" in refused.stderr and not refused.stdout


def test_keys_that_sign_nothing(run, done, keys, tmp_path):
    for key in (keys / "none", keys / "both"):
        said = run("--bundle", tmp_path / "b.tar.gz", "--sign", key, done.folder / "one.json", status=1)
        assert "--sign: " in said.stderr and not (tmp_path / "b.tar.gz").exists()


def test_without_ssh_keygen(run, done, signed, keys, tmp_path):
    for words, status in ((["--bundle", tmp_path / "b.tar.gz", "--sign", keys / "ada", done.folder / "one.json"], 1),
                          (["--verify", signed, "--allowed-signers", keys / "both"], 9)):
        said = run(*words, status=status, env={"PATH": str(tmp_path)}).stderr
        assert said.endswith("signatures need it (Debian: openssh-client)\n") and said.count("ssh-keygen") == 1
    assert not (tmp_path / "b.tar.gz").exists()


def test_nothing_stays_behind_a_signal(programs, signed, tmp_path):
    """What ssh-keygen reads lies in a folder of ours meanwhile: while a pipe that nobody writes to is waited for."""
    pipe, ours = tmp_path / "allowed", tmp_path / "temporary"
    ours.mkdir()
    os.mkfifo(pipe)
    for signal_ in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        # What a shell has ignored for a program in the background stays so.
        going = subprocess.Popen([programs.postal_report, "--verify", signed, "--allowed-signers", pipe],
                                 env={**os.environ, "TMPDIR": str(ours)}, stdout=subprocess.DEVNULL,
                                 preexec_fn=lambda which=signal_: signal.signal(which, signal.SIG_DFL))
        try:
            until = time.monotonic() + 60
            while not list(ours.glob("*/signature")) and time.monotonic() < until:
                assert going.poll() is None
                time.sleep(0.01)
            going.send_signal(signal_)
            assert going.wait(timeout=60) == -signal_ and not list(ours.iterdir())
        finally:
            going.kill()
            going.wait()


# ---- secrets ----

def test_secrets_are_left_out(run, tmp_path):
    folder = sample_experiments.make(tmp_path / "results", blocks=1, argv=["postal-compare", "--set", "password=hunter2"],
                                     text='[variables]\ndb_password = "hunter3"\nurl = "http://me:hunter4@example.com/"\n'
                                          'secret = ["a]hunter11", "hunter12"]\ntoken = """\nhunter13"""\n'
                                          'password = "a\\\\\\"hunter14"\n[credentials]\nuser = "hunter15"\n')
    (folder / "users.txt").write_text("user@example.com hunter5\n")
    (folder / "runs/dovecot.log").write_text("hunter6\n")
    record = sample_records.record()
    record["argv"] += ["--token", "hunter7", "--password=my hunter8 two", "--password=a,hunter9", '--secret=a"hunter10']
    (tmp_path / "one.json").write_text(json.dumps(record))
    # There is no plan of it, so that whoever makes the bundle is told what a verifier will say.
    made = run("--bundle", tmp_path / "b.tar.gz", folder, tmp_path / "one.json", status=3)
    assert "--verify will say WRONG: " in made.stderr
    octets = gzip.decompress((tmp_path / "b.tar.gz").read_bytes())
    assert b"hunter" not in octets and octets.count(b"(left out)") >= 4
    assert "a secret may lie in results/experiment.json: has the experiment's file and command lines; 7 values" in made.stderr
    manifest = json.loads(files_of(tmp_path / "b.tar.gz")["manifest.json"])
    assert {"users.txt (1 file)", "dovecot.log (1 file)"} <= {one["what"] for one in manifest["left_out"]}
    assert "left out: users.txt (1 file): " in run("--verify", tmp_path / "b.tar.gz", status=3).stdout  # made up without a plan


def test_a_secret_within_what_has_a_digest(run, tmp_path):
    def change(run, record, log):
        record["argv"].append("--password=hunter2")
    folder = sample_experiments.make(tmp_path / "results", blocks=1, change=change)
    said = run("--bundle", tmp_path / "b.tar.gz", folder, status=1).stderr
    assert "has what is named as a secret, and its digest stands in the experiment's record" in said
    assert not (tmp_path / "b.tar.gz").exists()


def test_links_lead_out_of_no_folder(run, tmp_path):
    folder = sample_experiments.make(tmp_path / "results", blocks=1)
    (tmp_path / "secret.json").write_text('{"mine": "hunter2"}')
    path = next(folder.glob("runs/*/delivery.json"))
    path.unlink()
    path.symlink_to(tmp_path / "secret.json")
    name = "results/" + str(path.relative_to(folder))
    said = run("--bundle", tmp_path / "b.tar.gz", folder, status=3).stderr
    assert f"--verify will say WRONG: {name}: No such file" in said
    assert b"hunter2" not in gzip.decompress((tmp_path / "b.tar.gz").read_bytes())
    manifest = json.loads(files_of(tmp_path / "b.tar.gz")["manifest.json"])
    assert {"what": name, "why": "the record names it, and it is not there, or a link"} in manifest["left_out"]
    # The same file in its place goes in, so it is the link that did not.
    path.unlink()
    shutil.copyfile(tmp_path / "secret.json", path)
    run("--bundle", tmp_path / "b.tar.gz", folder, status=3)
    assert b"hunter2" in gzip.decompress((tmp_path / "b.tar.gz").read_bytes())


def test_what_cannot_be_read_is_not_passed_over(run, tmp_path):
    folder = sample_experiments.make(tmp_path / "results", blocks=1)
    path = next(folder.glob("runs/*/delivery.json"))
    path.unlink()
    path.mkdir()
    said = run("--bundle", tmp_path / "b.tar.gz", folder, status=1).stderr
    assert "is a directory, not a file" in said and not (tmp_path / "b.tar.gz").exists()


def test_a_folder_that_cannot_be_looked_into(run, tmp_path):
    """What is in it is not known, and what is beside it is named all the same."""
    folder = sample_experiments.make(tmp_path / "results", blocks=1)
    (folder / "aaa.log").write_text("")
    (folder / "zzz.log").write_text("")
    at = os.open(folder, os.O_RDONLY)
    for _ in range(20):  # deeper than a path can be long
        os.mkdir("n" * 250, dir_fd=at)
        at, before = os.open("n" * 250, os.O_RDONLY, dir_fd=at), at
        os.close(before)
    os.close(at)
    run("--bundle", tmp_path / "b.tar.gz", folder, status=3)
    left_out = json.loads(files_of(tmp_path / "b.tar.gz")["manifest.json"])["left_out"]
    assert {"aaa.log (1 file)", "zzz.log (1 file)"} <= {one["what"] for one in left_out}
    assert [one["what"][:12] for one in left_out if one["why"] == "what is there is not known: File name too long"] == ["results/nnnn"]
    shutil.rmtree(folder)


def test_other_archives_are_not_replaced(run, done, tmp_path):
    target = pack(tmp_path / "home.tar.gz", {"manifest.json.bak": b"{}", "thesis.tex": b"years of work"})
    kept = target.read_bytes()
    said = run("--bundle", target, done.folder / "one.json", status=1).stderr
    assert "exists and is no bundle of postal-report" in said and target.read_bytes() == kept
    run("--bundle", target, "--force", done.folder / "one.json")
    assert "records/one.json" in files_of(target)
    run("--bundle", target, done.results)  # one of ours
    assert "records/one.json" not in files_of(target)
    target.write_bytes(b"")
    run("--bundle", target, done.folder / "one.json")


# ---- ledgers ----

@pytest.fixture
def ledger(bhm, postal, users_file, tmp_path):
    path = tmp_path / "mail.ledger"
    server = bhm("--ledger", path)
    postal("-t", "2", "-c", "-1", "--messages", 50, "-m", "2", "--ledger", path, server.endpoint, users_file(5))
    server.stop()
    return path


def test_ledgers_and_their_account(run, ledger, tmp_path):
    said = run("--ledger", ledger).stdout.splitlines()[0].partition(": ")[2]
    run("--bundle", tmp_path / "a.tar.gz", ledger)
    files = files_of(tmp_path / "a.tar.gz")
    assert said in files["printed/ledgers.txt"].decode() and not [name for name in files if name.startswith("ledgers/")]
    assert "unchecked: the ledgers are not in it" in run("--verify", tmp_path / "a.tar.gz", status=10).stdout
    run("--bundle", tmp_path / "b.tar.gz", "--with-ledgers", ledger)
    files = files_of(tmp_path / "b.tar.gz")
    assert said in run("--verify", tmp_path / "b.tar.gz").stdout
    here = run("--verify", tmp_path / "b.tar.gz", status=2, env={"TMPDIR": str(tmp_path / "none")}).stdout
    assert "cannot be computed here: the ledgers: no temporary folder" in here and "WRONG" not in here and "Verified" not in here
    broken = pack(tmp_path / "broken.tar.gz", listed_anew({**files, "ledgers/mail.ledger": b"SQLite format 3\0" + bytes(200)}))
    [line] = wrong(run, broken, 3)
    assert "ledgers/mail.ledger: " in line and "postal-files-" not in line
    forged = files["ledgers/mail.ledger"]
    (tmp_path / "other.ledger").write_bytes(forged)
    with sqlite3.connect(tmp_path / "other.ledger") as database:
        table = [name for name, in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'") if "sent" in name][0]
        database.execute(f"DELETE FROM {table} WHERE rowid = 1")
    database.close()
    files["ledgers/mail.ledger"] = (tmp_path / "other.ledger").read_bytes()
    assert any(line.startswith("printed/ledgers.") for line in wrong(run, pack(tmp_path / "c.tar.gz", listed_anew(files)), 3))


def test_a_log_beside_a_ledger(run, ledger, tmp_path):
    """What its own write-ahead log has belongs to it; one of another file does not."""
    writer = sqlite3.connect(ledger)
    writer.execute("PRAGMA wal_autocheckpoint = 0")
    table = [name for name, in writer.execute("SELECT name FROM sqlite_master WHERE type = 'table'") if "sent" in name][0]
    before = writer.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
    writer.execute(f"DELETE FROM {table} WHERE rowid = 1")
    writer.commit()
    log = (ledger.parent / "mail.ledger-wal").read_bytes()
    assert log
    run("--bundle", tmp_path / "b.tar.gz", "--with-ledgers", ledger)
    writer.close()

    def rows(bundle):
        (tmp_path / "found.ledger").write_bytes(files_of(bundle)["ledgers/" + ledger.name])
        found = sqlite3.connect(tmp_path / "found.ledger")
        count = found.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
        found.close()
        return count
    assert rows(tmp_path / "b.tar.gz") == before - 1
    alike = tmp_path / "mail.ledger-wal.old"
    alike.write_bytes(b"no log of anything")
    run("--bundle", tmp_path / "c.tar.gz", "--with-ledgers", ledger)
    assert rows(tmp_path / "c.tar.gz") == before - 1
    assert not [name for name in files_of(tmp_path / "c.tar.gz") if "wal" in name]


# ---- refusals ----

@pytest.mark.parametrize("options, said", [
    (["--bundle", "b", "--verify", "b"], "exclude each other"),
    (["--sign", "key", "RECORD"], "--sign: signs what --bundle writes"),
    (["--with-ledgers", "RECORD"], "--with-ledgers: is about what --bundle writes"),
    (["--allowed-signers", "x", "RECORD"], "--allowed-signers: is about what --verify reads"),
    (["--verify", "b", "--signer", "x"], "--signer: is one of the allowed"),
    (["--verify", "b", "RECORD"], "--verify: looks at one bundle or folder"),
    (["--verify", "b", "--csv"], "--csv: is not for --verify"),
    (["--bundle", "b", "--html", "x", "RECORD"], "--html: is not for --bundle"),
    (["--bundle", "b"], "RECORD is missing"),
    (["--bundle", "b", "-"], "standard input has none"),
    (["--bundle", "-", "RECORD"], "--bundle: is no stream"),
    (["--bundle", "b.tar.gz", "--with-ledgers", "RECORD"], "there is no ledger among what is given"),
    (["--bundle", "RECORD", "RECORD"], "is the file of RECORD, too"),
    (["--verify", "/none/such"], "No such file"),
    (["--verify", "RECORD"], "is neither a bundle nor a folder of results"),
    (["--verify", "."], "is neither a bundle nor a folder of results"),
])
def test_refusals(run, done, tmp_path, options, said):
    options = [str(done.folder / "one.json") if word == "RECORD" else word for word in options]
    refused = run(*options, status=1, cwd=tmp_path)
    assert len(refused.stderr.splitlines()) == 1 and not refused.stdout
    assert said in refused.stderr
    assert not list(tmp_path.glob("b*"))


def test_archives_of_others(run, bundled, tmp_path):
    files = files_of(bundled)
    target = tmp_path / "x.tar.gz"
    for more in (b"x", bytes(4096), gzip.compress(b"more")):
        target.write_bytes(bundled.read_bytes() + more)
        assert "has more behind its gzip" in run("--verify", target, status=1).stderr
    for name in ("/etc/passwd", "../x", "a//b"):
        said = run("--verify", pack(target, {**files, name: b""}), status=1)
        assert "has a name that no file of a bundle has" in said.stderr and not said.stdout
    target.write_bytes(gzip.compress(bundled.read_bytes()))
    assert "is not a tar archive within one gzip" in run("--verify", target, status=1).stderr
    pack(target, files, "w:xz")
    assert "is neither a bundle nor a folder" in run("--verify", target, status=1).stderr
    target.write_bytes(bundled.read_bytes()[:1000])
    assert len(run("--verify", target, status=1).stderr.splitlines()) == 1
    # More zeros than a file may have, and a million keys.
    with gzip.open(target, "wb", compresslevel=9) as archive:
        member = tarfile.TarInfo("a")
        member.size = 300 << 20
        archive.write(member.tobuf())
        for _ in range(300):
            archive.write(bytes(1 << 20))
        archive.write(bytes(1024))
    assert "a: is larger than 256.0 MiB" in run("--verify", target, status=1).stderr
    many = b"{" + b",".join(b'"k%d":1' % i for i in range(1000000)) + b"}"
    said = run("--verify", pack(target, {"manifest.json": many}), status=1).stderr
    assert "has an object with more than 65536 members" in said


def test_a_folder(run, done, tmp_path):
    verified = run("--verify", done.results)
    assert re.search(r"^Verified: the verdicts follow from \d+ files, each of which is what experiment\.json says of it\.\n\Z",
                     verified.stdout, re.M)
