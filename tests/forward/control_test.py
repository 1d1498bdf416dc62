#!/usr/bin/python3
"""`roost ctl`, the metrics endpoint and DPDK's telemetry against a router under traffic: as for the
balancer, and its own.

    tests/forward/control_test.py ROOST
"""

import pathlib
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests/ctl")]

from demo_router import ROUTES, config_text  # noqa: E402
from endless_run import EndlessRun  # noqa: E402
from function_checks import check_end, check_metrics, check_telemetry  # noqa: E402
from function_checks import check_trace_requests, check_traffic_moves  # noqa: E402
from function_checks import run_checks, wait_for  # noqa: E402

WEB, WEB_PREFIX = "198.51.100.80", "198.51.100.0/24"


def check_shown(router):
    for stats in check_traffic_moves(router):
        hops = stats["next_hops"]
        assert {hop["via"] for hop in hops if hop["packets"]} >= set(ROUTES.values()), hops
        forwarded = sum(hop["packets"] for hop in [*hops, stats["others"]])
        made = stats["packets"]["originated"] + stats["echo_replies"]
        assert forwarded + made == stats["packets"]["sent"], stats
    routes = {row["prefix"]: row["via"] for row in router.ask("routes")["routes"]}
    assert routes.items() >= ROUTES.items(), routes
    assert WEB_PREFIX in router.ctl("routes")


def check_shown_as_metrics(router):
    def own_values(stats):
        return {
            (f"next_hop_{counter}_total", (("port", str(hop["port"])), ("via", hop["via"]))): hop[
                counter
            ]
            for hop in stats["next_hops"]
            for counter in ("packets", "bytes")
        }

    check_metrics(router, own_values)


def check_shown_as_telemetry(router):
    whole = check_telemetry(router, ["stats", "routes", "neighbours", "workers", "version"])
    told = whole("routes")
    count = len(told) // 3
    assert {told[f"routes/{i}/prefix"] for i in range(count)} >= set(ROUTES), told


def check_trace(router):
    told = check_trace_requests(router, f"tcp and dst host {WEB}")
    sent = [words for words in told if "\n  rewritten  " in words]
    assert sent, told
    for words in sent:
        assert f"-> {WEB}:" in words and f"\n  route      {WEB_PREFIX}\n" in words, words
        assert "\n  sent       by port 1 to 02:00:00:00:02:11, " in words, words
    for words in told:  # the captures have broken packets too
        assert words in sent or "\n  route " not in words, words
    router.ask("trace", "on", f"host {WEB}")
    # Left on: it goes on across a reload, and the run ends with it.


def check_reload(router):
    """Packets take another way, and what is traced says so."""
    narrow = f'[[route]]\nprefix = "{WEB}/32"\nvia = "10.0.0.12"\n\n'
    text = router.config.read_text()
    router.config.write_text(text.replace("[[route]]", narrow + "[[route]]", 1))
    assert router.ask("reload") == {"routes": 3, "routes_before": 2}
    expected = f"\n  route      {WEB}/32\n"
    wait_for("the other route in words", lambda: expected in router.ctl("trace", "show"))
    wait_for("packets by it", lambda: packets_via(router, "10.0.0.12") > 0)


def packets_via(router, via):
    hops = router.ask("stats")["next_hops"]
    return sum(hop["packets"] for hop in hops if hop["via"] == via)


def main():
    roost = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory(prefix="roost-forward-") as directory:
        with EndlessRun(roost, directory, "forward", config_text()) as router:
            shown = (check_shown, check_shown_as_metrics, check_shown_as_telemetry)
            run_checks(router, (*shown, check_trace, check_reload, check_end))


if __name__ == "__main__":
    main()
