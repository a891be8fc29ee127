# SPDX-License-Identifier: GPL-3.0-or-later
"""What bash, zsh and fish complete with the scripts that --completion prints."""
import os
import pty
import subprocess

import pytest

from support.postal import refused, run

SHELLS = ("bash", "zsh", "fish")
PROGRAMS = ("postal", "rabid", "bhm", "lmtp-deliver", "postal-list", "postal-report", "postal-compare", "postal-audit")

# Completes the line in $LINE as the tabulator key would, and writes what compadd gets to $FOUND. Calls of compadd that only
# fill arrays are the completion's own.
ZSHRC = r"""
fpath=($ZDOTDIR/functions $fpath)
autoload -Uz compinit && compinit -u -d $ZDOTDIR/known
setopt no_auto_list  # nobody reads the terminal
compadd() {
    local -a matches
    if [[ ${@[1,(i)(-|--)]} != *-(O|A|D)\ * ]]; then
        builtin compadd -O matches "$@"
        (( $#matches )) && print -rl -- $matches >> $FOUND
    fi
    builtin compadd "$@"
}
zle-line-init() {
    BUFFER=$LINE
    CURSOR=$#BUFFER
    zle complete-word
    exit 0
}
zle -N zle-line-init
"""

BASH = """
source <("$0" --completion bash)
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
"_${1//-/_}"
printf '%s\\n' "${COMPREPLY[@]}"
"""


class Shells:
    """What each shell offers for the last word of a command line, in a folder with an empty file and a folder in it."""

    def __init__(self, programs, tool, folder):
        self.programs, self.tool = programs, tool
        self.home = folder / "home"
        self.here = folder / "here"
        (self.here / "a-folder").mkdir(parents=True)
        (self.here / "a-file").touch()
        self.home.mkdir()

    def complete(self, shell, *words):
        self.tool(shell)
        found = getattr(self, shell)(*words)
        return {word.removesuffix("/") for word in found if word}

    def ask(self, *command, **more):
        done = subprocess.run(command, cwd=self.here, capture_output=True, text=True, timeout=60, check=True,
                              env={**os.environ, "HOME": str(self.home), **more.pop("env", {})}, **more)
        assert done.stderr == "", done.stderr
        return done.stdout.splitlines()

    def bash(self, *words):
        return self.ask("bash", "--norc", "-c", BASH, self.programs.path(words[0]), *words)

    def fish(self, *words):
        script = f'"{self.programs.path(words[0])}" --completion fish | source; complete -C "{" ".join(words)}"'
        return [line.partition("\t")[0] for line in self.ask("fish", "--no-config", "-c", script)]

    def zsh(self, *words):
        """Its line editor, which alone completes, wants a terminal."""
        functions, found = self.home / "functions", self.home / "found"
        functions.mkdir(exist_ok=True)
        (functions / f"_{words[0]}").write_text(run([self.programs.path(words[0]), "--completion", "zsh"]).stdout)
        (self.home / ".zshrc").write_text(ZSHRC)
        found.write_text("")
        terminal, side = pty.openpty()
        environment = {**os.environ, "ZDOTDIR": str(self.home), "HOME": str(self.home), "TERM": "xterm", "LINE": " ".join(words),
                       "FOUND": str(found)}
        try:
            subprocess.run(["zsh", "-o", "no_global_rcs", "-i"], stdin=side, stdout=side, stderr=side, cwd=self.here, env=environment,
                           start_new_session=True, timeout=60, check=True)
        finally:
            os.close(side)
            os.close(terminal)
        return found.read_text().splitlines()


@pytest.fixture
def shells(programs, tool, folder):
    return Shells(programs, tool, folder)


@pytest.mark.parametrize("shell", SHELLS)
def test_options_and_their_values(shells, shell):
    def offered(*words):
        return shells.complete(shell, *words)

    options = offered("postal", "--")
    assert {"--sessions", "--lmtp", "--record", "--help", "--completion"} <= {option.rstrip("=") for option in options}
    assert offered("postal", "--log-format", "") == {"csv", "jsonl", "extended"}
    assert offered("postal", "--log-format", "j") == {"jsonl"}
    assert offered("postal", "--completion", "") == set(SHELLS)
    assert offered("postal", "--sessions", "") == set()
    assert offered("postal", "--record", "a-") == {"a-file", "a-folder"}
    assert offered("bhm", "--store", "a-") == {"a-folder"}
    assert {"timeout", "rcpt"} <= offered("postal", "--explain", "")
    assert {"auto", "SCRAM-SHA-256"} <= offered("postal", "--auth", "")
    assert {"phone", "webmail"} <= offered("rabid", "--profile", "")
    assert "a-file" in offered("rabid", "--profile", "a-")
    assert {"postfix", "exim"} <= offered("lmtp-deliver", "--queue", "") and "a-folder" not in offered("lmtp-deliver", "--queue", "")
    assert {"maildrop", "procmail"} <= offered("lmtp-deliver", "--agent", "")
    assert "a-file" in offered("postal", "localhost", "a-")


@pytest.mark.thinned(5)
@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize("name", PROGRAMS)
def test_every_program(shells, shell, name):
    assert "--version" in shells.complete(shell, name, "--v")


def test_another_shell_is_refused(programs):
    refused(run([programs.postal, "--completion", "csh"]), "--completion", "give bash, zsh or fish")
