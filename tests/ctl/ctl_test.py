#!/usr/bin/python3
"""`roost ctl`, the metrics endpoint and DPDK's telemetry against a balancer under traffic: what
they show is the same and moves on, what they change happens, and clients that misbehave stop
nothing.

    tests/ctl/ctl_test.py ROOST
"""

import json
import pathlib
import socket
import subprocess
import sys
import tempfile
import time

import prometheus_client.openmetrics.parser
import prometheus_client.parser

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from endless_balancer import EndlessBalancer  # noqa: E402


def wait_for(what, condition):
    deadline = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < deadline, f"it did not happen: {what}"
        time.sleep(0.05)


def check_shown(balancer):
    wait_for("traffic", lambda: balancer.ask("stats")["packets"]["sent"] > 1000)
    first = balancer.ask("stats")
    sent = first["packets"]["sent"]
    wait_for("more traffic", lambda: balancer.ask("stats")["packets"]["sent"] > sent)
    for stats in (first, balancer.ask("stats")):
        packets, flows = stats["packets"], stats["flows"]
        drops = sum(stats["drops"].values())
        assert (
            packets["received"] + packets["originated"]
            == packets["sent"] + drops + packets["consumed"]
        ), "taken between two batches, the sums close"
        assert flows["live"] == flows["created"] - sum(
            flows[end] for end in ("ended", "expired", "deleted", "evicted")
        )
        of_services = sum(b["flows"] for s in stats["services"] for b in s["backends"])
        assert of_services == flows["created"]
    assert "drops by cause" in balancer.ctl("stats")
    assert "198.51.100.80:80" in balancer.ctl("services")
    assert "configured_weight" in balancer.ctl("backends", "--service", "web")
    assert "cycles a packet, by stage" in balancer.ctl("workers")
    assert set(first["run"]["cycles"]) == {"receive", "process", "transmit", "upkeep"}
    assert all(first["run"]["cycles"].values())
    assert balancer.ask("version")["io"].startswith("DPDK")
    neighbours = balancer.ask("neighbours", "--state", "static")["neighbours"]
    assert len(neighbours) == first["neighbours"]["states"]["static"] > 0
    assert neighbours[0]["mac"] in balancer.ctl("neighbours")
    assert balancer.ask("workers")["workers"][0]["packets"] > 0


def check_trace(balancer):
    assert "give `on`" in balancer.ctl("trace", status=1)
    assert "give `on` and a filter" in balancer.ctl("trace", "on", status=1)
    assert 'the filter "hots a"' in balancer.ctl("trace", "on", "hots a", status=1)
    assert "goes with `on`" in balancer.ctl("trace", "show", "tcp", status=1)
    expression = "udp and host 192.0.2.10"
    assert balancer.ask("trace", "on", expression)["filter"] == expression
    assert "give `off` first" in balancer.ctl("trace", "on", "tcp", status=1)
    wait_for("a packet", lambda: balancer.ask("trace")["seen"] > 1000)
    seen = balancer.ask("trace", "off")
    assert len(seen["packets"]) <= 256
    for words in seen["packets"]:
        assert "192.0.2.10" in words, words
        if words.startswith("packet"):  # else the balancer's own answer to one
            assert "UDP" in words and "flow       " in words, words
    assert "nothing is traced" in balancer.ctl("trace", "off", status=1)
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


# What Prometheus asks for, and what comes then and else, with the reader of each.
OPEN_METRICS = "application/openmetrics-text;version=1.0.0;q=0.5,text/plain;q=0.2,*/*;q=0.1"
FORMATS = {
    OPEN_METRICS: (
        "application/openmetrics-text; version=1.0.0",
        prometheus_client.openmetrics.parser,
    ),
    "*/*": ("text/plain; version=0.0.4", prometheus_client.parser),
}


