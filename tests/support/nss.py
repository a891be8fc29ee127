# SPDX-License-Identifier: GPL-3.0-or-later
"""A user database that cannot be asked, that takes its time, or that has one user more.

    database = Database(folder)      # a library to be preloaded
    lmtp_deliver(template, env=database.environment)
    database.fail()                  # each look-up of a user fails with EIO, until work()
    Database(folder, made_up=54321)  # has a user "made-up" with that number, who is nobody else's here

    lmtp_deliver(template, env=database.slow_for("user", gate))    # that name waits until the gate is opened; "slow*": all such
    database.asked                   # the names so far
"""
import os
import pathlib
import subprocess

from .process import wait_until

SOURCE = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef int look_up(const char*, struct passwd*, char*, size_t, struct passwd**);

static void note(const char* name) {
    char line[256];
    int size = snprintf(line, sizeof line, "%.200s\\n", name);
    int file = open(getenv("USERS_ASKED"), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
    if (write(file, line, size) != size) abort();
    close(file);
}

int getpwnam_r(const char* name, struct passwd* entry, char* buffer, size_t size, struct passwd** result) {
    const char* slow = getenv("SLOW_USER");
    note(name);
    if (access(getenv("NO_USERS"), F_OK) == 0) {
        *result = NULL;
        return EIO;
    }
    size_t known = slow != NULL ? strlen(slow) : 0;
    int starts = known > 0 && slow[known - 1] == '*' && strncmp(slow, name, known - 1) == 0;
    if (slow != NULL && (starts || strcmp(slow, name) == 0)) close(open(getenv("SLOW_GATE"), O_RDONLY | O_CLOEXEC));
    const char* made_up = getenv("MADE_UP_USER");
    if (made_up != NULL && strcmp(name, "made-up") == 0) {
        entry->pw_name = "made-up";
        entry->pw_passwd = "*";
        entry->pw_gecos = "";
        entry->pw_dir = "/";
        entry->pw_shell = "/bin/sh";
        entry->pw_uid = entry->pw_gid = (uid_t)atoi(made_up);
        *result = entry;
        return 0;
    }
    return ((look_up*)dlsym(RTLD_NEXT, "getpwnam_r"))(name, entry, buffer, size, result);
}
"""


class Database:
    def __init__(self, folder, made_up=None):
        folder = pathlib.Path(folder)
        self.switch = folder / "no-users"
        self.log = folder / "users-asked"
        library = folder / "no-users.so"
        subprocess.run(["cc", "-shared", "-fPIC", "-x", "c", "-", "-o", library, "-ldl"], input=SOURCE.encode(), check=True)
        self.environment = {**os.environ, "LD_PRELOAD": str(library), "NO_USERS": str(self.switch), "USERS_ASKED": str(self.log)}
        if made_up is not None:
            self.environment["MADE_UP_USER"] = str(made_up)

    def slow_for(self, name, gate):
        return {**self.environment, "SLOW_USER": name, "SLOW_GATE": str(gate)}

    @property
    def asked(self):
        return self.log.read_text().splitlines() if self.log.exists() else []

    def wait_until_asked(self, name):
        wait_until(lambda: name in self.asked, lambda: f"the database to be asked for {name}: {self.asked}")

    def fail(self):
        self.switch.touch()

    def work(self):
        self.switch.unlink()
