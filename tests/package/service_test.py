"""The packages installed on this machine, the service run as its unit says, and everything gone
after the purge."""

import json
import os
import pathlib
import signal
import subprocess
import tempfile
import time
import unittest

from packages import NAMES, packages, run
from unit import Service, Unit

DEFAULTS = pathlib.Path("/etc/default/roost-lb")
UNIT = "/lib/systemd/system/roost-lb.service"
# Ports that need nothing: the first receives blank frames without end, the second none.
EAL = "--no-huge -m 256 --no-pci --vdev=net_null0 --vdev=net_null1,no-rx=1"
# Where packages leave what purging forgets.
WATCHED = ("/etc", "/lib/systemd", "/usr/lib/systemd", "/var/lib/systemd", "/usr/share/roost",
           "/run/roost", "/usr/include/roost")


def installed():
    shown = "--showformat=${Package} ${db:Status-Status}\n"
    listing = subprocess.run(["dpkg-query", "--show", shown, *NAMES], capture_output=True,
                             text=True, check=False).stdout
    return [line for line in listing.splitlines() if not line.endswith("not-installed")]


def why_not_here():
    if os.geteuid() != 0:
        return "installing the packages and running their service: needs root"
    if installed():
        return f"installing the packages: there are others already ({', '.join(installed())})"
    return None


def files_below(*folders):
    return {path for folder in folders for path in map(str, pathlib.Path(folder).rglob("*"))}


def is_systemd_running():
    return pathlib.Path("/run/systemd/system").is_dir()


def setUpModule():
    reason = why_not_here()
    if reason:
        print(f"NOT TESTED: {reason}", flush=True)
        raise unittest.SkipTest(reason)


class ServiceTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        before = files_below(*WATCHED)
        cls.addClassCleanup(cls.purge, before)
        run("dpkg", "--install", *packages().paths())
        cls.owned = {path for name in NAMES for path in packages().files(name)}
        cls.unit = Unit(UNIT)

    @classmethod
    def purge(cls, before):
        run("dpkg", "--purge", *NAMES)
        assert not installed(), installed()
        left = {path for path in cls.owned if pathlib.Path(path).exists()}
        left |= files_below(*WATCHED) - before
        assert not left, f"left behind by the purge: {sorted(left)}"

    def give_ports(self, eal):
        text = DEFAULTS.read_text()
        DEFAULTS.write_text(text.replace('ROOST_LB_EAL=""', f'ROOST_LB_EAL="{eal}"'))
        self.addCleanup(DEFAULTS.write_text, text)

    def new_folder(self):
        folder = tempfile.TemporaryDirectory(prefix="roost-service-")
        self.addCleanup(folder.cleanup)
        return folder.name

    def wait_for_reloads(self, count, service):
        deadline = time.monotonic() + 60
        while (told := json.loads(run("roost", "ctl", "--json", "stats"))["reloads"]) != count:
            self.assertLess(time.monotonic(), deadline, f"{told}\n{service.log.read_text()}")
            time.sleep(0.1)

    def test_unit_is_one_that_systemd_understands(self):
        self.assertEqual(run("systemd-analyze", "verify", "--man=no", UNIT), "")
        # 10 is an unprotected service; this one needs devices, raw sockets and the network.
        run("systemd-analyze", "security", "--offline=true", "--threshold=45", UNIT)

    def test_unit_starts_nothing_by_itself(self):
        links = [path for path in pathlib.Path("/etc/systemd").rglob("*roost*")]
        self.assertEqual(links, [])

    def test_service_as_installed_says_that_it_has_no_ports(self):
        with Service(self.unit, self.new_folder()) as service:
            self.assertEqual(service.process.wait(60), 4, service.log.read_text())
            self.assertIn("roost: ", service.log.read_text())
            service.notices.settimeout(0)
            self.assertRaises(BlockingIOError, service.notices.recv, 4096)

    def test_service_tells_its_manager_and_answers_its_operator(self):
        self.give_ports(EAL)
        run(*self.unit.words("ExecStartPre"))
        with Service(self.unit, self.new_folder()) as service:
            received = service.receive_until("READY=1")
            self.assertFalse([notice for notice in received if "STOPPING" in notice], received)
            service.receive_until("WATCHDOG=1")
            stats = json.loads(run("roost", "ctl", "--json", "stats"))
            self.assertGreater(stats["packets"]["received"], 0)
            self.assertEqual([port["device"] for port in stats["ports"]],
                             ["net_null0", "net_null1"])
            self.assertIn("web", run("roost", "ctl", "backends"))
            run(*self.unit.words("ExecReload", MAINPID=str(service.process.pid)))
            self.wait_for_reloads({"taken": 1, "refused": 0}, service)
            service.process.send_signal(signal.SIGTERM)
            service.receive_until("STOPPING=1")
            self.assertEqual(service.process.wait(60), 0, service.log.read_text())
            self.assertFalse((service.runtime / "lb.sock").exists())

    def test_service_under_systemd(self):
        if not is_systemd_running():
            init = pathlib.Path("/proc/1/comm").read_text().strip()
            print(f"NOT TESTED: the service under systemd itself: process 1 is {init}", flush=True)
            return
        self.give_ports(EAL)
        self.addCleanup(run, "systemctl", "stop", "roost-lb")
        run("systemctl", "start", "roost-lb")  # returns once READY=1 has come
        stats = json.loads(run("roost", "ctl", "--json", "stats"))
        self.assertGreater(stats["packets"]["received"], 0)
        run("systemctl", "stop", "roost-lb")
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and pathlib.Path("/run/roost").exists():
            time.sleep(0.1)
        self.assertEqual(run("systemctl", "show", "-P", "Result", "roost-lb").strip(), "success")


if __name__ == "__main__":
    unittest.main()
