#!/usr/bin/python3
"""`roost ctl`, the metrics endpoint and DPDK's telemetry against a balancer under traffic: what
they show is the same and moves on, what they change happens, and clients that misbehave stop
nothing.

    tests/ctl/ctl_test.py ROOST
"""

import pathlib
import socket
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from endless_run import endless_balancer  # noqa: E402
from function_checks import check_end, check_metrics, check_telemetry  # noqa: E402
from function_checks import check_trace_requests, check_traffic_moves  # noqa: E402
from function_checks import run_checks, scrape, wait_for  # noqa: E402


def check_shown(balancer):
    for stats in check_traffic_moves(balancer):
        flows = stats["flows"]
        assert flows["live"] == flows["created"] - sum(
            flows[end] for end in ("ended", "expired", "deleted", "evicted")
        )
        of_services = sum(b["flows"] for s in stats["services"] for b in s["backends"])
        assert of_services == flows["created"]
    assert "198.51.100.80:80" in balancer.ctl("services")
    assert "configured_weight" in balancer.ctl("backends", "--service", "web")


def check_trace(balancer):
    for words in check_trace_requests(balancer, "udp and host 192.0.2.10"):
        assert "192.0.2.10" in words, words
        if words.startswith("packet"):  # else the balancer's own answer to one
            assert "UDP" in words and "flow       " in words, words
    balancer.ask("trace", "on", "tcp")
    wait_for("words", lambda: "parsed     TCP" in balancer.ctl("trace", "show"))
    # Left on: it goes on across a reload, and the run ends with it.


def check_reload(balancer):
    whole = balancer.config.read_text()
    balancer.config.write_text(whole.replace('name = "b1"', 'name = "renamed"'))
    told = balancer.ask("reload")
    assert told["backends"] > 0 and told["added"] == told["removed"] == 0, told
    wait_for("its name in words", lambda: "renamed of web" in balancer.ctl("trace", "show"))
    balancer.config.write_text(whole.replace("weight", "height").replace("port = 80\n", ""))
    refusal = balancer.ctl("reload", status=1).splitlines()
    assert len(refusal) > 2, refusal
    assert all(line.startswith(f"roost: {balancer.config}:") for line in refusal), refusal
    assert "renamed" in balancer.ctl("backends", "--service", "web")
    balancer.config.write_text(whole)
    assert "connections_on_removed" in balancer.ctl("reload")
    assert balancer.ask("stats")["reloads"] == {"taken": 2, "refused": 1}


def check_flows(balancer):
    counted = balancer.ask("flows", "count", "--service", "web")
    assert counted["flows"] == sum(row["flows"] for row in counted["by"]) > 0
    listed, cursor = [], []
    while True:
        page = balancer.ask("flows", "--service", "web", "--limit", 16, *cursor)
        listed += [flow["client"] for flow in page["flows"]]
        if "cursor" not in page:
            break
        cursor = ["--cursor", page["cursor"]]
    assert len(listed) == len(set(listed)) == counted["flows"], (len(listed), counted)
    assert "there are more" in balancer.ctl("flows", "--limit", 8)
    assert "give a filter" in balancer.ctl("flows", "delete", status=1)


def flows_of(balancer, backend, service="web"):
    return balancer.ask("flows", "count", "--service", service, "--backend", backend)["flows"]


def check_drain(balancer):
    wait_for("queries", lambda: flows_of(balancer, "b2", "dns") > 0)
    before = flows_of(balancer, "b2", "dns")
    assert "b2" in balancer.ctl("backend", "drain", "b2")
    time.sleep(0.5)
    after = flows_of(balancer, "b2", "dns")
    assert after >= before, "its flows go on, for their packets come again"
    balancer.ctl("flows", "delete", "--backend", "b2")
    wait_for("the flows elsewhere", lambda: flows_of(balancer, "b1") > 0)
    time.sleep(0.5)
    assert flows_of(balancer, "b2") == 0, "a new flow of a drained backend"
    states = {b["name"]: b for b in balancer.ask("backends", "--service", "web")["backends"]}
    assert states["b2"]["state"] == "drained" and states["b2"]["weight"] == 0
    balancer.ctl("backend", "up", "b2")
    balancer.ctl("flows", "delete", "--all")
    wait_for("flows on b2", lambda: flows_of(balancer, "b2") > 0)
    assert "no backend" in balancer.ctl("backend", "up", "b9", status=1)


