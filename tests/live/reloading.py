"""The configuration changes while packets flow, by `roost ctl reload` and by SIGHUP: downloads
under way end well on a backend that the file names no more, and nothing new reaches it, by the
servers' own word. A wrong file changes nothing.
"""

import signal
import subprocess

from draining import NEW_REQUESTS, come_back, live_flows, states_of, while_downloads_last
from namespaces import wait_for

REMOVED = "b2"


def without_backend(text, service_name, backend):
    """The configuration without one line: that of a backend of a service."""
    tables = text.split("[[service]]")
    at = next(i for i, table in enumerate(tables) if f'name = "{service_name}"\n' in table)
    lines = tables[at].splitlines(keepends=True)
    tables[at] = "".join(line for line in lines if f'name = "{backend}"' not in line)
    assert tables[at].count("\n") == len(lines) - 1
    return "[[service]]".join(tables)


def reload_under_traffic(scene, control, config, service_name, reload):
    """Answers of all requests, which are made for this. The backend comes back while it still has
    connections, so that its counts go on.
    """
    whole = config.read_text()

    def remove_and_restore():
        config.write_text(without_backend(whole, service_name, REMOVED))
        reload()
        wait_for("it is removed", lambda: states_of(control, service_name)[REMOVED] == "removed")
        new = scene.clients.web(scene.service(service_name), NEW_REQUESTS)
        assert REMOVED in live_flows(control, service_name), "a removed one keeps its connections"
        config.write_text(whole)
        reload()
        wait_for("it is back", lambda: states_of(control, service_name)[REMOVED] == "up")
        return new

    answers = while_downloads_last(
        scene, control, service_name, ("removed", REMOVED), remove_and_restore
    )
    return answers + come_back(scene, service_name, REMOVED)


def reload_by_ctl(scene, control, config, service_name):
    return reload_under_traffic(
        scene, control, config, service_name, lambda: control.ask("reload")
    )


def reload_by_signal(scene, control, config, balancer, service_name):
    return reload_under_traffic(
        scene,
        control,
        config,
        service_name,
        lambda: balancer.process.send_signal(signal.SIGHUP),
    )


def refuse_bad_files(control, config, balancer):
    whole = config.read_text()
    before = control.ask("backends"), control.ask("timeouts")
    first_port = whole[: whole.index("[[port]]")].count("\n") + 1
    for text, words in (
        (whole.replace('protocol = "tcp"', 'protocol = "sctp"', 1), "sctp"),
        (whole.replace("addresses", "mtu = 1400\naddresses", 1), f":{first_port}: [[port]] mtu"),
    ):
        assert text != whole
        config.write_text(without_backend(text, "web", REMOVED))
        told = subprocess.run(
            [*control.command, "reload"], capture_output=True, text=True, timeout=30
        )
        assert told.returncode == 1 and words in told.stderr, told
    refused = balancer.log.read_text().count("nothing has changed")
    balancer.process.send_signal(signal.SIGHUP)
    wait_for(
        "SIGHUP's file is refused",
        lambda: balancer.log.read_text().count("nothing has changed") > refused,
    )
    assert words in balancer.log.read_text()
    config.write_text(whole)
    after = control.ask("backends"), control.ask("timeouts")
    quiet = [strip_counts(one) for one in (before, after)]
    assert quiet[0] == quiet[1], quiet
    assert control.ask("stats")["reloads"] == {"taken": 4, "refused": 3}
    print("  wrong files: refused by ctl and by SIGHUP, and nothing changed")


def strip_counts(shown):
    backends, timeouts = shown
    names = ("service", "name", "endpoint", "state", "weight", "configured_weight")
    return [{name: row[name] for name in names} for row in backends["backends"]], timeouts
