#!/usr/bin/python3
"""The query that rtl/README.md shows: its steps are those of the circuit, in their cycles.

    waveform_test.py rtl_waveform [--write]
"""
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
README = ROOT / "rtl" / "README.md"
BLOCK = re.compile(r"(<!-- query: [^\n]*-->\n)(.*?)(<!-- end of query -->)", re.DOTALL)
sys.path.insert(0, str(ROOT / "rtl"))

import waveform  # noqa: E402


def told(signals):
    """The steps as README has them."""
    rows = ["| step | first cycle | cycles |", "|---|---|---|"]
    rows += [f"| `{name}` | {first} | {count} |" for name, first, count in waveform.steps(signals)]
    return "\n".join(rows) + "\n"


def main():
    with tempfile.TemporaryDirectory(prefix="roost-rtl-") as folder:
        changes = Path(folder, "query.vcd")
        subprocess.run([sys.argv[1], changes], check=True)
        signals = waveform.Signals(changes)
        if "--write" in sys.argv:
            waveform.draw(signals, ROOT / "rtl" / "query.svg")
    result = [word for _, word in waveform.transfers(signals, waveform.PORTS[4])]
    assert len(result) == 1, f"{len(result)} results"
    locks = [word for _, word in waveform.transfers(signals, waveform.PORTS[3])]
    assert locks.count("lock") == locks.count("unlock") == 3, locks
    text = README.read_text(encoding="utf-8")
    renewed = BLOCK.sub(lambda found: found[1] + told(signals) + found[3], text)
    if "--write" in sys.argv:
        README.write_text(renewed, encoding="utf-8")
    elif renewed != text or not BLOCK.search(text):
        sys.exit("rtl/README.md shows another query than the circuit has: waveform_test.py "
                 "rtl_waveform --write")
    print(f"{len(waveform.steps(signals))} steps in {len(signals.cycles)} cycles, as README says")


if __name__ == "__main__":
    main()
