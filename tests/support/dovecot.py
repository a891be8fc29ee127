# SPDX-License-Identifier: GPL-3.0-or-later
"""A Dovecot of a test's own: LMTP over TCP and a Unix socket into mailboxes below its folder, POP3 and IMAP on wish.

Needs root, no system service. Only the users that it was given exist; others are refused with
550 5.1.1. Dovecot delivers for no uid 0, and Linux gives each user 128 instances of inotify, of which each session in
IDLE takes one: so the mailboxes of each Dovecot belong to a user id of its own, but for those whose users are elsewhere,
which belong to the system user `mail`.
"""
import contextlib
import imaplib
import os
import pathlib
import poplib
import pwd

from .mail import Message, read_maildir
from .process import Process, free_port, wait_until

CONFIGURATION = """\
base_dir = {folder}/run
state_dir = {folder}/run
log_path = {folder}/dovecot.log
protocols = {protocols}
listen = 127.0.0.1
ssl = no
disable_plaintext_auth = no
default_process_limit = 250
default_client_limit = 2000
mail_location = {location}
first_valid_uid = 1
lda_mailbox_autocreate = yes
mail_fsync = never
postmaster_address = postmaster@example.com
{accounts}
service stats {{
  client_limit = 2000
}}
service lmtp {{
  process_limit = 250
  inet_listener lmtp {{
    address = 127.0.0.1
    port = {port}
  }}
  unix_listener {folder}/lmtp {{
    mode = 0666
  }}
}}
protocol lmtp {{
  recipient_delimiter =
}}
{extra}
"""

# The users of a Dovecot that was not told where else they are.
PASSWD_FILE = """\
passdb {{
  driver = passwd-file
  args = username_format=%u {folder}/users
}}
userdb {{
  driver = passwd-file
  args = username_format=%u {folder}/users
}}
"""

# Processes that are there before they are needed, and serve more than one connection: a fork for each takes longer
# than most tests.
READING = """\
service {name}-login {{
  service_count = 0
  process_min_avail = 1
  inet_listener {name} {{
    address = 127.0.0.1
    port = {port}
  }}
}}
service {name} {{
  service_count = 1000
  process_min_avail = 1
  process_limit = 250
}}
protocol {name} {{
  mail_max_userip_connections = 0
}}
"""
# Over what was said before: STARTTLS everywhere, and ports for those who begin with TLS.
TLS = """\
ssl = yes
ssl_cert = <{certificate}
ssl_key = <{certificate}
service pop3-login {{
  inet_listener pop3s {{
    address = 127.0.0.1
    port = {pop3s}
    ssl = yes
  }}
}}
service imap-login {{
  inet_listener imaps {{
    address = 127.0.0.1
    port = {imaps}
    ssl = yes
  }}
}}
"""
LOCATIONS = {"maildir": "maildir:~/Maildir", "sdbox": "sdbox:~/sdbox", "mdbox": "mdbox:~/mdbox"}
PASSWORD = "secret"
FIRST_USER_ID = 1_000_000  # that of port 0: no port is two servers' at once


