"""The report's arithmetic and rules, on made-up figures."""
import csv
import statistics
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from table import report  # noqa: E402  (found by the line above)

FIELDS = ["slots", "entries", "load", "contestant", "form", "miss_ratio", "round", "warm_up_rounds",
          "lookups", "mlookups_per_s", "page_bytes", "table_bytes", "core"]


def rates(ours=30.0, peer=20.0, ceiling=40.0):
    """What each entrant reaches at every miss ratio, without noise."""
    return {("roost_flow_table", "32 keys a call"): ours,
            ("roost_flow_table", "256 keys a call"): ours * 1.1,
            ("rte_hash", "32 keys a call"): peer, ("boost_flat_map", "find"): peer,
            ("ceiling_two_line", "T0"): ceiling * 0.9, ("ceiling_two_line", "NTA"): ceiling,
            ("empty_loop", "32 keys a call"): 500.0}


def written(file, entrants, slots=1 << 25, page=2 << 20, slow_rounds=()):
    """A CSV of 5 rounds; in slow rounds everyone is at half speed."""
    with open(file, "w", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, FIELDS)
        writer.writeheader()
        for (contestant, form), rate in entrants.items():
            for miss in (0, 0.5, 1):
                for number in range(5):
                    writer.writerow({
                        "slots": slots, "entries": slots * 8 // 10, "load": 0.8,
                        "contestant": contestant, "form": form, "miss_ratio": miss,
                        "round": number, "warm_up_rounds": 1, "lookups": 1000,
                        "mlookups_per_s": rate / (2 if number in slow_rounds else 1),
                        "page_bytes": page, "table_bytes": slots * 40, "core": 1})


class Report(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.file = Path(folder.name) / "table.csv"

    def size(self, *arguments, **named):
        written(self.file, *arguments, **named)
        return next(iter(report.read(self.file).values()))

    def test_the_best_variant_is_the_ceiling(self):
        size = self.size(rates())
        self.assertEqual(size.best_form("ceiling_two_line", 0.0), "NTA")
        self.assertAlmostEqual(size.share_of_ceiling("rte_hash", "32 keys a call", 0.0), 0.5)

    def test_ratios_are_taken_within_a_round(self):
        size = self.size(rates(), slow_rounds={0, 1, 4})
        self.assertEqual(size.ratio_to_peer("32 keys a call", 0.0), [1.5] * 5)
        self.assertEqual(statistics.median(size.of("rte_hash", "32 keys a call", 0.0)), 10.0)
        size.rates["roost_flow_table", "32 keys a call", 0.0] = {0: 10.0, 1: 20.0, 2: 30.0}
        size.rates["rte_hash", "32 keys a call", 0.0] = {2: 10.0, 1: 20.0, 0: 5.0}
        self.assertEqual(size.ratio_to_peer("32 keys a call", 0.0), [2.0, 1.0, 3.0])

    def test_verdicts_take_the_better_form_and_say_the_distance(self):
        lines = list(report.verdicts(self.size(rates(ours=28.0))))
        self.assertIn("reached: hits 1.54 x rte_hash by 256 keys a call", lines[0])
        self.assertIn("MISSED: misses 1.54 x", lines[2])
        self.assertIn("(-3.7%)", lines[2])

    def test_a_peer_slow_beside_the_ceiling_of_its_own_hint_breaks_the_bench(self):
        written(self.file, rates(peer=14.3))  # the T0 ceiling is 36, the best one 40
        text, broken = report.render(report.read(self.file))
        self.assertTrue(broken)
        self.assertIn("BROKEN BENCH", text)
        written(self.file, rates(peer=14.5))
        self.assertFalse(report.render(report.read(self.file))[1])

    def test_other_sizes_have_no_verdict(self):
        written(self.file, rates(peer=1.0), slots=1 << 19)
        text, broken = report.render(report.read(self.file))
        self.assertFalse(broken)
        self.assertNotIn("expected", text)

    def test_without_equal_huge_pages_no_ratio_is_printed(self):
        written(self.file, rates(), page=4096)
        text, broken = report.render(report.read(self.file))
        self.assertFalse(broken)
        self.assertIn("NO RATIO", text)
        for word in ("ours /", "share", "reached", "MISSED"):
            self.assertNotIn(word, text)


if __name__ == "__main__":
    unittest.main()
