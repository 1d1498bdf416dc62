"""Runs `roost lb`, or another function, in its namespace and reads its report at the end."""

import json
import os
import signal
import subprocess
import time

from namespaces import LB_INTERFACES


def packet_sockets(workers=1):
    """The devices of both interfaces. Of several workers, all receive from the clients, and one
    from the backends.
    """
    queues = (workers, 1)
    return [
        f"net_af_packet{i},iface={name},qpairs={queues[i]}" for i, name in enumerate(LB_INTERFACES)
    ]


class Balancer:
    """Use as `with Balancer(...) as balancer: ... report = balancer.stop()`; it is dead at the end
    of the block.
    """

    def __init__(
        self, roost, config, namespace, directory, devices, cores=(), function="lb", options=()
    ):
        """`devices` are DPDK's, in the order of the configuration's ports; `cores` for `-l`;
        `function` is the subcommand, `options` are its own."""
        self.namespace = namespace
        with_sockets = "net_af_packet", "net_pcap"
        self.socket_count = sum(device.startswith(with_sockets) for device in devices)
        self.log = directory / "roost.stderr"
        # DPDK's run directory goes where everything of this run is.
        environment = dict(
            os.environ, RUNTIME_DIRECTORY=str(directory), XDG_RUNTIME_DIR=str(directory)
        )
        self.process = subprocess.Popen(
            [
                *namespace.prefix,
                roost,
                function,
                "-c",
                config,
                "--json",
                *options,
                "--",
                "--no-huge",
                "--no-pci",
                "--no-telemetry",
                "-m",
                "256",
                "--file-prefix",
                f"roost-live-{os.getpid()}-{directory.name}",
                *(("-l", ",".join(map(str, cores))) if cores else ()),
                *(f"--vdev={device}" for device in devices),
            ],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=self.log.open("w"),
            text=True,
            env=environment,
        )

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()

    def wait_until_ready(self):
        """Until its interfaces have bound their packet sockets; frames queue in the sockets' rings
        from then on.
        """
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline and self.process.poll() is None:
            sockets = self.namespace.run("cat", "/proc/net/packet").splitlines()[1:]
            bound = {line.split()[4] for line in sockets} - {"0"}
            if len(bound) == self.socket_count:
                time.sleep(0.5)
                return
            time.sleep(0.05)
        raise RuntimeError(f"roost did not start: {self.log.read_text()}")

    def stop(self):
        """Ends the run as an operator would, and returns the report."""
        assert self.process.poll() is None, f"roost ended by itself: {self.log.read_text()}"
        self.process.send_signal(signal.SIGTERM)
        output, _ = self.process.communicate(timeout=15)
        assert self.process.returncode == 0, (
            f"roost ended with status {self.process.returncode}:\n{output}\n"
            f"{self.log.read_text()}"
        )
        return json.loads(output)
