"""A user database that cannot be asked.

    database = Database(folder)      # a library to be preloaded
    lmtp_deliver(template, env=database.environment)
    database.fail()                  # each look-up of a user fails with EIO, until work()
"""
import os
import pathlib
import subprocess

SOURCE = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pwd.h>
#include <stdlib.h>
#include <unistd.h>

typedef int look_up(const char*, struct passwd*, char*, size_t, struct passwd**);

int getpwnam_r(const char* name, struct passwd* entry, char* buffer, size_t size, struct passwd** result) {
    if (access(getenv("NO_USERS"), F_OK) == 0) {
        *result = NULL;
        return EIO;
    }
    return ((look_up*)dlsym(RTLD_NEXT, "getpwnam_r"))(name, entry, buffer, size, result);
}
"""


class Database:
    def __init__(self, folder):
        folder = pathlib.Path(folder)
        self.switch = folder / "no-users"
        library = folder / "no-users.so"
        subprocess.run(["cc", "-shared", "-fPIC", "-x", "c", "-", "-o", library, "-ldl"], input=SOURCE.encode(), check=True)
        self.environment = {**os.environ, "LD_PRELOAD": str(library), "NO_USERS": str(self.switch)}

    def fail(self):
        self.switch.touch()

    def work(self):
        self.switch.unlink()
