#!/usr/bin/python3
"""`roost ctl`, the metrics endpoint and DPDK's telemetry against a switch under traffic: as for the
balancer, and its own.

    tests/switch/control_test.py ROOST
"""

import pathlib
import sys
import tempfile

from scapy.layers.inet import IP, TCP, UDP
from scapy.layers.l2 import Dot1Q, Ether

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests/ctl"), str(ROOT / "tests/replay")]

import pcap  # noqa: E402
from endless_run import EndlessRun  # noqa: E402
from function_checks import check_end, check_metrics, check_telemetry  # noqa: E402
from function_checks import check_trace_requests, check_traffic_moves  # noqa: E402
from function_checks import run_checks, wait_for  # noqa: E402

CONFIG = """
[switch]
entries_max = 131_072
static_max = 2
moves_seconds = 1_023
hold_seconds = 1_023

[[port]]
untagged = 10

[[port]]
untagged = 10
tagged = [20]
broadcast_max = 1

[[port]]
tagged = [10, 20]

[[station]]
mac = "02:00:00:00:00:99"
vlan = 10
port = 2
"""
ONE, TWO, THREE, FOUR, FLAPS, FIXED = (f"02:00:00:00:00:{end}"
                                       for end in ("01", "02", "03", "04", "0f", "99"))
WEB = "192.0.2.80"


def frames():
    """Of each port; one station is at two of them."""
    def ip(source, destination, port):
        return Ether(src=source, dst=destination) / IP(dst=WEB) / TCP(dport=port)

    everybody = Ether(src=FLAPS, dst="ff:ff:ff:ff:ff:ff", type=0x88B5) / bytes(46)
    in_20 = Ether(src=THREE, dst=FOUR) / Dot1Q(vlan=20) / IP(dst=WEB) / UDP()
    back_in_20 = Ether(src=FOUR, dst=THREE) / Dot1Q(vlan=20) / IP() / UDP()
    in_10 = Ether(src=TWO, dst=ONE) / IP() / UDP()
    in_30 = Ether(src=THREE, dst=FOUR) / Dot1Q(vlan=30) / IP() / UDP()
    return ([ip(ONE, TWO, 80), ip(ONE, FIXED, 443), everybody],
            [in_10, in_20, everybody, ip(TWO, "02:00:00:00:00:77", 22)],
            [back_in_20, in_30])


def captures(folder):
    paths = []
    for port, packets in enumerate(frames()):
        path = folder / f"port{port}.pcap"
        pcap.write(path, [pcap.Record(0, bytes(packet)) for packet in packets])
        paths.append(path)
    return paths


def check_shown(switch):
    for stats in check_traffic_moves(switch):
        kinds = {kind: n for kind, n in stats["frames"].items() if kind != "mirrored"}
        dropped = {cause: n for cause, n in stats["drops"].items() if cause != "tx_refused"}
        told = sum(kinds.values()) + sum(dropped.values())
        assert told == stats["packets"]["received"], stats
        assert {"wrong_vlan", "broadcast_storm"} <= {cause for cause, n in dropped.items() if n}
        assert kinds["known_unicast"] and kinds["unknown_unicast"] and kinds["broadcast"], kinds
        assert stats["fdb"]["static_entries"] == 1, stats["fdb"]
        assert stats["fdb"]["entries"] == 5, stats["fdb"]
    assert "forwarding database" in switch.ctl("stats")


def check_ports_and_vlans(switch):
    ports = switch.ask("ports")["ports"]
    assert [port["untagged"] for port in ports] == [10, 10, None], ports
    assert [port["tagged"] for port in ports] == ["", "20", "10 20"], ports
    assert sum(port["entries"] for port in ports) == 5, ports
    assert ports[2]["entries"] == 1, ports
    assert switch.ask("vlans")["vlans"] == [{"vlan": 10, "untagged": "0 1", "tagged": "2"},
                                            {"vlan": 20, "untagged": "", "tagged": "1 2"}]
    assert "net_pcap1" in switch.ctl("ports") and "10 20" in switch.ctl("ports")
    assert "0 1" in switch.ctl("vlans")


def check_moves(switch):
    wait_for("it is held", lambda: switch.ask("stats")["stations"]["held"] > 0)
    [move] = switch.ask("moves")["moves"]
    assert (move["vlan"], move["mac"], move["moves"], move["held"]) == (10, FLAPS, 5, True), move
    assert switch.ask("stats")["stations"]["moved"] == 5
    assert FLAPS in switch.ctl("moves")


def check_database(switch):
    rows = switch.ask("fdb")["rows"]
    at = {(row["vlan"], row["mac"]): (row["port"], row["kind"]) for row in rows}
    assert at.items() >= {(10, ONE): (0, "learned"), (20, THREE): (1, "learned"),
                          (20, FOUR): (2, "learned"), (10, FIXED): (2, "static")}.items(), at
    assert len(rows) == 6 and FIXED in switch.ctl("fdb", "list", "--kind", "static")
    assert ONE not in switch.ctl("fdb", "list", "--vlan", 20)
    page = switch.ask("fdb", "--limit", 1)
    assert "--cursor " + page["cursor"] in switch.ctl("fdb", "--limit", 1)
    assert switch.ask("fdb", "count", "--vlan", 20)["entries"] == 2
    assert "6 in all" in switch.ctl("fdb", "count")
    station = ("--vlan", 20, "--mac", FIXED)
    assert switch.ask("fdb", "add", *station, "--drop") == {"added": 1}
    assert "drop" in switch.ctl("fdb", "list", *station)
    assert "room for 2" in switch.ctl("fdb", "add", *("--vlan", 10, "--mac", ONE, "--port", 0),
                                      status=1)
    assert switch.ask("fdb", "delete", *station) == {"deleted": 1}
    assert "no such entry" in switch.ctl("fdb", "delete", *station, status=1)
    assert "from 0 to 2" in switch.ctl("fdb", "--port", 3, status=1)


