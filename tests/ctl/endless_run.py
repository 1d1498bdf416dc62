"""A function held open on captures that never end, with its control socket and metrics endpoint:
what an operator would talk to, without interfaces and without privileges.
"""

import json
import os
import pathlib
import signal
import socket
import subprocess
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
DEMO = ROOT / "demo/lb"
DEMO_CAPTURES = (DEMO / "client.pcap", DEMO / "backends.pcap")


def endless_balancer(roost, directory, options=()):
    return EndlessRun(roost, directory, "lb", (DEMO / "lb.toml").read_text(), options)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class EndlessRun:
    """Use as `with EndlessRun(...) as running: ... report = running.stop()`."""

    def __init__(self, roost, directory, function, config_text, options=(), captures=DEMO_CAPTURES,
                 devices=()):
        """`function` is the subcommand, `config_text` its configuration for the captures' ports and
        those of `devices`, DPDK's; `options` are its own."""
        self.roost = roost
        self.directory = pathlib.Path(directory)
        self.function = function
        self.socket = self.directory / f"{function}.sock"
        self.metrics = f"127.0.0.1:{free_port()}"
        self.log = self.directory / "stderr"
        self.config = self.directory / f"{function}.toml"
        self.config.write_text(
            config_text
            + f'\n[control]\nsocket = "{self.socket}"\nmode = "0600"\nmetrics = "{self.metrics}"\n'
        )
        environment = dict(
            os.environ, RUNTIME_DIRECTORY=str(directory), XDG_RUNTIME_DIR=str(directory)
        )
        devices = [
            f"net_pcap{i},rx_pcap={capture},infinite_rx=1,tx_pcap=/dev/null"
            for i, capture in enumerate(captures)
        ] + [*devices]
        self.process = subprocess.Popen(
            [roost, function, "-c", self.config, "--json", *options, "--"]
            + ["--no-huge", "--no-pci", "-m", "256"]
            + ["--file-prefix", f"roost-ctl-{os.getpid()}"]
            + [f"--vdev={device}" for device in devices],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=self.log.open("w"),
            text=True,
            env=environment,
        )

    def __enter__(self):
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and self.process.poll() is None:
            if self.socket.exists():
                return self
            time.sleep(0.05)
        self.__exit__()
        raise RuntimeError(f"roost {self.function} did not start: {self.log.read_text()}")

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()

    def ctl(self, *words, status=0, at=None):
        """The output of `roost ctl`, or what it has on standard error when it should fail."""
        result = subprocess.run(
            [self.roost, "ctl", "--socket", at or self.socket, *map(str, words)],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        told = f"ctl {words}: status {result.returncode}\n{result.stdout}\n{result.stderr}"
        assert result.returncode == status, told + self.log.read_text()
        assert bool(result.stdout) == (status == 0), told
        return result.stdout if status == 0 else result.stderr

    def ask(self, *words):
        return json.loads(self.ctl("--json", *words))

    def stop(self, status=0):
        assert self.process.poll() is None, f"it ended by itself: {self.log.read_text()}"
        self.process.send_signal(signal.SIGTERM)
        output, _ = self.process.communicate(timeout=60)
        told = f"status {self.process.returncode}:\n{output}\n{self.log.read_text()}"
        assert self.process.returncode == status, told
        return json.loads(output)
