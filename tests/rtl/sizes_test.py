"""A part of the sizes that rtl/README.md tells of is what the circuit has: yosys maps it anew."""

import pathlib
import subprocess
import sys

RTL = pathlib.Path(__file__).resolve().parents[2] / "rtl"
TOP = "halo_bucket_scale"  # seconds; the whole takes a quarter of an hour

said = subprocess.run([sys.executable, RTL / "synthesize.py", "--top", TOP], check=True,
                      stdout=subprocess.PIPE, text=True).stdout.strip()
if said not in (RTL / "README.md").read_text():
    sys.exit(f"rtl/README.md does not say this; `rtl/synthesize.py --write` renews it:\n{said}")
print(f"{TOP} is as large as rtl/README.md says")
