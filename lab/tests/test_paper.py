"""The Cuckoo++ paper's verdicts, on made-up figures of the paper's shapes."""
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import lab  # noqa: E402  (found by the line above)
import rows  # noqa: E402
from report.record import Record  # noqa: E402

PAPER = lab.load_experiment("2018-cuckoopp")


def curve_rows(experiment, rates, **fields):
    """{contestant: {miss ratio: rate}} as rows."""
    return [rows.ROW | {"experiment": experiment, "contestant": name, "miss_ratio": miss,
                        "round": 0.0, "value": rate} | fields
            for name, curve in rates.items() for miss, rate in curve.items()]


def verdicts(record):
    return {(v.source, v.claim): v.verdict
            for section in PAPER.sections(record) for v in section.verdicts}


class Paper(unittest.TestCase):
    def test_figure_3_has_its_crossing_or_not(self):
        falling, flat = {0.0: 30.0, 0.5: 20.0, 1.0: 10.0}, {0.0: 20.0, 0.5: 21.0, 1.0: 22.0}
        claim = "CPP-F3", "optimistic wins on hits, pessimistic on misses, one crossing"
        for optimistic, pessimistic, word in ((falling, flat, "reproduced"),
                                              (flat, falling, "partly"), (flat, flat, "not")):
            record = Record(curve_rows("fig3", {"roost_optimistic": optimistic, "rte_hash": flat,
                                                "roost_pessimistic": pessimistic}))
            self.assertEqual(verdicts(record)[claim], word)

    def test_the_u_shape_belongs_to_512k_alone(self):
        bent = {0.0: 30.0, 0.5: 20.0, 1.0: 30.0}
        for slots, claim, word in ((1 << 19, "U-shaped: slowest where half of the lookups hit",
                                    "reproduced"), (1 << 25, "no U-shape", "not")):
            record = Record(curve_rows("fig8", {"roost_flow_table": bent}, slots=float(slots)))
            found = {claim: word for (_, claim), word in verdicts(record).items()}
            self.assertEqual(found[claim], word)

    def test_times_on_small_pages_have_no_verdict(self):
        record = Record(curve_rows("fig8", {"roost_flow_table": {0.0: 1.0}}, page_bytes=4096.0))
        self.assertEqual(set(verdicts(record).values()), {"not run"})

    def test_false_positives_are_held_against_table_2(self):
        rates = {0.6: 0.0002, 0.8: 0.0011, 0.95: 0.0031}
        record = Record([rows.ROW | {"experiment": "fig5", "contestant": "roost_flow_table",
                                     "metric": "filter_false_positive_rate", "load": load,
                                     "round": None, "value": rate} for load, rate in rates.items()])
        self.assertEqual(verdicts(record)["CPP-T2", "Cuckoo++"], "reproduced")
        self.assertEqual(verdicts(record)["CPP-T2", "Horton"], "not run")

    def test_cores_that_are_not_there_are_listed(self):
        text = lab.render_text.render({}, PAPER.sections(Record(
            [rows.ROW | {"experiment": "fig9", "contestant": "roost_flow_table", "core_count": 18.0,
                         "value": None, "note": "not run: the machine has 2 cores, not 18"}])), [])
        self.assertIn("the machine has 2 cores, not 18", text)


if __name__ == "__main__":
    unittest.main()