class Dovecot:
    """Runs from construction to `stop`. `users` are whole addresses with lower-case letters.

    extra: further configuration. quota: {user: quota rule} for use with the quota plugin. reading: listens for POP3
    and IMAP, too, at `pop3` and `imap`. store: of LOCATIONS. bare_logins: the part before the @ logs in as well.
    accounts: passdb and userdb that know the users, in place of a file; homes are below folder/mail. certificate: a PEM
    file with its key, for STARTTLS and STLS, and for TLS from the first octet at `pop3s` and `imaps`. launcher: words
    before the program's own, such as those that enter a network in which no port can be asked from here.
    """

    def __init__(self, folder, users, protocols="lmtp", extra="", quota=None, *, reading=False, store="maildir",
                 bare_logins=False, accounts=None, certificate=None, launcher=()):
        self.folder = pathlib.Path(folder)
        self.launcher = launcher
        self.users = list(users)
        self.port = free_port()
        self.endpoint = f"127.0.0.1:{self.port}"
        ports = {name: free_port() for name in ("pop3", "imap")} if reading else {}
        self.pop3, self.imap = (f"127.0.0.1:{ports[name]}" if reading else None for name in ("pop3", "imap"))
        extra += "".join(READING.format(name=name, port=port) for name, port in ports.items())
        if certificate:
            tls_ports = {name: free_port() for name in ("pop3s", "imaps")}
            self.pop3s, self.imaps = (f"127.0.0.1:{port}" for port in tls_ports.values())
            extra += TLS.format(certificate=certificate, **tls_ports)
        self.socket = self.folder / "lmtp"
        owner = pwd.getpwnam("mail")
        user_id = owner.pw_uid if accounts else FIRST_USER_ID + self.port
        self.mail = self.folder / "mail"
        self.mail.mkdir()
        os.chown(self.mail, user_id, owner.pw_gid)
        rules = {user: f"userdb_quota_rule={rule}" for user, rule in (quota or {}).items()}
        logins = [(user, user) for user in users] + [(user.split("@")[0], user) for user in users if bare_logins]
        lines = [f"{login}:{{PLAIN}}{PASSWORD}:{user_id}:{owner.pw_gid}::{self.mail}/{user}::{rules.get(user, '')}\n"
                 for login, user in logins]
        (self.folder / "users").write_text("".join(lines))
        (self.folder / "dovecot.conf").write_text(CONFIGURATION.format(
            folder=self.folder, port=self.port, protocols=" ".join([protocols, *ports]), extra=extra,
            location=LOCATIONS[store], accounts=accounts or PASSWD_FILE.format(folder=self.folder)))
        ports_here = () if launcher else (self.port, *ports.values())
        self.listeners = [self.socket, *(("127.0.0.1", port) for port in ports_here)]
        self.start()
        # Made by a login each: deliveries that make a mailbox of dbox at the same time block one another, and one of them
        # is told "Mailbox already exists" or "Resource deadlock avoided".
        for user in self.users if reading and store != "maildir" else []:
            with self.imap_session(user):
                pass

    def start(self):
        """Also again, after `stop`, with the same mail, users and ports. Nobody holds the locks that killed processes
        have left; where their holder had not yet written its number into one, Dovecot would wait two minutes."""
        for lock in self.mail.glob("*/Maildir/*.lock"):
            lock.unlink()
        self.process = Process([*self.launcher, "dovecot", "-F", "-c", self.folder / "dovecot.conf"], self.folder, "dovecot")
        for listener in self.listeners:
            self.process.wait_for_listener(listener)

    @property
    def log(self):
        path = self.folder / "dovecot.log"
        return path.read_text(errors="replace") if path.exists() else ""

    def mailbox(self, user):
        return read_maildir(self.mail / user / "Maildir")

    def all_mail(self):
        """Every mail of every user."""
        return [message for user in self.users for message in self.mailbox(user)]

    def wait_for(self, count, timeout=60):
        """All mail, once there are `count` messages of it (an LMTP reply may come before rename)."""
        found = []
        def look():
            found[:] = self.all_mail()
            return len(found) >= count
        wait_until(look, lambda: f"{count} messages in Dovecot, which has {len(found)}: {self.log[-2000:]}", timeout)
        return found

    @contextlib.contextmanager
    def pop3_session(self, user):
        """poplib's view of a mailbox; QUIT at the end."""
        host, port = self.pop3.split(":")
        client = poplib.POP3(host, int(port), timeout=60)
        try:
            client.user(user)
            client.pass_(PASSWORD)
            yield client
        finally:
            client.quit()

    @contextlib.contextmanager
    def imap_session(self, user, readonly=True):
        """imaplib's view of a mailbox, with INBOX selected."""
        host, port = self.imap.split(":")
        with imaplib.IMAP4(host, int(port), timeout=60) as client:
            client.login(user, PASSWORD)
            assert client.select("INBOX", readonly=readonly)[0] == "OK"
            yield client

    def pop3_mail(self, user):
        """The messages that poplib reads."""
        with self.pop3_session(user) as client:
            count, _ = client.stat()
            return [Message(b"\r\n".join(client.retr(number)[1]) + b"\r\n", f"{user} {number}")
                    for number in range(1, count + 1)]

    def imap_mail(self, user):
        """The messages that imaplib reads."""
        with self.imap_session(user) as client:
            _, found = client.fetch("1:*", "(BODY.PEEK[])") if client.search(None, "ALL")[1] != [b""] else (None, [])
            return [Message(part[1], f"{user} {number}") for number, part in enumerate(found) if isinstance(part, tuple)]

    def put(self, user, text, mailbox="INBOX"):
        """APPENDs a message as it is, with CRLF line ends."""
        with self.imap_session(user, readonly=False) as client:
            assert client.append(mailbox, None, None, text)[0] == "OK"

    def stop(self):
        """Ends (SIGKILL) the master process and all its services; what is on the disk stays for the test."""
        self.process.kill()
