"""Records: medians, ratios within rounds of one job, and what makes a bench worthless."""
import tempfile
import unittest
from pathlib import Path

import lab_path
import rows
from report import bench
from report.record import Record

OURS, PEER = {"contestant": "roost_flow_table"}, {"contestant": "rte_hash"}
PLAIN = {"form": "32 keys a call", "miss_ratio": 0.0}


class Records(unittest.TestCase):
    def test_ratios_are_taken_within_a_round(self):
        record = rows.record(slow_rounds={0, 1, 4})
        self.assertEqual(record.ratios(OURS, PEER, **PLAIN), [1.5] * 5)
        self.assertEqual(record.median(**PEER, **PLAIN), 10.0)

    def test_ratios_are_taken_within_a_job(self):
        other = rows.lookup_rows({("rte_hash", "32 keys a call"): 1.0}, job="another")
        record = Record(other + rows.lookup_rows(rows.rates()))
        self.assertEqual(record.ratio(OURS, PEER, **PLAIN), 1.5)

    def test_a_record_is_what_was_written(self):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "r.csv"
            written = rows.lookup_rows(rows.rates())
            Record.write(file, {"commit": "abc", "cpu": "a: b"}, written)
            record = Record.read(file)
        self.assertEqual(record.facts, {"commit": "abc", "cpu": "a: b"})
        self.assertEqual(record.rows, written)

    def test_every_kept_record_names_its_commit_and_has_figures(self):
        for file in (lab_path.LAB / "record").glob("*.csv"):
            record = Record.read(file)
            self.assertTrue(record.facts["commit"], file)
            self.assertTrue(record.measured().rows, file)

    def test_what_has_no_value_was_not_run(self):
        record = Record(rows.lookup_rows({("x", "y"): 1.0}, value=None, note="not run: why"))
        self.assertIsNone(record.median(contestant="x"))
        self.assertEqual([row["contestant"] for row in record.not_run()], ["x"])


class Bench(unittest.TestCase):
    def test_shares_are_of_the_best_variant_or_of_the_best_of_a_hint(self):
        record = rows.record()
        self.assertAlmostEqual(
            bench.share_of_ceiling(record, "rte_hash", "32 keys a call", miss_ratio=0.0), 0.5)
        self.assertAlmostEqual(
            bench.share_of_ceiling(record, "rte_hash", "32 keys a call", "T0", miss_ratio=0.0),
            20 / 36)

    def test_a_peer_slow_beside_the_ceiling_of_its_own_hint_breaks_the_bench(self):
        self.assertIn("40%", "".join(bench.broken(rows.record(rows.rates(peer=14.3)))))
        self.assertEqual(list(bench.broken(rows.record(rows.rates(peer=14.5)))), [])

    def test_one_slow_place_of_many_does_not_break_it(self):
        slow, fine = rows.rates(peer=14.0), rows.rates(peer=15.0)
        made = [row for number, rates in enumerate([slow, fine, fine])
                for row in rows.lookup_rows(rates, job=f"j{number}")]
        self.assertEqual(list(bench.broken(Record(made))), [])

    def test_it_counts_at_32m_and_on_huge_pages_only(self):
        slow = rows.rates(peer=1.0)
        self.assertEqual(list(bench.broken(rows.record(slow, slots=float(1 << 19)))), [])
        self.assertEqual(list(bench.broken(rows.record(slow, page_bytes=4096.0))), [])

    def test_nobody_is_faster_than_the_ceiling_of_its_own_bytes(self):
        self.assertEqual(list(bench.broken(rows.record(rows.rates(ours=38.0)))), [])
        said = list(bench.broken(rows.record(rows.rates(ours=39.0))))  # 256 keys a call: 42.9
        self.assertIn("107% of what memory allows", said[0])
        other_bytes = rows.lookup_rows({("fast_map", "one by one"): 90.0}, second_bytes=0.0)
        self.assertEqual(list(bench.broken(Record(rows.lookup_rows(rows.rates())
                                                  + other_bytes))), [])


if __name__ == "__main__":
    unittest.main()
