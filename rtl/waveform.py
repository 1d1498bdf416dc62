#!/usr/bin/python3
"""Draws how the accelerator looks one key up, cycle by cycle, from the signals that tests/rtl's
rtl_waveform writes down.

    rtl_waveform query.vcd; rtl/waveform.py query.vcd rtl/query.svg
"""
import itertools
import re
import sys
from pathlib import Path

TOP = "halo_accelerator"
STEP = "g_place[0].place.step"
# A row each: its name, the signal that says whether something is offered and whether it is taken,
# and what is offered.
PORTS = (("query", "query_valid", "query_ready", None),
         ("memory", "memory_valid", "memory_ready", "memory_read"),
         ("reply", "reply_valid", None, None),
         ("lock", "lock_valid", "lock_ready", "lock_is_lock"),
         ("result", "result_valid", "result_ready", None))
WORDS = {"memory": {0: "read", 1: "metadata"}, "lock": {0: "unlock", 1: "lock"}}


def step_names():
    """Of halo::step_t, by number."""
    package = Path(__file__).with_name("halo.sv").read_text(encoding="utf-8")
    body = re.search(r"enum logic \[4:0\] \{([^}]*)\} step_t;", package)[1]
    return re.findall(r"\w+", body)


class Signals:
    """Of a file of value changes: {name below the top module: its values by cycle}."""

    def __init__(self, path):
        scopes, codes, now = [], {}, {}
        self.cycles = []
        for line in Path(path).read_text(encoding="ascii").splitlines():
            words = line.split()
            if not words:
                continue
            if words[0] == "$scope":
                scopes.append(words[2])
            elif words[0] == "$upscope":
                scopes.pop()
            elif words[0] == "$var":
                name = ".".join([*scopes, words[4]])
                if f"{TOP}." in name:
                    codes[name.split(f"{TOP}.", 1)[1]] = words[3]
            elif words[0].startswith("#"):
                self.cycles.append(now := dict(now))
            elif words[0][0] in "01":
                now[words[0][1:]] = int(words[0][0])
            elif words[0][0] == "b":
                now[words[1]] = int(words[0][1:].replace("x", "0"), 2)
        self.codes = codes

    def of(self, name):
        code = self.codes[name]
        return [values[code] for values in self.cycles]


def runs(values):
    """[(value, first, count)] of equal ones side by side."""
    found, first = [], 0
    for value, same in itertools.groupby(values):
        count = len(list(same))
        found.append((value, first, count))
        first += count
    return found


def steps(signals):
    """[(step's name, first cycle, cycles)] of the query."""
    names = step_names()
    found = [(names[value], first, count) for value, first, count in runs(signals.of(STEP))]
    return [one for one in found if one[0] != "FREE"]


def transfers(signals, row):
    """[(cycle, word)] in which the port's offer is taken."""
    name, valid, ready, what = row
    offered, taken = signals.of(valid), signals.of(ready) if ready else None
    kinds = signals.of(what) if what else None
    return [(cycle, WORDS.get(name, {}).get(kinds[cycle], "") if kinds else "")
            for cycle, is_offered in enumerate(offered)
            if is_offered and (taken is None or taken[cycle])]


def bursts(found):
    """[(first cycle, words)] of transfers in cycles one after the other."""
    grouped = []
    for cycle, word in found:
        if grouped and cycle == grouped[-1][0] + len(grouped[-1][1]):
            grouped[-1][1].append(word)
        else:
            grouped.append((cycle, [word]))
    return grouped


def draw(signals, path):
    import matplotlib  # pylint: disable=import-outside-toplevel
    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "roost"
    import matplotlib.pyplot as plt  # pylint: disable=import-outside-toplevel

    found = steps(signals)
    end = len(signals.cycles)
    figure, axes = plt.subplots(figsize=(15, 4.6))
    for number, (name, first, count) in enumerate(found):
        waits = name.endswith("WAIT")
        axes.broken_barh([(first, count)], (0, 0.8),
                         facecolors="0.9" if waits else ("tab:blue", "tab:cyan")[number % 2],
                         edgecolors="white")
        axes.annotate(name.replace("_", " ").lower(), (first + count / 2, 0.85), rotation=90,
                      ha="center", va="bottom", fontsize=8)
    for place, row in enumerate(PORTS, 1):
        low = -place
        axes.plot([0, end], [low, low], color="0.8", linewidth=0.8, zorder=0)
        for first, words in bursts(transfers(signals, row)):
            axes.broken_barh([(first + i, 1) for i in range(len(words))], (low, 0.6),
                             facecolors="tab:orange", edgecolors="white")
            axes.annotate(", ".join(words), (first + len(words) + 0.1, low + 0.3), fontsize=8,
                          va="center")
    axes.set_yticks([0.4, *(0.3 - place for place in range(1, len(PORTS) + 1))])
    axes.set_yticklabels(["the query's step", *(row[0] for row in PORTS)])
    axes.set_ylim(-len(PORTS) - 0.3, 4.2)
    axes.set_xlim(0, end + 4)
    axes.set_xticks(range(0, end + 1, 5))
    axes.set_xlabel("cycle")
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    axes.tick_params(axis="y", length=0)
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None} if str(path).endswith(".svg") else None)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    draw(Signals(sys.argv[1]), Path(sys.argv[2]))
