"""What `roost ctl`, the metrics endpoint and DPDK's telemetry show of any running function: the
same numbers, whose sums close.
"""

import json
import pathlib
import socket
import subprocess
import time

import prometheus_client.openmetrics.parser
import prometheus_client.parser

STAGES = ("receive", "process", "transmit", "upkeep")


def wait_for(what, condition):
    deadline = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < deadline, f"it did not happen: {what}"
        time.sleep(0.05)


def check_packet_sum(report):
    """Every packet that came or was made left, was dropped by a cause, or was for the function."""
    packets, drops = report["packets"], sum(report["drops"].values())
    assert (
        packets["received"] + packets["originated"] + packets["replicated"]
        == packets["sent"] + drops + packets["consumed"]
    ), (packets, report["drops"])


def check_traffic_moves(running):
    """Two stats, between which packets were sent; taken between two batches, the sums close."""
    wait_for("traffic", lambda: running.ask("stats")["packets"]["sent"] > 1000)
    first = running.ask("stats")
    sent = first["packets"]["sent"]
    wait_for("more traffic", lambda: running.ask("stats")["packets"]["sent"] > sent)
    second = running.ask("stats")
    for stats in (first, second):
        check_packet_sum(stats)
    assert set(first["run"]["cycles"]) == set(STAGES)
    assert all(first["run"]["cycles"].values())
    assert "drops by cause" in running.ctl("stats")
    assert "cycles a packet, by stage" in running.ctl("workers")
    assert running.ask("workers")["workers"][0]["packets"] > 0
    assert running.ask("version")["io"].startswith("DPDK")
    if "neighbours" in first:
        neighbours = running.ask("neighbours", "--state", "static")["neighbours"]
        assert len(neighbours) == first["neighbours"]["states"]["static"] > 0
        assert neighbours[0]["mac"] in running.ctl("neighbours")
    return first, second


def check_trace_requests(running, expression):
    """The requests that are refused; then packets that `expression` admits, as they were told."""
    assert "give `on`" in running.ctl("trace", status=1)
    assert "give `on` and a filter" in running.ctl("trace", "on", status=1)
    assert 'the filter "hots a"' in running.ctl("trace", "on", "hots a", status=1)
    assert "goes with `on`" in running.ctl("trace", "show", "tcp", status=1)
    assert running.ask("trace", "on", expression)["filter"] == expression
    assert "give `off` first" in running.ctl("trace", "on", "tcp", status=1)
    wait_for("a packet", lambda: running.ask("trace")["seen"] > 1000)
    check_packet_sum(running.ask("stats"))
    seen = running.ask("trace", "off")
    assert len(seen["packets"]) <= 256
    assert "nothing is traced" in running.ctl("trace", "off", status=1)
    return seen["packets"]


# What Prometheus asks for, and what comes then and else, with the reader of each.
OPEN_METRICS = "application/openmetrics-text;version=1.0.0;q=0.5,text/plain;q=0.2,*/*;q=0.1"
FORMATS = {
    OPEN_METRICS: (
        "application/openmetrics-text; version=1.0.0",
        prometheus_client.openmetrics.parser,
    ),
    "*/*": ("text/plain; version=0.0.4", prometheus_client.parser),
}


def scrape(running, accepted):
    """The values by name, without the function's prefix, and labels; the format is what was asked
    for."""
    kind, reader = FORMATS[accepted]
    prefix = f"roost_{running.function}_"
    answer = subprocess.run(
        ["curl", "--silent", "--fail", "--header", f"Accept: {accepted}"]
        + ["--write-out", "\n%{content_type}", f"http://{running.metrics}/metrics"],
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
            assert sample.name.startswith(prefix), sample
            labels = tuple(sorted(sample.labels.items()))
            values[sample.name.removeprefix(prefix), labels] = sample.value
    return values


def check_metrics(running, own_values):
    """In both formats the same metrics, each between what stats showed before and after.
    `own_values(stats)` are the function's own, as `scrape` names them, by stats.
    """

    def expected(stats):
        values = {("received_packets_total", ()): stats["packets"]["received"]}
        for cause, count in stats["drops"].items():
            values["dropped_packets_total", (("cause", cause),)] = count
        for stage in STAGES:
            labels = (("stage", stage), ("worker", "0"))
            values["worker_cycles_total", labels] = stats["workers"][0]["cycles"][stage]
        return values | own_values(stats)

    names = []
    for accepted in FORMATS:
        low = expected(running.ask("stats"))
        metrics = scrape(running, accepted)
        high = expected(running.ask("stats"))
        assert metrics["workers_answer", ()] == 1
        for name, value in low.items():
            assert value <= metrics[name] <= high[name], (name, value, metrics[name], high[name])
        names.append(set(metrics))
    assert names[0] == names[1], names[0] ^ names[1]


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


def check_telemetry(running, shown):
    """`shown` are all its commands there, and stats are those of ctl. Returns what asks for a
    whole answer, page by page.
    """
    ask = telemetry_of(running.directory)
    named = {command for command in ask("/") if command.startswith("/roost/")}
    assert named == {f"/roost/{name}" for name in shown}, named

    def whole(name):
        entries, page = {}, 0
        while True:
            reply = ask(f"/roost/{name},{page}")
            page = reply.pop("next_page", None)
            assert not entries.keys() & reply.keys()
            entries |= reply
            if page is None:
                return entries

    before = running.ask("stats")
    stats = whole("stats")
    after = running.ask("stats")
    assert before["packets"]["sent"] <= stats["packets/sent"] <= after["packets"]["sent"]
    assert set(before["drops"]) == {key[6:] for key in stats if key.startswith("drops/")}
    return whole


def run_checks(running, checks):
    for check in checks:
        print(f"  {check.__name__}", flush=True)
        check(running)


def check_end(running):
    """The report, which goes on from the last stats."""
    before = running.ask("stats")
    report = running.stop()
    assert report["broken"] == [], report["broken"]
    check_packet_sum(report)
    assert report["packets"]["sent"] >= before["packets"]["sent"]
    assert not running.socket.exists(), "the socket goes with its run"
    running.ctl("stats", status=4)
    return before, report
