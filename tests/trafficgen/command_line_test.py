#!/usr/bin/python3
"""`roost trafficgen` from its command line: checks, a capture, and a run against `roost lb` over
net_memif.

    tests/trafficgen/command_line_test.py ROOST
"""

import collections
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / folder) for folder in ("tests/replay", "tests/trace", "tests/ctl")]

import settings  # noqa: E402
from function_checks import wait_for  # noqa: E402
from watched_replay import run, run_directory  # noqa: E402

MEMIF = ["net_memif0,id=0", "net_memif1,id=1"]
SECONDS = 3
# What became of what was offered, each packet once.
FATES = ("returned", "refused", "unanswerable", "lost_to_backends", "lost_to_clients")


def words_of(roost, command, config, role, folder, core, *options):
    devices = [f"--vdev={device},role={role},socket={folder}/memif.sock,socket-abstract=no"
               for device in MEMIF]
    return [roost, command, "-c", config, "--json", *options, "--", "--lcores", f"0@{core}",
            "--no-pci", "--no-huge", "-m", "512", *devices]


def check_configurations(roost, folder):
    manual = (ROOT / "apps/trafficgen/README.md").read_text()
    config = folder / "manual.toml"
    config.write_text(re.search(r"```toml\n(.*?)```", manual, re.DOTALL).group(1))
    good = run(roost, "trafficgen", "-c", config, "--check").stdout
    assert "3 steps, 30 seconds" in good, good
    config.write_text(config.read_text() + "[late]\nshare_max = 2\n")
    bad = run(roost, "trafficgen", "-c", config, "--check", status=3)
    assert "[late] share_max: 2 is out of range; give 0 to 1" in bad.stderr, bad.stderr
    for search in ("loss=0.1%", "loss=x", "0.1%", "loss=200%"):
        status = 4 if search == "loss=0.1%" else 2
        config.write_text(settings.GENERATOR.format(flows=10, seconds=1)
                          + "[[step]]\nseconds = 1\n")
        result = run(roost, "trafficgen", "-c", config, "--search", search, status=status)
        assert "packets_per_second" in result.stderr or status == 2, result.stderr


def check_capture(roost, folder):
    """A capture is the same each time, and tshark reads whole connections in it."""
    config = folder / "capture.toml"
    config.write_text(settings.GENERATOR.format(flows=2_000, seconds=1)
                      + "[[step]]\nseconds = 5\n")
    captures = [folder / f"{i}.pcapng" for i in range(2)]
    for capture in captures:
        said = run(roost, "trafficgen", "-c", config, "--write", capture).stdout
        assert "packets, synthetic" in said, said
    assert captures[0].read_bytes() == captures[1].read_bytes()
    fields = subprocess.run(
        ["tshark", "-r", captures[0], "-o", "tcp.check_checksum:TRUE", "-o",
         "udp.check_checksum:TRUE", "-o", "ip.check_checksum:TRUE", "-T", "fields", "-e",
         "tcp.stream", "-e", "tcp.flags", "-e", "_ws.expert.message"],
        check=True, capture_output=True, text=True).stdout.splitlines()
    streams = collections.defaultdict(list)
    for line in fields:
        stream, flags, expert = line.split("\t")
        assert "hecksum" not in expert and "alformed" not in expert, line
        if stream:
            streams[stream].append(int(flags, 16))
    assert len(streams) > 1_000
    assert all(flags[0] == 0x02 for flags in streams.values())
    assert sum(flags[-1] & 0x01 for flags in streams.values()) > 600
    assert sum(flags[-1] & 0x04 != 0 for flags in streams.values()) > 60


def check_run(roost, folder):
    """Every packet of the generator is one of the balancer's, and every connection."""
    cores = sorted(os.sched_getaffinity(0))
    balancer_config, config = folder / "lb.toml", folder / "trafficgen.toml"
    balancer_config.write_text(settings.balancer())
    config.write_text(settings.GENERATOR.format(flows=40_000, seconds=20)
                      + settings.STEP.format(1, 10_000) + settings.STEP.format(SECONDS - 1, 30_000))
    environment = os.environ | run_directory(folder)
    said = folder / "said"
    with said.open("w") as errors, subprocess.Popen(
            words_of(roost, "trafficgen", config, "server", folder, cores[0]),
            stdout=subprocess.PIPE, stderr=errors, text=True, env=environment) as generator:
        # A client that connects before the server's ports have started is not answered.
        wait_for("the generator's ports are there", lambda: "has no link" in said.read_text())
        with subprocess.Popen(
                words_of(roost, "lb", balancer_config, "client", folder, cores[-1]),
                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                env=environment) as balancer:
            text, _ = generator.communicate(timeout=120)
            balancer.send_signal(signal.SIGINT)
            balancer_text, balancer_errors = balancer.communicate(timeout=60)
    # 5: a machine that does other things makes it late.
    assert generator.returncode in (0, 5), said.read_text()
    assert balancer.returncode == 0, balancer_errors
    report, other = json.loads(text), json.loads(balancer_text)
    total = report["total"]
    assert report["broken_sums"] == [] and total["offered"] == 10_000 + 30_000 * (SECONDS - 1)
    assert sum(total[fate] for fate in FATES) == total["offered"], total
    # A machine that does other things answers fewer: only one that was in time says something.
    assert total["returned"] > (0.8 * total["offered"] if report["valid"] else 0), report
    arrivals = report["arrivals"]
    assert arrivals["backend_changed"] == arrivals["corrupt"] == arrivals["duplicated"] == 0
    assert arrivals["neighbour_requests"] >= 6, arrivals
    assert len(report["steps"]) == 2 and len(report["by_second"]) >= SECONDS
    sent = sum(port["sent"] for port in other["ports"])
    assert sent >= total["returned"], (sent, total)
    check_plot(folder, text)


def check_plot(folder, report):
    (folder / "report.json").write_text(report)
    plot = ROOT / "lab/plot.py"
    run(plot, folder / "report.json", folder / "plot.png")
    assert (folder / "plot.png").read_bytes().startswith(b"\x89PNG")
    (folder / "no.json").write_text("[]")
    assert "no report of roost trafficgen" in run(plot, folder / "no.json", folder / "no.png",
                                                  status=1).stderr


def main():
    roost = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory(prefix="roost-trafficgen-") as name:
        for check in (check_configurations, check_capture, check_run):
            check(roost, pathlib.Path(name))


if __name__ == "__main__":
    main()
