# SPDX-License-Identifier: GPL-3.0-or-later
"""Audits by power cuts: experiments of postal-audit, what they left in their record, and nothing else."""
import json
import pathlib
import subprocess

from .compare import Experiments

WRITER = pathlib.Path(__file__).with_name("careless_lmtp.py")
EXPERIMENT = """\
title = "a test"
command_limit = "20s"
[load]
seed = 5
[[load.program]]
name = "delivery"
argv = ["postal", "-L", "--sessions", "3", "-m", "3", "127.0.0.1:${{port}}", "${{experiment}}/users"]
[variables]
port = "{port}"
mode = "safe"
[storage]
make = ["mkfs.ext4", "-q", "-F", "-E", "nodiscard", "${{device}}"]
type = "ext4"
options = "commit=300"  # so long nothing is flushed by itself
[server]
prepare = [["mkdir", "-p", "${{mount}}/user@example.com/tmp", "${{mount}}/user@example.com/new"], ["sync"]]
start = [["/usr/bin/python3", "{writer}", "${{port}}", "${{mount}}", "${{mode}}"]]
ready = ["127.0.0.1:${{port}}"]
[audit]
messages = {messages}
cuts = {cuts}
size = "64M"
maildirs = ["${{mount}}/%u"]
check = ["e2fsck", "-f", "-n", "${{device}}"]
{variants}
"""


class Audit(Experiments):
    def __call__(self, *modes, messages=60, cuts=12, **_):
        variants = "".join(f'[[variant]]\nname = "{mode}"\nvariables = {{ mode = "{mode}" }}\n' for mode in modes)
        (self.folder / "users").write_text("user@example.com\n")
        self.file.write_text(EXPERIMENT.format(port=self.port, writer=WRITER, messages=messages, cuts=cuts, variants=variants))
        return self

    @property
    def record(self):
        record = json.loads((self.results / "audit.json").read_text())
        assert record["schema"] == "postal-audit/1"
        return record

    def images(self, variant):
        return next(each for each in self.record["variants"] if each["name"] == variant)["images"]

    def check_clean(self):
        super().check_clean()
        assert str(self.folder) not in subprocess.run(["losetup", "-a"], capture_output=True, text=True, check=True).stdout


def missing_of(image):
    return image["lost"] + image["misplaced"] + image["truncated"] + image["changed"]
