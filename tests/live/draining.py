"""A backend drained under traffic, as an operator does it: what is under way ends well on it, and
nothing new reaches it, by the servers' own word.
"""

import json
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor

SLOW_REQUESTS = ["4m"] * 8
SLOW = ["--limit-rate", "400k"]  # ten seconds each
NEW_REQUESTS = ["backend"] * 60
DRAINED = "b2"
FAILED = "b3"


class Control:
    """`roost ctl` at a balancer's socket."""

    def __init__(self, roost, socket):
        self.command = [roost, "ctl", "--socket", socket, "--json"]

    def ask(self, *words):
        result = subprocess.run([*self.command, *words], capture_output=True, text=True, timeout=30)
        assert result.returncode == 0, result.stderr
        return json.loads(result.stdout)


def live_flows(control, service):
    by = control.ask("flows", "count", "--service", service, "--state", "established")["by"]
    return {row["backend"]: row["flows"] for row in by}


def drain_under_traffic(scene, control, service_name):
    """Answers of all requests, which are made for this."""
    service = scene.service(service_name)
    with ThreadPoolExecutor(1) as pool:
        slow = pool.submit(scene.clients.web, service, SLOW_REQUESTS, SLOW)
        while not slow.done() and DRAINED not in live_flows(control, service_name):
            pass
        assert not slow.done(), f"no slow request is on {DRAINED}"
        control.ask("backend", "drain", DRAINED)
        new = scene.clients.web(service, NEW_REQUESTS)
        is_under_way = not slow.done()
        old = slow.result()
    assert is_under_way, "the slow requests did not outlast the new ones"
    assert any(answer.backend == DRAINED for answer in old)
    misled = [answer for answer in new if answer.backend == DRAINED]
    assert not misled, f"new requests on a drained backend: {misled}"
    control.ask("backend", "up", DRAINED)
    back = scene.clients.web(service, NEW_REQUESTS)
    assert any(answer.backend == DRAINED for answer in back), "it is not put back"
    on_drained = sum(answer.backend == DRAINED for answer in old)
    print(f"  drained {DRAINED}: {on_drained} downloads under way ended well, new ones elsewhere")
    return old + new + back


def fail_over(scene, control):
    """A web server ends; health checks notice, and nothing new is sent to it."""
    failed = next(b for b in scene.backends if b.name == FAILED)
    states = states_of(control, "web")
    assert set(states.values()) == {"up"}, states
    failed.end_web()
    deadline = time.monotonic() + 20
    while states_of(control, "web")[FAILED] != "failing":
        assert time.monotonic() < deadline, "no health check noticed"
        time.sleep(0.05)
    answers = scene.clients.web(scene.service("web"), NEW_REQUESTS)
    assert all(answer.backend != FAILED for answer in answers)
    print(f"  {FAILED}'s web server ended, and {len(answers)} requests went elsewhere")
    return answers


def states_of(control, service):
    rows = control.ask("backends", "--service", service)["backends"]
    return {row["name"]: row["state"] for row in rows}


def check_control_agrees(control, report_of):
    """What ctl says when all is quiet is what the report says a moment later."""
    stats = control.ask("stats")
    report = report_of()
    for flows in ("made", "deleted", "evicted"):
        assert stats["flows"][flows] == report["flows"][flows], flows
    assert stats["services"] == report["services"]
    for name in ("received", "sent"):  # kernels go on sending a little of their own
        assert 0 <= report["packets"][name] - stats["packets"][name] < 50, (name, stats, report)
    for cause in stats["drops"]:
        assert 0 <= report["drops"][cause] - stats["drops"][cause] < 50, cause
    return report
