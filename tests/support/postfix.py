# SPDX-License-Identifier: GPL-3.0-or-later
"""A Postfix of a test's own: its own configuration, queue, log and port, run by the test's process.

Needs root (Postfix's master does), no syslog and no system service. The master process leads a
process group, so that ending it ends its daemons. `Postfix` takes further main.cf settings as
keyword arguments. What it accepted and what became of it is read from its own log.
"""
import contextlib
import grp
import os
import pathlib
import pwd
import re
import stat
import subprocess
import time

from .process import Process, free_port, wait_until

DAEMONS = "/usr/lib/postfix/sbin"
MASTER = f"{DAEMONS}/master"

# qmgr looks at the incoming queue each second, and not every five minutes: see Postfix.hurry().
MASTER_CF = """\
127.0.0.1:{port} inet n - n - 200 smtpd
[::1]:{port}     inet n - n - 200 smtpd
smtpd     unix  n - n - 200 smtpd
pickup    unix  n - n 60 1  pickup
cleanup   unix  n - n - 0   cleanup
qmgr      unix  n - n 1  1 qmgr
rewrite   unix  - - n - -   trivial-rewrite
bounce    unix  - - n - 0   bounce
defer     unix  - - n - 0   bounce
trace     unix  - - n - 0   bounce
verify    unix  - - n - 1   verify
flush     unix  n - n 1000? 0 flush
proxymap  unix  - - n - -   proxymap
smtp      unix  - - n - -   smtp
lmtp      unix  - - n - -   lmtp
relay     unix  - - n - -   smtp
error     unix  - - n - -   error
retry     unix  - - n - -   error
discard   unix  - - n - -   discard
anvil     unix  - - n - 1   anvil
scache    unix  - - n - 1   scache
postlog   unix-dgram n - n - 1 postlogd
"""

# With certificates: STARTTLS on the ports above, and a port of its own for those who begin with TLS.
TLS_MASTER_CF = """\
127.0.0.1:{port} inet n - n - 200 smtpd -o smtpd_tls_wrappermode=yes
tlsmgr    unix  - - n 1000? 1 tlsmgr
"""

QUEUE_FOLDERS = ("active", "bounce", "corrupt", "defer", "deferred", "flush", "hold", "incoming", "maildrop",
                 "private", "public", "saved", "trace")

MAIN_CF = {
    "compatibility_level": "3.6",
    "mail_owner": "postfix",
    "setgid_group": "postdrop",
    "daemon_directory": DAEMONS,
    "inet_protocols": "all",
    "inet_interfaces": "all",
    "myhostname": "mx.example.com",
    "mydestination": "",
    "mynetworks": "127.0.0.0/8 [::1]/128",
    "relay_domains": "example.com example.net example.org",
    "alias_maps": "",
    "alias_database": "",
    "smtpd_client_connection_count_limit": "0",
    "smtpd_peername_lookup": "no",
    "smtp_host_lookup": "native",
    "enable_long_queue_ids": "yes",
    "in_flow_delay": "0",
    "default_process_limit": "50",
    "smtpd_hard_error_limit": "1000000",
    "smtpd_soft_error_limit": "1000000",
    "message_size_limit": "50000000",
}


