"""A balancer is restarted again and again while downloads are under way, each time by a process
that takes over from the one before (`roost lb --takeover`); then one is killed, and what it left is
adopted. No download notices. What cannot be taken over is refused, and the one that runs goes on.
"""

import contextlib
import json
import pathlib
import subprocess
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor

from balancer import Balancer, packet_sockets
from draining import Control
from namespaces import wait_for


class Restarts:
    """The balancers of one state directory, one after the other."""

    def __init__(self, roost, network, config, socket, state, directory):
        self.roost = roost
        self.namespace = network.lb
        self.config = config
        self.state = state
        self.directory = directory
        self.control = Control(roost, socket)
        self.socket = socket
        self.count = 0
        self.now = None
        self.reports = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.now is not None:
            self.now.__exit__()

    def begin(self, *options):
        """Another process, which is not waited for."""
        directory = self.directory / f"process{self.count}"
        directory.mkdir()
        self.count += 1
        return Balancer(self.roost, self.config, self.namespace, directory, packet_sockets(),
                        options=options)  # fmt: skip

    def start(self, *options):
        self.now = self.begin(*options)
        self.wait_until_serving()

    def wait_until_serving(self):
        wait_for("it serves", lambda: (self.state / "socket").exists() and self.answers(),
                 self.now.log)  # fmt: skip

    def answers(self):
        asked = subprocess.run([*self.control.command, "stats"], capture_output=True, timeout=30)
        return asked.returncode == 0

    def take_over(self):
        """The next process; the microseconds of the pause, and the report of the one before."""
        before, self.now = self.now, self.begin("--takeover")
        output, _ = before.process.communicate(timeout=30)
        assert before.process.returncode == 0, (output, before.log.read_text(),
                                                self.now.log.read_text())  # fmt: skip
        self.wait_until_serving()
        report, stats = json.loads(output), self.control.ask("stats")
        self.reports.append(report)
        assert stats["takeover"]["takeovers"] == 1, self.now.log.read_text()
        assert report["flows"]["moved"] == stats["flows"]["adopted"], (report, stats)
        return stats["takeover"]["pause_microseconds"], report["flows"]["moved"]

    def refused(self, words, *options):
        """A process that must not take over; the one that runs answers as before."""
        other = self.begin(*options)
        output, _ = other.process.communicate(timeout=30)
        told = other.log.read_text()
        assert other.process.returncode == 4 and words in told, (output, told)
        wait_for("the first one goes on", self.answers, self.now.log)
        assert self.now.process.poll() is None

    def kill(self):
        self.now.process.kill()
        self.now.process.communicate()

    def adopt_left(self):
        """What a killed one left; how many connections that were, or None: begun anew."""
        self.start("--takeover")
        flows = self.control.ask("stats")["flows"]
        told = self.now.log.read_text()
        assert (flows["adopted"] > 0) != ("begun anew" in told), (flows, told)
        return flows["adopted"] or None


@contextlib.contextmanager
def state_directory():
    """A new one in memory, as operators should have it."""
    with tempfile.TemporaryDirectory(prefix="roost-state-", dir="/dev/shm") as directory:
        yield pathlib.Path(directory)


def with_state(text, state):
    """A configuration whose connections stand in a directory."""
    key = f'state = "{state}"\n'
    return text.replace("[lb]\n", f"[lb]\n{key}", 1) if "[lb]\n" in text else f"{text}\n[lb]\n{key}"


def refuse_another_size(restarts):
    """A configuration that lays the tables out in another way."""
    whole = restarts.config.read_text()
    restarts.config.write_text(whole.replace("connections = ", "connections = 1", 1))
    restarts.refused("[table] connections cannot change", "--takeover")
    restarts.config.write_text(whole)


def refuse_what_cannot_be(restarts):
    """That, another version, and no --takeover at all."""
    refuse_another_size(restarts)
    restarts.refused("goes on")
    manifest = restarts.state / "manifest.json"
    text = manifest.read_text()
    manifest.write_text(text.replace('"format": 1', '"format": 2'))
    restarts.refused("are of format 2, and this program reads 1", "--takeover")
    manifest.write_text(text)


def download_until(is_over, scene, service):
    answers = []
    while not is_over.is_set():
        answers += scene.clients.web(service, ["4m"] * 8)
    return answers


def check_restarts(scene, roost, config, socket, directory):
    """Of the live test: takeovers, a refusal and a killed process under downloads. The second one
    takes over what the first one did."""
    is_over = threading.Event()
    with contextlib.ExitStack() as stack:
        state = stack.enter_context(state_directory())
        config.write_text(with_state(config.read_text(), state))
        restarts = stack.enter_context(
            Restarts(roost, scene.network, config, socket, state, directory))  # fmt: skip
        pool = stack.enter_context(ThreadPoolExecutor(1))
        stack.callback(is_over.set)
        restarts.start()
        answers = pool.submit(download_until, is_over, scene, scene.service("web"))
        time.sleep(0.5)
        pauses = [restarts.take_over() for _ in range(2)]
        refuse_another_size(restarts)
        restarts.kill()
        left = restarts.adopt_left()
        is_over.set()
        answers = answers.result()
        report = restarts.now.stop()
    assert all(flows > 0 for _, flows in pauses), pauses
    words = ", ".join(f"{pause} us with {flows} connections" for pause, flows in pauses)
    print(f"live: two takeovers under {len(answers)} downloads: {words}; after SIGKILL "
          f"{'begun anew' if left is None else f'{left} adopted'}")  # fmt: skip
    return answers, report
