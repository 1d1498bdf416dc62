"""A unit file, and its ExecStart run as its service manager would, where there is no systemd."""

import os
import pathlib
import re
import shlex
import shutil
import socket
import subprocess


class Unit:
    def __init__(self, path):
        self.values = {}
        for line in pathlib.Path(path).read_text().splitlines():
            key, equals, value = line.partition("=")
            if equals and not line.startswith("#"):
                self.values.setdefault(key, []).append(value)

    def one(self, key):
        assert len(self.values[key]) == 1, (key, self.values[key])
        return self.values[key][0]

    def environment(self):
        """EnvironmentFile, in which quotes are as in a shell."""
        found = {}
        for line in pathlib.Path(self.one("EnvironmentFile")).read_text().splitlines():
            if line and not line.startswith("#"):
                name, _, value = line.partition("=")
                found[name] = "".join(shlex.split(value))
        return found

    def words(self, key, **more):
        """A command line: a word $NAME becomes the words of that variable, of the unit's own or
        of those that its manager adds.
        """
        environment = self.environment() | more
        words = []
        for word in shlex.split(self.one(key)):
            name = re.fullmatch(r"\$(\w+)", word)
            words += environment[name.group(1)].split() if name else [word]
        return words

    def under_its_rights(self, words):
        """The command with the capabilities that the unit leaves it, and no way to get others."""
        left = [f"+{name.removeprefix('CAP_').lower()}"
                for name in self.one("CapabilityBoundingSet").split()]
        assert self.one("NoNewPrivileges") == "yes"
        return ["setpriv", "--bounding-set", ",".join(["-all", *left]), "--inh-caps", "-all",
                "--no-new-privs", *words]


class Service:
    """A unit's ExecStart, started; use it with `with`."""

    def __init__(self, unit, folder):
        self.runtime = pathlib.Path("/run") / unit.one("RuntimeDirectory")
        self.runtime.mkdir(mode=int(unit.one("RuntimeDirectoryMode"), 8))
        self.notices = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.notices.bind(f"{folder}/notify")
        self.notices.settimeout(60)
        self.log = pathlib.Path(folder) / "log"
        environment = {
            "PATH": os.environ["PATH"], "NOTIFY_SOCKET": f"{folder}/notify",
            "RUNTIME_DIRECTORY": str(self.runtime),
            "WATCHDOG_USEC": str(int(unit.one("WatchdogSec")) * 1_000_000)}
        with self.log.open("w") as log:
            self.process = subprocess.Popen(
                unit.under_its_rights(unit.words("ExecStart")),
                env=environment | unit.environment(), stdin=subprocess.DEVNULL, stdout=log,
                stderr=subprocess.STDOUT)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self.notices.close()
        shutil.rmtree(self.runtime)  # a RuntimeDirectory goes with its service

    def receive_until(self, words):
        """All notices up to one with these words; those that the process has left when it ends."""
        received = []
        while not received or words not in received[-1]:
            try:
                received.append(self.notices.recv(4096).decode())
            except TimeoutError:
                raise AssertionError(f"no {words} in {received}\n{self.log.read_text()}") from None
        return received