def scrape(balancer, accepted):
    """The values by name and labels; the format is what was asked for."""
    kind, reader = FORMATS[accepted]
    answer = subprocess.run(
        ["curl", "--silent", "--fail", "--header", f"Accept: {accepted}"]
        + ["--write-out", "\n%{content_type}", f"http://{balancer.metrics}/metrics"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    text, found_kind = answer.rsplit("\n", 1)
    assert found_kind == f"{kind}; charset=utf-8", found_kind
    values = {}
    for family in reader.text_string_to_metric_families(text):
        assert family.documentation, f"{family.name} has no help"
        assert family.type in ("counter", "gauge"), family
        for sample in family.samples:
            assert sample.name.startswith("roost_lb_"), sample
            values[sample.name, tuple(sorted(sample.labels.items()))] = sample.value
    return values


def check_metrics(balancer):
    names = [set(scrape(balancer, accepted)) for accepted in FORMATS]
    assert names[0] == names[1], names[0] ^ names[1]
    for accepted in FORMATS:
        check_metric_values(balancer, accepted)


def check_metric_values(balancer, accepted):
    before = balancer.ask("stats")
    metrics = scrape(balancer, accepted)
    after = balancer.ask("stats")

    def between(value, *path):
        low, high = before, after
        for step in path:
            low, high = low[step], high[step]
        assert low <= value <= high, (path, low, value, high)

    assert metrics["roost_lb_workers_answer", ()] == 1
    between(metrics["roost_lb_received_packets_total", ()], "packets", "received")
    between(metrics["roost_lb_flows_created_total", ()], "flows", "created")
    for cause in before["drops"]:
        between(metrics["roost_lb_dropped_packets_total", (("cause", cause),)], "drops", cause)
    for s, service in enumerate(before["services"]):
        for b, backend in enumerate(service["backends"]):
            labels = (("backend", backend["name"]), ("service", service["name"]))
            value = metrics["roost_lb_backend_packets_total", labels]
            between(value, "services", s, "backends", b, "packets")
    for stage in ("receive", "process", "transmit", "upkeep"):
        labels = (("stage", stage), ("worker", "0"))
        between(metrics["roost_lb_worker_cycles_total", labels], "workers", 0, "cycles", stage)


def telemetry_of(directory):
    """Asks DPDK's own socket, as dpdk-telemetry.py does."""
    path = next(pathlib.Path(directory).rglob("dpdk_telemetry.v2"))
    client = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    client.connect(str(path))
    limit = json.loads(client.recv(1024))["max_output_len"]

    def ask(command):
        client.sendall(command.encode())
        reply = json.loads(client.recv(limit))
        return next(iter(reply.values()))

    return ask


def check_telemetry(balancer):
    ask = telemetry_of(balancer.directory)
    commands = ask("/")
    named = {c for c in commands if c.startswith("/roost/")}
    shown = ["stats", "services", "backends", "neighbours", "workers", "timeouts", "version"]
    assert named == {f"/roost/{name}" for name in shown}, named

    def whole(command):
        entries, page = {}, 0
        while True:
            reply = ask(f"{command},{page}")
            page = reply.pop("next_page", None)
            assert not entries.keys() & reply.keys()
            entries |= reply
            if page is None:
                return entries

    before = balancer.ask("stats")
    stats = whole("/roost/stats")
    after = balancer.ask("stats")
    assert before["packets"]["sent"] <= stats["packets/sent"] <= after["packets"]["sent"]
    assert set(before["drops"]) == {k[6:] for k in stats if k.startswith("drops/")}
    backends = whole("/roost/backends")
    assert backends["backends/0/name"] == "b1" and backends["backends/0/service"] == "web"


def check_end(balancer):
    before = balancer.ask("stats")
    report = balancer.stop()
    assert report["broken"] == [] and report["flows"]["deleted"] == before["flows"]["deleted"] > 0
    assert report["packets"]["sent"] >= before["packets"]["sent"]
    assert not balancer.socket.exists(), "the socket goes with its balancer"
    balancer.ctl("stats", status=4)


def main():
    roost = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory(prefix="roost-ctl-") as directory:
        with EndlessBalancer(roost, directory) as balancer:
            for check in (
                check_shown,
                check_flows,
                check_metrics,
                check_telemetry,
                check_drain,
                check_timeouts,
                check_usage,
                check_hostile,
                check_crowd,
                check_trace,
                check_reload,
                check_end,
            ):
                print(f"  {check.__name__}", flush=True)
                check(balancer)


if __name__ == "__main__":
    main()