def check_files(switch):
    """What is exported, flushed and imported is there again; the others speak and are learned."""
    file = switch.directory / "stations"
    assert switch.ask("fdb", "export", file) == {"exported": 6}
    lines = file.read_text().splitlines()
    assert f"10 {ONE} 0 learned" in lines and f"10 {FIXED} 2 static" in lines, lines
    file.write_text("10 02:00:00:00:00:55 1 learned\n10 02:00:00:00:00:56 9 learned\n")
    assert f"{file}:2: " in switch.ctl("fdb", "import", file, status=1)
    assert switch.ask("fdb", "count", "--mac", "02:00:00:00:00:55")["entries"] == 0
    silent = "20 02:00:00:00:00:57 1 learned"
    file.write_text("\n".join([*lines, silent]))
    assert switch.ask("fdb", "flush")["flushed"] >= 5
    wait_for("all are known", lambda: switch.ask("fdb", "count")["entries"] == 6)
    assert switch.ask("fdb", "import", file) in ({"imported": 7, "refused": 0},
                                                 {"imported": 6, "refused": 1})  # who is held
    assert switch.ask("fdb", "list", "--mac", "02:00:00:00:00:57")["rows"][0]["port"] == 1
    assert "cannot be written" in switch.ctl("fdb", "export", file / "x", status=1)
    wait_for("the sums close", lambda: sums_close(switch.ask("stats")))


def sums_close(stats):
    stations, fdb = stats["stations"], stats["fdb"]
    return (stations["learned"] + fdb["added"]
            == stations["reclaimed"] + fdb["erased"] + fdb["entries"] + fdb["static_entries"])


def check_shown_as_metrics(switch):
    def own_values(stats):
        values = {(f"{part}_{counter}_total", ()): stats[part][counter]
                  for part, counters in (("frames", stats["frames"]),
                                         ("stations", stats["stations"]),
                                         ("fdb", ("added", "erased")))
                  for counter in counters}
        values["fdb_static_entries", ()] = stats["fdb"]["static_entries"]
        values["fdb_moving", ()] = stats["fdb"]["moving"]
        for port in switch.ask("ports")["ports"]:
            values["fdb_entries", (("port", str(port["port"])),)] = port["entries"]
        return values

    check_metrics(switch, own_values)


def check_shown_as_telemetry(switch):
    whole = check_telemetry(switch, ["stats", "ports", "vlans", "moves", "workers", "version"])
    assert whole("vlans")["vlans/1/vlan"] == 20
    assert whole("ports")["ports/1/untagged"] == 10
    assert whole("moves")["moves/0/mac"] == FLAPS


def check_trace(switch):
    told = check_trace_requests(switch, f"tcp and dst host {WEB}")
    place = {"80": "at port 1, learned", "443": "at port 2, static", "22": "unknown"}
    for words in told:
        port = words[words.index(f"{WEB}:"):].split()[0].removeprefix(f"{WEB}:").rstrip(",")
        assert "\n  VLAN       10\n  source     at port " in words, words
        assert f"\n  for        a station {place[port]}" in words, words
    switch.ask("trace", "on", f"vlan 20 and host {WEB}")
    # Left on: it goes on across a reload, and the run ends with it.


def check_reload(switch):
    """A VLAN leaves a port, which has no others: its frames are dropped, and its station goes."""
    text = switch.config.read_text().replace("tagged = [20]", "")
    switch.config.write_text(text.replace('mac = "02:00:00:00:00:99"\nvlan = 10', f'mac = "{FOUR}"'
                                          "\nvlan = 20"))
    assert switch.ask("reload") == {"vlans": 2, "stations": 1, "flushed": 2}
    assert {row["mac"] for row in switch.ask("fdb", "--vlan", 20)["rows"]} == {FOUR}
    assert switch.ask("fdb", "count", "--kind", "static")["entries"] == 1
    wait_for("no other port", lambda: switch.ask("stats")["drops"]["no_other_port"] > 0)
    wait_for("so in words", lambda: "dropped    wrong_vlan" in switch.ctl("trace", "show"))
    switch.config.write_text(text + "[[port]]\n")
    assert "the number of [[port]]s cannot change" in switch.ctl("reload", status=1)
    assert switch.ask("stats")["reloads"] == {"taken": 1, "refused": 1}


def main():
    roost = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory(prefix="roost-switch-") as name:
        folder = pathlib.Path(name)
        with EndlessRun(roost, folder, "switch", CONFIG, captures=captures(folder)) as switch:
            run_checks(switch, (check_shown, check_ports_and_vlans, check_moves, check_database,
                                check_shown_as_metrics, check_shown_as_telemetry, check_files,
                                check_trace, check_reload, check_end))


if __name__ == "__main__":
    main()
