"""the figures and the table of the Parrot paper (ICNP 2024), and what value-only tables must reach

Parts, for --only: crc, f2, f3, f8 (with figure 9's bits), f10, f11, f12, f14 (packets forwarded),
f16 (and 15), t1; ours beside peers: speed_0.85, speed_0.95, speed_8_bits, speed_64m,
speed_fingerprints, speed_dense, speed_vendor, build, updates, updates_beside. SOSD's files are read
where SOSD_WIKI and SOSD_BOOK name them; else keys of the like stand in for them, and the report
says so.
"""
from harness.beside import beside
from report.section import not_run_section

jobs_of, motivation, figures, forwarding, musts, readme_values = (
    beside(__file__, name) for name in (
        "jobs", "motivation", "figures", "forwarding", "musts", "readme_values"))
jobs = jobs_of.jobs
analytic_rows = motivation.analytic_rows


def sections(record):
    return [*motivation.sections(record), *figures.sections(record),
            *forwarding.sections(record), *musts.sections(record), *not_run_section(record)]


def readme_block(record, name):
    """Of README, and of docs/tables.md."""
    return readme_values.BLOCKS[name](record)
