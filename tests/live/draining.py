"""A backend drained under traffic, as an operator does it: what is under way ends well on it, and
nothing new reaches it, by the servers' own word.
"""

import json
import re
import subprocess
from concurrent.futures import ThreadPoolExecutor

from namespaces import wait_for

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


def while_downloads_last(scene, control, service_name, leaving, act):
    """`act` has a backend leave, `leaving` says how and which, and returns the answers of requests
    made when it had left: while downloads are under way on it, which end well. Answers of all.
    """
    how, backend = leaving
    with ThreadPoolExecutor(1) as pool:
        slow = pool.submit(
            scene.clients.web, scene.service(service_name), SLOW_REQUESTS, SLOW
        )
        while not slow.done() and backend not in live_flows(control, service_name):
            pass
        assert not slow.done(), f"no slow request is on {backend}"
        new = act()
        is_under_way = not slow.done()
        old = slow.result()
    assert is_under_way, "the slow requests did not outlast the new ones"
    on_leaving = sum(answer.backend == backend for answer in old)
    assert on_leaving > 0
    misled = [answer for answer in new if answer.backend == backend]
    assert not misled, f"new requests on a backend that was {how}: {misled}"
    print(f"  {how} {backend}: {on_leaving} downloads under way ended well, new ones elsewhere")
    return old + new


def come_back(scene, service_name, backend):
    """Answers of requests of which some reach the backend again."""
    answers = scene.clients.web(scene.service(service_name), NEW_REQUESTS)
    assert any(answer.backend == backend for answer in answers), "it is not back"
    return answers


def drain_under_traffic(scene, control, service_name):
    """Answers of all requests, which are made for this."""

    def drain():
        control.ask("backend", "drain", DRAINED)
        return scene.clients.web(scene.service(service_name), NEW_REQUESTS)

    answers = while_downloads_last(scene, control, service_name, ("drained", DRAINED), drain)
    control.ask("backend", "up", DRAINED)
    return answers + come_back(scene, service_name, DRAINED)


def fail_over(scene, control):
    """A web server ends; health checks notice, and nothing new is sent to it."""
    failed = next(b for b in scene.backends if b.name == FAILED)
    states = states_of(control, "web")
    assert set(states.values()) == {"up"}, states
    failed.end_web()
    wait_for(
        "a health check notices", lambda: states_of(control, "web")[FAILED] == "failing"
    )
    rows = control.ask("backends", "--service", "web")["backends"]
    assert {row["failure"] for row in rows} == {"", "Connection refused"}, rows
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
    for flows in ("created", "deleted", "evicted"):
        assert stats["flows"][flows] == report["flows"][flows], flows
    assert stats["services"] == report["services"]
    for name in ("received", "sent"):  # kernels go on sending a little of their own
        assert 0 <= report["packets"][name] - stats["packets"][name] < 50, (name, stats, report)
    for cause in stats["drops"]:
        assert 0 <= report["drops"][cause] - stats["drops"][cause] < 50, cause
    return report


def check_log(balancer):
    """What became of backends and of the configuration was told when it happened, with its time."""
    events = re.findall(
        r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z ((?:error|warning|notice): .*)$",
        balancer.log.read_text(),
        re.MULTILINE,
    )
    for words, count in (
        (rf"notice: backend {DRAINED} of web \(.*\) is drained, as an operator said", 2),
        (rf"notice: backend {DRAINED} of web6 \(.*\) is up again, as an operator said", 2),
        (r"notice: the configuration was taken: .*", 4),
        (r"error: the configuration was not taken; nothing has changed", 3),
        (rf"warning: backend {FAILED} of web \(.*\) fails its checks: Connection refused", 1),
    ):
        told = [event for event in events if re.fullmatch(words, event)]
        assert len(told) == count, f"{words}: {count} times in\n" + "\n".join(events)
    print(f"  {len(events)} events are in the log")
