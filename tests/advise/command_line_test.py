#!/usr/bin/python3
"""`roost advise` from its command line: its configuration is accepted and runs, its records are
there, and what is wrong is said.

    tests/advise/command_line_test.py ROOST
"""

import json
import pathlib
import re
import struct
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / folder)
                for folder in ("tests/replay", "tests/trace", "tests/trafficgen")]

import settings  # noqa: E402
from watched_replay import run  # noqa: E402

CAMPUS_FLOWS = 20_000
# What stands in the place of the examples: a port that the capture's clients send to.
PORT = """
[[port]]
addresses = ["192.0.2.1/24", "10.0.0.1/24", "2001:db8:9::1/64", "2001:db8:2::1/64"]
mac = "02:00:00:00:00:01"
"""
NEIGHBOUR = """
[[neighbour]]
address = "{address}"
mac = "02:00:00:00:02:11"
"""
BACKENDS = {family: [prefix + str(number) for number in (11, 12, 13)]
            for family, prefix in (("ipv4", "10.0.0."), ("ipv6", "2001:db8:2::"))}
SERVICES = (("web", "198.51.100.80", 80, "tcp", "ipv4"),
            ("dns", "198.51.100.53", 53, "udp", "ipv4"),
            ("web6", "2001:db8:ffff::80", 80, "tcp", "ipv6"))

LOAD = ("--connections", "800000", "--new", "50000", "--packets", "1000000")


def advise(roost, *options, status=0):
    return run(roost, "advise", *options, status=status)


def check_configurations(roost, folder):
    """What is advised is what `roost lb --check` takes."""
    toml = folder / "lb.toml"
    for cores in ("1", "2"):
        for family in ("ipv4", "ipv6", "both"):
            for mode in ("nat", "fullnat", "l2dsr"):
                advise(roost, *LOAD, "--cores", cores, "--family", family, "--mode", mode,
                       "--memory", "8G", "--toml", toml)
                said = run(roost, "lb", "-c", toml, "--check").stdout
                assert "right" in said, said
    advise(roost, *LOAD, "--timeout", "udp=30", "--timeout", "tcp_established=100", "--memory",
           "8G", "--toml", toml)
    text = toml.read_text()
    assert "udp = 30\n" in text and "tick_seconds = 0.2\n" in text, text
    printed = advise(roost, *LOAD, "--memory", "8G").stdout
    toml.write_text(printed[printed.index("# By `roost advise`"):])
    run(roost, "lb", "-c", toml, "--check")


def check_run(roost, folder):
    """`roost lb` runs on it, with the tables that were said."""
    toml = folder / "run.toml"
    said = json.loads(advise(roost, *LOAD, "--memory", "8G", "--json", "--toml", toml).stdout)
    assert said["toml"] == toml.read_text()
    report = json.loads(run(
        roost, "lb", "-c", toml, "--json", "--", "--no-huge", "--no-pci", "-m", "256",
        f"--vdev=net_pcap0,rx_pcap={ROOT / 'demo/lb/client.pcap'},tx_pcap={folder / 'out.pcap'}",
    ).stdout)
    assert report["tables"]["bytes"] == said["bytes"], (report["tables"], said["bytes"])


def write_campus(roost, folder):
    """A capture of synthetic connections like a campus's; it, and how many packets it has."""
    config, capture = folder / "generator.toml", folder / "campus.pcapng"
    config.write_text(settings.GENERATOR.format(flows=CAMPUS_FLOWS, seconds=10)
                      + "[[step]]\nseconds = 60\n")
    said = run(roost, "trafficgen", "-c", config, "--write", capture).stdout
    return capture, int(re.search(r": (\d+) packets", said).group(1))


