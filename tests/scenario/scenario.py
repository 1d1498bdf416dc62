#!/usr/bin/python3
"""The load balancer under everything at once, with real programs between network namespaces.

    tests/scenario/scenario.py [--mode nat|fullnat] [--downloads 2000] [--roost PROGRAM]

Thousands of downloads by curl from three nginx backends, IPv4 and IPv6, through a router with a
narrow link and a tagged segment: meanwhile one backend is drained, the configuration is reloaded,
and one backend's servers are killed. Beside them names whose answers come in fragments. What
happened is printed as a report, one a mode; the exit status is 0 when every line of them holds.
"""

import contextlib
import functools
import os
import pathlib
import sys
from concurrent.futures import ThreadPoolExecutor

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/live"))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from balancer import Balancer, packet_sockets  # noqa: E402
from draining import Control  # noqa: E402
from events import Events  # noqa: E402
from findings import Run, describe  # noqa: E402
from names import ask_names  # noqa: E402
from network import BACKENDS, DNS_CLIENTS, TAP, WEB_CLIENTS, Network  # noqa: E402
from owners import seed_that_splits  # noqa: E402
from program import options, report_runs  # noqa: E402
from servers import Backend, body_digests, write_bodies  # noqa: E402
from settings import SERVER_PORT, configuration  # noqa: E402

MODES = "nat", "fullnat"
RATE = "150k"  # of each download, a second: the large ones take half a minute


def start_backends(network, directory, stack):
    bodies = directory / "bodies"
    write_bodies(bodies)
    backends = {}
    for number, (name, addresses) in enumerate(BACKENDS.items(), start=11):
        backends[name] = Backend(name, number, network.backends[name], addresses, SERVER_PORT,
                                 directory / name, bodies, RATE)  # fmt: skip
        stack.callback(backends[name].stop)
    for backend in backends.values():
        backend.wait_until_ready()
    return backends


def run_scenario(options, mode, workers, directory, report):
    with contextlib.ExitStack() as stack:
        network = stack.enter_context(Network(directory))
        backends = start_backends(network, directory, stack)
        config, socket = directory / "lb.toml", directory / "lb.sock"
        clients = [a for family in (*WEB_CLIENTS, *DNS_CLIENTS) for a in family]
        config.write_text(configuration(mode, socket, seed_that_splits(clients, workers)))
        control = Control(options.roost, socket)
        devices = [packet_sockets(workers)[0], f"net_tap0,iface={TAP}"]
        balancer = stack.enter_context(
            Balancer(options.roost, config, network.lb, directory, devices, range(workers))
        )
        balancer.wait_until_ready()
        network.join_backends()
        sniffers = network.watch_segment()
        names = [ask_names(network.far)]
        events = Events(network, control, config, backends, options.downloads, directory)
        with ThreadPoolExecutor(1) as pool:
            more_names = pool.submit(ask_names, network.far)
            events.run()
            names.append(more_names.result())
        waves = events.results(body_digests())
        untagged, openings = (sniffer.count() for sniffer in sniffers)
        numbers = balancer.stop()
        describe(Run(network, backends, events, waves, names, untagged, openings, numbers), report)


def main():
    chosen = options(__doc__, MODES, downloads=2_000)
    workers = min(2, len(os.sched_getaffinity(0)))
    if workers < 2:
        print("NOT TESTED: scenario, two workers on one core")
    report_runs("scenario", (
        (f"roost lb in the mode {mode}, {workers} workers: {chosen.downloads:,} downloads",
         functools.partial(run_scenario, chosen, mode, workers)) for mode in chosen.modes))


if __name__ == "__main__":
    main()
