"""What an operator does, and what befalls a backend, while downloads are under way."""

import time

from downloads import Downloads
from draining import states_of
from namespaces import wait_for
from network import BACKENDS, WEB_CLIENTS
from settings import WEB, with_weight

DRAINED, KILLED, FAVOURED = "b2", "b3", "b1"
WEIGHT = 2  # of the favoured one, by the reload
SHARES = 8, 1, 1  # of the downloads: before anything, after drain and reload, after the end


def web_flows(control, backend, *filters):
    """(client address, port) of the backend's web connections."""
    flows = set()
    for service in WEB:
        words = ["flows", "--service", service["name"], "--backend", backend, *filters]
        page = control.ask(*words)
        while True:
            for flow in page["flows"]:
                address, _, port = flow["client"].rpartition(":")
                flows.add((address.strip("[]"), int(port)))
            if "cursor" not in page:
                break
            page = control.ask(*words, "--cursor", page["cursor"])
    return flows


def flows_created(numbers, backend):
    """The balancer's own count of the backend's web connections."""
    names = {service["name"] for service in WEB}
    return sum(
        row["flows"]
        for service in numbers["services"]
        if service["name"] in names
        for row in service["backends"]
        if row["name"] == backend
    )


class Events:
    """Use as `events = Events(...); events.run(); events.results(digests)`."""

    def __init__(self, network, control, config, backends, count, directory):
        self.network = network
        self.control = control
        self.config = config
        self.backends = backends
        self.directory = directory
        self.count = count
        self.waves = []
        self.on_drained = set()  # connections that the drained backend had
        self.of_killed = set()  # connections that the killed one's end ends
        self.reload_seconds = self.notice_seconds = 0.0
        self.reloads = self.weights = None

    def run(self):
        self.begin_wave()
        self.drain()
        self.reload()
        self.begin_wave()
        self.kill()
        self.begin_wave()

    def begin_wave(self):
        """Some of the downloads; returns when the balancer has connections for all of them."""
        number = len(self.waves)
        before, through = (
            self.count * sum(SHARES[:end]) // sum(SHARES) for end in (number, number + 1)
        )
        self.waves.append(
            Downloads(self.network.far, WEB, WEB_CLIENTS, range(before, through),
                      self.directory / f"wave{number}")  # fmt: skip
        )
        wait_for("every download has a connection", lambda: self.made() >= through, seconds=60)

    def made(self):
        numbers = self.control.ask("stats")
        return sum(flows_created(numbers, name) for name in BACKENDS)

    def drain(self):
        self.control.ask("backend", "drain", DRAINED)
        self.on_drained = web_flows(self.control, DRAINED, "--state", "established")

    def reload(self):
        self.config.write_text(with_weight(self.config.read_text(), FAVOURED, WEIGHT))
        start = time.monotonic()
        self.control.ask("reload")
        self.reload_seconds = time.monotonic() - start
        self.reloads = self.control.ask("stats")["reloads"]
        rows = self.control.ask("backends", "--service", "web")["backends"]
        self.weights = {row["name"]: row["weight"] for row in rows}

    def kill(self):
        """Its connections, and those that it gets before a health check of each service notices."""
        self.of_killed |= web_flows(self.control, KILLED)
        self.backends[KILLED].kill_web()
        start = time.monotonic()
        wait_for("health checks notice", self.is_killed_known)
        self.notice_seconds = time.monotonic() - start
        self.of_killed |= web_flows(self.control, KILLED)

    def is_killed_known(self):
        return all(
            states_of(self.control, service["name"])[KILLED] == "failing" for service in WEB
        )

    def results(self, digests):
        """Of each wave; waits for the last download."""
        return [wave.results(digests) for wave in self.waves]
