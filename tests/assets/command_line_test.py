#!/usr/bin/python3
"""`roost assets` from its command line: checks of configurations, and the demonstration captures,
watched and not: nothing is sent, sums close, and a trace says of which host a frame is.

    tests/assets/command_line_test.py ROOST
"""

import json
import pathlib
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/trace"))

from watched_replay import DEMO_INPUTS, Replay, run, run_directory  # noqa: E402

CONFIG = """[assets]
log = "{}/assets.jsonl"
[[port]]
[[port]]
"""


def check_configurations(roost, folder):
    config = folder / "assets.toml"
    config.write_text(CONFIG.format(folder))
    good = run(roost, "assets", "-c", config, "--check", environment=run_directory(folder)).stdout
    assert "2 ports, 0 networks; room for 100000 hosts of each worker" in good, good
    config.write_text("[assets]\nhosts_max = -1\nhost = 3\n[[port]]\n")
    bad = run(roost, "assets", "-c", config, "--check", status=3,
              environment=run_directory(folder))
    assert bad.stdout == "" and "assets.toml:2: [assets] hosts_max" in bad.stderr, bad
    assert "assets.toml:3: unknown key" in bad.stderr, bad


def check_replay(roost, folder):
    config = folder / "assets.toml"
    config.write_text(CONFIG.format(folder))
    replay = Replay(roost, "assets", config, DEMO_INPUTS)
    report, frames = replay.check_whole(folder, ("frames", "assets", "stock"))
    assert report["broken"] == [] and report["packets"]["sent"] == 0, report
    assert report["packets"]["consumed"] == report["frames"]["from_hosts"] == 2_616, report
    assert report["stock"]["hosts"] == 13 and report["stock"]["services"] == 6, report
    assert all(frame.side == "in" for frame in frames)
    words = [frame.words for frame in frames]
    found = [text for text in words if ": found; " in text]
    assert len(found) == 13 and "host 192.0.2.11 at 02:00:00:00:01:10 in VLAN 0" in found[0], found
    assert sum("1 services, 0 before" in text for text in words) == 6
    lines = [json.loads(line) for line in (folder / "assets.jsonl").read_text().splitlines()]
    assert len(lines) == 2 * (13 + 6), "two runs, the log is added to"
    assert sum(line["found"] == "service" for line in lines) == 2 * 6


def check_log(roost, folder):
    config = folder / "assets.toml"
    config.write_text(CONFIG.format(folder / "none"))
    result = Replay(roost, "assets", config, DEMO_INPUTS).run(folder / "refused", status=4)
    assert "[assets] log: " in result.said and "cannot be written" in result.said, result.said


def main():
    roost = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory(prefix="roost-assets-") as name:
        for check in (check_configurations, check_replay, check_log):
            check(roost, pathlib.Path(name))


if __name__ == "__main__":
    main()