class Postfix:
    """Runs from construction to `stop`; listens on 127.0.0.1:port, [::1]:port and a Unix socket.

    transport: Postfix's name for where all mail goes: "discard:", "lmtp:inet:127.0.0.1:24",
    "smtp:[127.0.0.1]:2525". master: further lines of master.cf, a transport of its own for instance. certificate: a PEM
    file with its key, for STARTTLS, and for TLS from the first octet at `tls_endpoint`. launcher: words before the
    program's own, such as those that enter a namespace.
    """

    def __init__(self, folder, transport="discard:", master="", certificate=None, launcher=(), **settings):
        self.folder = pathlib.Path(folder)
        self.launcher = launcher
        if certificate:
            tls_port = free_port()
            self.tls_endpoint = f"127.0.0.1:{tls_port}"
            master += TLS_MASTER_CF.format(port=tls_port)
            settings = {"smtpd_tls_security_level": "may", "smtpd_tls_cert_file": certificate, "smtpd_tls_loglevel": "1",
                        "smtpd_tls_key_file": certificate} | settings
        self.port = free_port()
        self.endpoint = f"127.0.0.1:{self.port}"
        self.log_path = self.folder / "maillog"
        self.queue = self.folder / "queue"
        self.socket = self.queue / "public" / "smtpd"
        self._make_folders()
        self._configure(transport, master, settings)
        self.start()

    def start(self):
        """Also again, after `stop`, with the same queue and port."""
        starts = self.log.count("daemon started")
        self.process = Process([*self.launcher, MASTER, "-c", self.folder, "-d"], self.folder, "master")
        # its log and not a connection says that it listens: the tests count connections
        wait_until(lambda: self.log.count("daemon started") > starts or not self.process.running, "Postfix to start")
        assert self.process.running, f"Postfix ended: {self.log}{self.process.stderr}"

    def _make_folders(self):
        """What `postfix check` would make, without the two seconds that it takes."""
        owner = pwd.getpwnam("postfix").pw_uid
        postdrop = grp.getgrnam("postdrop").gr_gid
        self.queue.mkdir()
        (self.queue / "pid").mkdir()
        for path in [self.folder / "data", *(self.queue / name for name in QUEUE_FOLDERS)]:
            path.mkdir(mode=0o700)
            os.chown(path, owner, -1)
        for name, mode in (("public", 0o2710), ("maildrop", 0o1730)):
            os.chown(self.queue / name, owner, postdrop)
            (self.queue / name).chmod(mode)

    def _configure(self, transport, master, settings):
        main = MAIN_CF | {
            "queue_directory": self.queue, "data_directory": self.folder / "data",
            "maillog_file": self.log_path, "maillog_file_prefixes": self.folder,
            "relay_transport": transport, "default_transport": transport,
        } | settings
        text = "".join(f"{name} = {value}\n" for name, value in main.items())
        path = self.folder / "main.cf"
        path.write_text(text)
        past = path.stat().st_mtime - 60  # Postfix waits until a fresh main.cf has aged
        os.utime(path, (past, past))
        (self.folder / "master.cf").write_text(MASTER_CF.format(port=self.port) + master)

    @property
    def log(self):
        try:
            return self.log_path.read_text(errors="replace")
        except FileNotFoundError:
            return ""

    @property
    def accepted(self):
        """Queue ids of the messages that it took responsibility for, each once."""
        return set(re.findall(r"qmgr\[\d+\]: (\w+): from=<", self.log))

    @property
    def removed(self):
        """Queue ids of the messages it has done with."""
        return set(re.findall(r"qmgr\[\d+\]: (\w+): removed", self.log))

    def sessions(self):
        """Every connection that smtpd served, once all have ended: (client, {command: count}), where
        client is name[address] and a refused command counts under its name too."""
        def ended():
            log = self.log
            found = re.findall(r"smtpd\[\d+\]: disconnect from (\S+) (.*)", log)
            return len(found) == len(re.findall(r"smtpd\[\d+\]: connect from ", log)) and found
        found = wait_until(ended, lambda: f"the end of all connections: {self.log[-2000:]}")
        return [(client, {command: int(count) for command, count in re.findall(r"(\w+)=(?:\d+/)?(\d+)", counts)})
                for client, counts in found]

    def outcomes(self, status):
        """The recipients of the deliveries that ended with `status` (sent, deferred, bounced)."""
        return re.findall(rf": \w+: to=<([^>]*)>, .*status={status}", self.log)

    def drain(self, messages, timeout=60):
        """Waits until it has logged `messages` messages as accepted and as done with."""
        def is_done():
            self.hurry()
            return len(self.accepted) >= messages and self.accepted <= self.removed
        wait_until(is_done,
                   lambda: f"{messages} messages through Postfix: {len(self.accepted)} accepted, "
                           f"{len(self.removed)} done; the log ends: {self.log[-3000:]}", timeout)
        return len(self.accepted)

    def queued(self):
        """The queue files of messages that it has taken responsibility for: those that are complete (S_IXUSR). A message
        that goes from deferred to active while one and then the other is read is in neither, and comes back to deferred
        where it stays for a second or more: so the folders are read twice, within less."""
        while True:
            began = time.monotonic()
            found = {*self.complete_files(), *self.complete_files()}
            if found or time.monotonic() - began < 0.5:
                return sorted(found)

    def complete_files(self):
        for name in ("maildrop", "incoming", "active", "deferred"):
            for place, _, files in os.walk(self.queue / name):
                for file in files:
                    with contextlib.suppress(FileNotFoundError):
                        if os.stat(os.path.join(place, file)).st_mode & stat.S_IXUSR:
                            yield file

    def flush(self, timeout=60):
        """Runs the queue (postqueue -f), until all of it is delivered."""
        subprocess.run(["postqueue", "-c", self.folder, "-f"], check=True, timeout=timeout)
        self.wait_until_empty(timeout)

    def wait_until_empty(self, timeout=60):
        """Until all that it has taken responsibility for is done with."""
        def is_empty():
            self.hurry()
            return not self.queued()
        wait_until(is_empty, lambda: f"an empty queue: {self.stories(self.queued()[:5])}", timeout)

    def hurry(self):
        """A message that is due again while its last delivery has not let go of its file ("skipped, still being delivered")
        goes to the incoming queue for a minute, which no setting changes: its time is set to now."""
        for path in (self.queue / "incoming").iterdir():
            with contextlib.suppress(FileNotFoundError):
                if path.stat().st_mtime > time.time() + 1:
                    os.utime(path)

    def stories(self, messages):
        """Where these are, what the log has of them, and its end."""
        places = [str(path) for one in messages for path in self.queue.rglob(one)]
        log = self.log
        told = [line for line in log.splitlines() if any(f" {one}: " in line for one in messages)]
        return "\n".join([*places, *told, "The log ends:", log[-2000:]])

    def stop(self):
        """Ends (SIGKILL) master and all its daemons; the queue stays as it is."""
        self.process.kill()
