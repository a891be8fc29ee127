# SPDX-License-Identifier: GPL-3.0-or-later
"""A MariaDB of a test's own, with the users of a Dovecot in it: on a Unix socket only, nothing of the system's is used.

    database = MariaDB(folder)
    dovecot(users, accounts=database.add_mail_users({user: password, …}, homes))
"""
import os
import pathlib
import pwd
import shutil
import subprocess
import tempfile

from .process import Process, wait_until

OWNER = "mail"  # who runs it: mariadbd refuses to be root
# What a test's database need not have: it is thrown away, and small.
SMALL = ("--skip-log-bin", "--innodb-log-file-size=4M", "--innodb-buffer-pool-size=8M", "--innodb-flush-log-at-trx-commit=0",
         "--innodb-doublewrite=0", "--innodb-flush-method=nosync", "--performance-schema=OFF")

# How Dovecot asks; see its documentation of SQL authentication.
QUERIES = """\
driver = mysql
connect = host={socket} dbname=mail user=dovecot password={password}
default_pass_scheme = SHA512
password_query = SELECT address AS user, password FROM users WHERE address = '%u'
user_query = SELECT home, uid, gid FROM users WHERE address = '%u'
iterate_query = SELECT address AS user FROM users
"""
ACCOUNTS = """\
passdb {{
  driver = sql
  args = {queries}
}}
userdb {{
  driver = sql
  args = {queries}
}}
"""


class MariaDB:
    """Runs from construction to `stop`."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.socket = self.folder / "mysql.sock"
        self.process = None
        # in memory where that is possible: making a database waits for the disk many times
        self.data = tempfile.mkdtemp(prefix="postal-test-", dir="/dev/shm" if os.path.isdir("/dev/shm") else "/tmp")
        try:
            self._start()
        except BaseException:
            self.stop()
            raise

    def _start(self):
        for path in (self.folder, self.data):
            os.chown(path, pwd.getpwnam(OWNER).pw_uid, -1)
        own = {"user": OWNER, "group": OWNER, "extra_groups": []}
        common = ["--no-defaults", f"--datadir={self.data}", *SMALL]
        made = subprocess.run(["mariadb-install-db", *common, "--auth-root-authentication-method=socket", "--skip-name-resolve",
                               "--skip-test-db"], capture_output=True, text=True, timeout=120, check=False, **own)
        assert made.returncode == 0, made.stdout + made.stderr
        self.process = Process(["mariadbd", *common, f"--socket={self.socket}", f"--pid-file={self.folder}/mariadbd.pid",
                                "--skip-networking"], self.folder, **own)
        wait_until(lambda: "ready for connections" in self.process.stderr or not self.process.running, "MariaDB to start", 60)
        assert self.process.running, self.process.stderr

    def run(self, statements):
        """Runs SQL as the database's root; what it printed, a line a row, with tabs between columns."""
        done = subprocess.run(["mariadb", "--no-defaults", f"--socket={self.socket}", "--batch", "--skip-column-names"],
                              input=statements, capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def add_mail_users(self, passwords, mail):
        """A table of {address: password}, homes below `mail`; returns what Dovecot's configuration says of it.

        Passwords are kept as Dovecot's scheme SHA512: the digest in base64."""
        owner = pwd.getpwnam("mail")
        rows = ",".join(f"('{address}', REPLACE(TO_BASE64(UNHEX(SHA2('{password}', 512))), '\\n', ''), '{mail}/{address}',"
                        f" {owner.pw_uid}, {owner.pw_gid})" for address, password in passwords.items())
        secret = "only-for-reading"
        self.run(f"""
            CREATE DATABASE mail;
            CREATE TABLE mail.users (address VARCHAR(200) PRIMARY KEY, password VARCHAR(100) NOT NULL,
                                     home VARCHAR(200) NOT NULL, uid INT NOT NULL, gid INT NOT NULL);
            INSERT INTO mail.users VALUES {rows};
            CREATE USER dovecot@localhost IDENTIFIED BY '{secret}';
            GRANT SELECT ON mail.users TO dovecot@localhost;""")
        queries = self.folder / "dovecot-sql.conf"
        queries.write_text(QUERIES.format(socket=self.socket, password=secret))
        return ACCOUNTS.format(queries=queries)

    def stop(self):
        """Ends (SIGKILL) the server; nothing that it holds is wanted any more."""
        if self.process:
            self.process.kill()
        shutil.rmtree(self.data)
