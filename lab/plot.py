#!/usr/bin/python3
"""A plot of what `roost trafficgen --json` or `roost advise CAPTURE --json` has reported.

    ./dev plot REPORT.json OUT.png
"""

import json
import pathlib
import sys

import matplotlib

matplotlib.use("agg")
from matplotlib import pyplot  # noqa: E402  (after the choice of its backend)

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from advise import plot as advise  # noqa: E402
from trafficgen import plot as trafficgen  # noqa: E402

KINDS = (trafficgen, advise)


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    source, target = map(pathlib.Path, sys.argv[1:])
    try:
        report = json.loads(source.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        sys.exit(f"plot: {source}: no report: {error}")
    kind = next((kind for kind in KINDS if kind.is_report(report)), None)
    if kind is None:
        sys.exit(f"plot: {source}: no report of roost trafficgen --json, nor of "
                 "roost advise CAPTURE --json")
    figure = pyplot.figure(figsize=kind.INCHES, layout="constrained")
    kind.draw(report, figure)
    figure.savefig(target, dpi=110)


if __name__ == "__main__":
    main()