def check_capture(roost, folder, capture, written):
    """What the generator has written is what the survey finds, and `roost lb` takes the advice."""
    flows = CAMPUS_FLOWS
    toml = folder / "capture.toml"
    said = json.loads(advise(roost, capture, "--json", "--toml", toml).stdout)
    survey = said["survey"]
    assert survey["packets"] == written and survey["other_packets"] == 0, survey["packets"]
    assert survey["connections"] == flows, survey["connections"]
    assert sum(second["begun"] for second in survey["by_second"]) == flows
    assert sum(second["packets"] for second in survey["by_second"]) == written
    assert 1_500 < survey["arrivals"]["worst_second"] < 2_500, survey["arrivals"]
    assert abs(survey["packets_each"]["mean"] - written / flows) < 1e-6
    assert 0.01 < survey["largest_share"] < 0.9, survey["largest_share"]
    assert said["asked"]["ipv4"] and said["asked"]["ipv6"]
    assert said["held"] >= survey["alive_peak"] > 1_000, said
    run(roost, "lb", "-c", toml, "--check")
    text = advise(roost, capture, "--timeout", "udp=7").stdout
    assert f"{flows}, " in text and "spoke again after a longer silence" in text, text
    assert "udp 7 (seconds)" in text, text
    limited = advise(roost, capture, "--follow", "1000").stdout
    assert "NOT FOLLOWED" in limited, limited
    check_plot(folder, said)
    half = folder / "half.pcapng"
    half.write_bytes(capture.read_bytes()[:capture.stat().st_size // 2 + 1])
    assert "THE FILE IS CUT" in advise(roost, half).stdout


def check_capture_served(roost, folder, capture, written):
    """The advice for a capture, its examples replaced, serves that capture: each connection has
    its place, and the sums close. In direct server return, where answers go past the balancer;
    those in the capture are for somebody else's MAC."""
    toml = folder / "served.toml"
    said = json.loads(advise(roost, capture, "--mode", "l2dsr", "--json", "--toml", toml).stdout)
    advised = toml.read_text().partition("\n[[port]]")[0]
    toml.write_text(advised + PORT + "".join(
        NEIGHBOUR.format(address=address) for family in BACKENDS.values() for address in family
    ) + "".join(settings.SERVICE.format(
        name=name, address=address, port=port, protocol=protocol, mode="l2dsr",
        backends=", ".join(f'{{name = "b{number}", address = "{backend}"}}'
                           for number, backend in enumerate(BACKENDS[family])))
        for name, address, port, protocol, family in SERVICES))
    assert "right" in run(roost, "lb", "-c", toml, "--check").stdout
    report = json.loads(run(
        roost, "lb", "-c", toml, "--json", "--", "--no-huge", "--no-pci", "-m", "256",
        f"--vdev=net_pcap0,rx_pcap={capture},tx_pcap={folder / 'served.pcap'}").stdout)
    packets, flows = report["packets"], report["flows"]
    drops = {cause: count for cause, count in report["drops"].items() if count}
    assert report["broken"] == [] and packets["received"] == written, report
    assert list(drops) == ["not_for_us"] and sum(drops.values()) < 0.5 * written, drops
    assert packets["sent"] == written - sum(drops.values()), packets
    # A few spoke again after their timeout: one in a thousand of each kind at most.
    assert CAMPUS_FLOWS <= flows["created"] <= 1.01 * CAMPUS_FLOWS, flows
    assert flows["evicted"] == 0 and report["tables"]["bytes"] == said["bytes"], flows


def check_measurement(roost):
    """Of the load that was asked for; a capture's has its skew."""
    said = json.loads(advise(roost, "--connections", "2000", "--new", "1000", "--packets", "20000",
                             "--timeout", "tcp_closed=1", "--measure", "--json").stdout)
    measured = said["measured"]
    assert 2_000 < measured["live"] < 4_500, measured
    assert measured["lost"] == 0 and measured["datapath_ns"] > 1, measured
    none = advise(roost, "--connections", "2000", "--new", "0", "--packets", "20000", "--measure",
                  status=4)
    assert "no connection begins" in none.stderr, none.stderr


def check_plot(folder, said):
    report, picture = folder / "advice.json", folder / "advice.png"
    report.write_text(json.dumps(said))
    run(ROOT / "lab/plot.py", report, picture)
    assert picture.read_bytes().startswith(b"\x89PNG") and picture.stat().st_size > 20_000
    del said["survey"]
    report.write_text(json.dumps(said))
    refused = run(ROOT / "lab/plot.py", report, picture, status=1)
    assert "no report of roost trafficgen" in refused.stderr, refused.stderr


def check_bad_captures(roost, folder):
    empty = folder / "empty.pcap"
    empty.write_bytes(struct.pack("<IHHIIII", 0xa1b2c3d4, 2, 4, 0, 0, 65_535, 1))
    cooked = folder / "cooked.pcap"
    cooked.write_bytes(struct.pack("<IHHIIII", 0xa1b2c3d4, 2, 4, 0, 0, 65_535, 113))
    text = folder / "text.pcap"
    text.write_text("no capture\n")
    for capture, words in ((empty, "no connection of TCP or UDP among its 0 packets"),
                           (cooked, "not Ethernet"), (text, "not a capture"),
                           (folder / "nowhere.pcap", "No such file")):
        said = advise(roost, capture, status=4)
        assert words in said.stderr and not said.stdout, said
    advise(roost, empty, "--packets", "1", status=2)
    advise(roost, *LOAD, "--follow", "10", status=2)


def check_answers(roost):
    said = json.loads(advise(roost, *LOAD, "--memory", "8G", "--json").stdout)
    records = [*said["packet"]["records"], said["sharing"]["record"], said["expiry"]["record"]]
    for record in records:
        assert (ROOT / record.partition(":")[0]).is_file(), record
    text = advise(roost, *LOAD, "--memory", "8G").stdout
    assert str(said["bytes"]) in text and str(said["connections"]) in text, text
    assert said["held"] == 800_000 + 50_000 * 15, said


def check_refusals(roost, folder):
    refused = {
        ("--connections", "0", "--new", "1", "--packets", "1"): "--connections: 0 is out of range",
        ("--connections", "99999999999", "--new", "1", "--packets", "1"): "out of range",
        ("--connections", "-1", "--new", "1", "--packets", "1"): "--connections",
        ("--connections", "ten", "--new", "1", "--packets", "1"): "--connections",
        ("--connections", "10", "--new", "1", "--packets", "0"): "--packets: 0 a second",
        ("--connections", "10", "--new", "20", "--packets", "10"): "contradict each other",
        (*LOAD, "--cores", "0"): "--cores: 0 is out of range",
        (*LOAD, "--udp", "2"): "--udp: 2 is no share",
        (*LOAD, "--timeout", "tcp=1"): "NAME one of tcp_syn",
        (*LOAD, "--timeout", "udp=0"): "is no timeout",
        (*LOAD, "--timeout", "udp=999999"): "is too long; give at most",
        (*LOAD, "--family", "ipx"): "--family",
        (*LOAD, "--mode", "magic"): "--mode",
        ("--new", "1", "--packets", "1"): "--connections",
    }
    for options, words in refused.items():
        said = advise(roost, *options, status=2)
        assert words in said.stderr and not said.stdout, (options, said)
    missing = advise(roost, *LOAD, "--memory", "1M", status=4)
    assert "bytes are needed, 1048576 are there" in missing.stderr, missing.stderr
    assert "IT DOES NOT FIT" in missing.stdout, missing.stdout
    nowhere = advise(roost, *LOAD, "--memory", "8G", "--toml", folder / "no/lb.toml", status=4)
    assert "cannot be written" in nowhere.stderr, nowhere.stderr


def main():
    roost = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        check_answers(roost)
        check_refusals(roost, folder)
        check_configurations(roost, folder)
        check_run(roost, folder)
        check_measurement(roost)
        campus = write_campus(roost, folder)
        check_capture(roost, folder, *campus)
        check_capture_served(roost, folder, *campus)
        check_bad_captures(roost, folder)
    print("the advice is accepted by `roost lb`, which runs on it")


if __name__ == "__main__":
    main()