def check_timeouts(balancer):
    assert balancer.ask("timeouts")["timeouts"]["udp"] == 60
    assert balancer.ask("timeouts", "udp", 5)["timeouts"]["udp"] == 5
    assert balancer.ask("timeouts")["timeouts"]["udp"] == 5
    assert "no timeout" in balancer.ctl("timeouts", "udp", 0, status=1)


def check_usage(balancer):
    balancer.ctl("reboot", status=2)
    balancer.ctl("flows", "--state", "asleep", status=2)
    balancer.ctl("backend", "up", status=2)
    balancer.ctl(status=2)
    balancer.ctl("stats", status=4, at=balancer.directory / "none")


def check_hostile(balancer):
    """Garbage, requests without an end and clients that only sit there, under traffic."""
    clients = []
    garbage = [b"\n", b"garbage\n", b"\0\xff{\n", b"[" * 9_000 + b"\n"]
    for text in [*garbage, b"x" * 100_000, b'{"command":"stats"']:
        client = socket.socket(socket.AF_UNIX)
        client.connect(str(balancer.socket))
        try:
            client.sendall(text)
        except BrokenPipeError:
            pass
        clients.append(client)
    before = balancer.ask("stats")["packets"]["sent"]
    wait_for("traffic", lambda: balancer.ask("stats")["packets"]["sent"] > before)
    for client in clients:
        client.close()


def check_crowd(balancer):
    """Clients that say nothing, or half of a request, keep nobody waiting."""
    crowd = []
    for _ in range(16):
        crowd.append(socket.socket(socket.AF_UNIX))
        crowd[-1].connect(str(balancer.socket))
    address, port = balancer.metrics.split(":")
    for _ in range(6):
        crowd.append(socket.create_connection((address, int(port))))
        crowd[-1].sendall(b"GET /metrics HTTP/1.1\r\nHost: ")
    began = time.monotonic()
    balancer.ask("version")
    scrape(balancer, "*/*")
    seconds = time.monotonic() - began
    assert seconds < 5, f"an answer and a scrape took {seconds:.1f} s"
    for client in crowd:
        client.close()


def check_shown_as_metrics(balancer):
    def own_values(stats):
        values = {("flows_created_total", ()): stats["flows"]["created"]}
        for service in stats["services"]:
            for backend in service["backends"]:
                labels = (("backend", backend["name"]), ("service", service["name"]))
                values["backend_packets_total", labels] = backend["packets"]
        return values

    check_metrics(balancer, own_values)


def check_shown_as_telemetry(balancer):
    shown = ["stats", "services", "backends", "neighbours", "workers", "timeouts", "version"]
    backends = check_telemetry(balancer, shown)("backends")
    assert backends["backends/0/name"] == "b1" and backends["backends/0/service"] == "web"


def check_stop(balancer):
    before, report = check_end(balancer)
    assert report["flows"]["deleted"] == before["flows"]["deleted"] > 0


def main():
    roost = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory(prefix="roost-ctl-") as directory:
        with endless_balancer(roost, directory) as balancer:
            checks = (
                *(check_shown, check_flows, check_shown_as_metrics, check_shown_as_telemetry),
                *(check_drain, check_timeouts, check_usage, check_hostile, check_crowd),
                *(check_trace, check_reload, check_stop),
            )
            run_checks(balancer, checks)


if __name__ == "__main__":
    main()
