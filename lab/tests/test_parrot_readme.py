"""Value-only tables in README and docs/tables.md: of few parts of a record, and of all."""
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from parrot_rows import CALL, PAPER, PLAIN, made  # noqa: E402  (of the lab's modules)
import lab  # noqa: E402
from report.record import Record  # noqa: E402

LONG = "256 keys a call"
RATES = {"line_map": (40.0, 60.0, 50.0), "parrot": (20.0, 30.0, 25.0),
         "rte_hash": (15.0, 10.0, 12.0), "oracle_of_line_map_T0": (70.0, 80.0, 75.0)}


def speed(experiment="speed_0.85", workload="mac uniform", **fields):
    """By 32, 64 and 256 keys a call; each figure at its own place."""
    fields = {"process": 0.0, "job": experiment, "value_bytes": 2.0} | fields
    found = []
    for metric, figures in (("bits_per_key", {"line_map": 26.04, "parrot": 49.0,
                                              "rte_hash": 350.0}),
                            ("builder_bytes", {"line_map": 160e6, "parrot": 150e6,
                                               "rte_hash": 0.0}),
                            ("stranger_share", {"line_map": 0.815, "parrot": 0.8,
                                                "rte_hash": 0.0})):
        found += made(experiment, figures, metric, workload,
                      **fields | {"form": "", "round": None, "lanes_per_call": None})
    for place, (form, lanes) in enumerate(((PLAIN, 32.0), (CALL, 64.0), (LONG, 256.0))):
        found += made(experiment, {name: rates[place] for name, rates in RATES.items()},
                      "lookups_m_per_s", workload, form=form, lanes_per_call=lanes, **fields)
    return found


def fuller():
    """The like of a record of every part that the tables are about."""
    found = speed() + speed("speed_0.95", load=0.95)
    found += speed("speed_vendor", "vendor uniform")
    found += speed("speed_8_bits", value_bytes=1.0)
    for keys, rate in (("mac", 2.5), ("dense", 7.0)):
        found += made("build", {"line_map": rate}, "build_m_per_s", f"{keys} uniform", form="")
    found += made("updates", {"line_map": 2.1e6}, "changes_per_s", "mac uniform")
    for form, rate in (("at rest", 50.0), ("500000 updates/s", 48.0)):
        found += made("updates_beside", {"line_map": rate}, "lookups_m_per_s", "mac uniform",
                      form=form)
    for metric, figure in (("stages", 12.0), ("sram_blocks", 200.0), ("tcam_blocks", 90.0),
                           ("keys_max", 108_810.0)):
        found += made("f16", {"parrot": figure}, metric, "mac uniform", kind="analytic",
                      entries=100_000.0)
    return found


def lines(found, name):
    return PAPER.readme_block(Record(found, {"cpu": "X, 2 cores"}), name).splitlines()


class Readme(unittest.TestCase):
    def test_a_row_has_its_figures(self):
        found = lines(speed(), "speed")
        self.assertIn("| **line map** | 16M random, load 0.85 | 26.0 | 80.0 | 40.0 | 60.0 | 4.00 "
                      "| 75% | 81.5% |", found)
        self.assertIn("| rte_hash | 16M random, load 0.85 | 350.0 | - | 15.0 | 12.0 | - | - "
                      "| none |", found)
        self.assertIn("Processor: X, 2 cores. Rounds: 1, in 1 processes.", found)

    def test_a_record_of_one_part_has_no_row_of_others(self):
        found = "\n".join(lines(speed(), "speed"))
        self.assertNotIn("updates", found)
        self.assertEqual(found.count("line map"), 1)

    def test_a_fuller_record_has_more_rows(self):
        found = "\n".join(lines(fuller(), "speed"))
        for keys in ("16M random, load 0.85", "16M random, load 0.95",
                     "16M in vendors' runs, load 0.85", "16M random, load 0.85, 8-bit values"):
            self.assertEqual(found.count(f"| **line map** | {keys} |"), 1, keys)
        self.assertIn("| **line map** | 2.50 | 7.00 | 2100000 | 96% |", found)

    def test_the_page_has_ours_and_one_peer_by_their_best_calls(self):
        found = lines(speed() + made("speed_0.85", {"ludo": 22.0}, "bits_per_key", "mac uniform"),
                      "choice")
        self.assertEqual([line.split(" | ")[0] for line in found[2:5]],
                         ["| **line map**", "| **Parrot**", "| rte_hash"])
        self.assertIn("| rte_hash | 16M random, load 0.85 | 350.0 | - | 15.0 | none |", found)

    def test_a_switch_s_row_is_of_arithmetic(self):
        self.assertEqual(lines(fuller(), "switch")[-1],
                         "| 100,000 random | 12 | 200 | 90 | 108810 |")


class Layouts(unittest.TestCase):
    """What sharing costs each layout, of another experiment's record."""

    def test_a_row_is_of_the_shared_table_over_the_same_alone(self):
        switch = lab.load_experiment("2013-cuckooswitch")
        found = []
        for miss, alone, shared in ((0.0, 40.0, 30.0), (1.0, 80.0, 20.0)):
            found += made("wide", {"roost_flow_table": alone, "roost_flow_table_shared": shared},
                          "lookups_m_per_s", "uniform", form=LONG, miss_ratio=miss, load=0.95,
                          slots=float(1 << 25), entries=1e6, table_bytes=42e6)
        self.assertIn("| split, 128 + 128 bits | 0.95 | 42.0 | 40.0 | 75% | 25% |",
                      switch.readme_block(Record(found), "layouts").splitlines())


if __name__ == "__main__":
    unittest.main()
