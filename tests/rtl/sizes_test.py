"""The sizes that rtl/README.md tells of are what the circuit has: yosys maps it anew. A part of
them; with --whole all, which takes a quarter of an hour."""

import pathlib
import subprocess
import sys

RTL = pathlib.Path(__file__).resolve().parents[2] / "rtl"
PART = ("--top", "halo_crc32c")  # seconds

part = () if sys.argv[1:] == ["--whole"] else PART
said = subprocess.run([sys.executable, RTL / "synthesize.py", *part], check=True,
                      stdout=subprocess.PIPE, text=True).stdout.strip()
if said not in (RTL / "README.md").read_text():
    sys.exit(f"rtl/README.md does not say this; `rtl/synthesize.py --write` renews it:\n{said}")
print("the circuit is as large as rtl/README.md says")
