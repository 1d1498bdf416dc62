#!/usr/bin/python3
"""Restarts of the load balancer under downloads, with real programs between network namespaces.

    tests/scenario/takeover.py [--downloads 2000] [--restarts 10] [--roost PROGRAM]

Downloads by curl from three nginx backends, IPv4 and IPv6; meanwhile the balancer is restarted
again and again, each time by a process that takes over from the one before. The last one is killed,
and what it left is adopted, while more downloads are under way. What happened is printed as a
report; the exit status is 0 when every line of it holds.
"""

import functools
import pathlib
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/live"))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from downloads import Downloads  # noqa: E402
from program import options, report_runs  # noqa: E402
from restarts import Restarts, refuse_what_cannot_be  # noqa: E402
from restarts import state_directory, with_state  # noqa: E402
from scene import Scene  # noqa: E402
from servers import body_digests  # noqa: E402

WAVES = 4  # of the restarts' downloads, so that some begin and some end at any time


def by_family(addresses):
    return [[a for a in addresses if (":" in a) == is_ipv6] for is_ipv6 in (False, True)]


class Load:
    def __init__(self, scene, directory):
        self.scene = scene
        self.directory = directory
        self.next = 0
        self.waves = []

    def begin(self, count):
        services = [self.scene.service(name) for name in ("web", "web6")]
        numbers = range(self.next, self.next + count)
        self.next += count
        self.waves.append(Downloads(
            self.scene.network.client, services, by_family(self.scene.clients.addresses), numbers,
            self.directory / f"wave{len(self.waves)}",
        ))  # fmt: skip

    def results(self):
        digests = body_digests()
        return [result for wave in self.waves for result in wave.results(digests)]


def run_scenario(options, directory, report):
    with (
        Scene(ROOT / "demo/lb/lb.toml", directory, rate="400k") as scene,
        state_directory() as state,
    ):
        config, socket = directory / "lb.toml", directory / "lb.sock"
        text = with_state(scene.config_file.read_text(), state)
        config.write_text(f'{text}\n[control]\nsocket = "{socket}"\n')
        with Restarts(options.roost, scene.network, config, socket, state, directory) as restarts:
            restarts.start()
            load = Load(scene, directory)
            pauses = []
            for number in range(options.restarts):
                if number * WAVES % options.restarts < WAVES:
                    load.begin(options.downloads // WAVES)
                time.sleep(0.5)
                pauses.append(restarts.take_over())
            results = load.results()
            describe_takeovers(restarts, pauses, results, report)
            refuse_what_cannot_be(restarts)
            after = Load(scene, directory / "after")
            (directory / "after").mkdir()
            after.next = load.next
            after.begin(options.downloads // WAVES)
            time.sleep(1)
            restarts.kill()
            left = restarts.adopt_left()
            describe_kill(left, after.results(), report)
            last = restarts.now.stop()
    describe_sums(restarts.reports, last, report)


def describe_downloads(results, report):
    broken = [result for result in results if not result.is_right]
    report.row("downloads, by SHA-256", len(results))
    report.row("broken ones", len(broken), holds=not broken)
    for result in broken[:5]:
        report.note(f"{result.download}: {result.error or 'other bytes'}")


def describe_takeovers(restarts, pauses, results, report):
    report.heading("takeovers", "pause, us", "connections")
    for number, (pause, flows) in enumerate(pauses, start=1):
        report.row(f"takeover {number}", pause, flows)
    moved = sum(flows for _, flows in pauses)
    report.row("connections that moved, in all", moved, holds=moved > 0)
    describe_downloads(results, report)


def describe_kill(left, results, report):
    report.heading("killed by SIGKILL, and started again with --takeover")
    report.row("connections", "begun anew" if left is None else left)
    describe_downloads(results, report)


def describe_sums(reports, last, report):
    report.heading("sums of each process", "created", "adopted", "moved", "live", "over")
    for number, one in enumerate([*reports, last]):
        flows = one["flows"]
        over = sum(flows[name] for name in ("ended", "expired", "deleted", "evicted"))
        closes = flows["created"] + flows["adopted"] == flows["live"] + over + flows["moved"]
        report.row(f"process {number}", flows["created"], flows["adopted"], flows["moved"],
                   flows["live"], over, holds=closes)  # fmt: skip


def main():
    chosen = options(__doc__, downloads=2_000, restarts=10)
    report_runs("scenario", [(
        f"roost lb --takeover: {chosen.restarts} restarts under {chosen.downloads:,} downloads",
        functools.partial(run_scenario, chosen))])


if __name__ == "__main__":
    main()
