"""A Dovecot of a test's own: LMTP over TCP and a Unix socket into Maildirs below its folder.

Needs root, no system service. Only the users that it was given exist; others are refused with
550 5.1.1. Mailboxes belong to the system user `mail`, because Dovecot delivers for no uid 0.
"""
import os
import pathlib
import pwd

from .mail import read_maildir
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
mail_location = maildir:~/Maildir
first_valid_uid = 1
lda_mailbox_autocreate = yes
mail_fsync = never
postmaster_address = postmaster@example.com
passdb {{
  driver = passwd-file
  args = username_format=%u {folder}/users
}}
userdb {{
  driver = passwd-file
  args = username_format=%u {folder}/users
}}
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


class Dovecot:
    """Runs from construction to `stop`. `users` are whole addresses with lower-case letters.

    extra: further configuration. quota: {user: quota rule} for use with the quota plugin.
    """

    def __init__(self, folder, users, protocols="lmtp", extra="", quota=None):
        self.folder = pathlib.Path(folder)
        self.users = list(users)
        self.port = free_port()
        self.endpoint = f"127.0.0.1:{self.port}"
        self.socket = self.folder / "lmtp"
        owner = pwd.getpwnam("mail")
        self.mail = self.folder / "mail"
        self.mail.mkdir()
        os.chown(self.mail, owner.pw_uid, owner.pw_gid)
        rules = {user: f"userdb_quota_rule={rule}" for user, rule in (quota or {}).items()}
        lines = [f"{user}:{{PLAIN}}secret:{owner.pw_uid}:{owner.pw_gid}::{self.mail}/{user}::{rules.get(user, '')}\n"
                 for user in users]
        (self.folder / "users").write_text("".join(lines))
        configuration = self.folder / "dovecot.conf"
        configuration.write_text(CONFIGURATION.format(
            folder=self.folder, port=self.port, protocols=protocols, extra=extra))
        self.process = Process(["dovecot", "-F", "-c", configuration], self.folder)
        self.process.wait_for_listener(("127.0.0.1", self.port))
        self.process.wait_for_listener(self.socket)

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

    def stop(self):
        """Ends the master process and all its services; what is on the disk stays for the test."""
        self.process.kill()
