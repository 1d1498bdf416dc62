"""HALO-F11 of the experiment `2019-halo`: its verdicts on made-up figures, both ways, and the rows
that a report of roost-halo becomes."""
import importlib.util
import sys
import unittest
from pathlib import Path

LAB = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(LAB))

import lab  # noqa: E402  (found by the line above)
import rows  # noqa: E402
from report import render_text  # noqa: E402
from report.record import Record  # noqa: E402

HALO = lab.load_experiment("2019-halo")
TUPLES = HALO.tuples
REPRODUCED, PARTLY, NOT, NOT_RUN = "reproduced", "partly", "not", "not run"

# Times as fast as rte_hash, middles at 5, 10, 15 and 20 tuples.
AS_CLAIMED = {"blocking": (1.5, 1.5, 1.5, 1.5), "non-blocking": (6, 12, 18, 22),
              "overlapped": (8, 15, 21, 25)}


def load_simulate():
    spec = importlib.util.spec_from_file_location("simulate_tuples",
                                                  LAB / "2019-halo" / "simulate_tuples.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def made_row(way, over, count, metric, value, seed=1, found_in="last"):
    return rows.ROW | {"experiment": "fig11", "kind": "simulated", "contestant": way, "form": over,
                       "workload": found_in, "slots": float(count), "metric": metric,
                       "value": float(value), "round": float(seed),
                       "job": f"fig11 {count} {found_in} {seed}"}


def made(times=None, spread=0.1, batched=4.0, own=9.0, found_in="last", seed=1, software=4e5):
    """`batched` and `own`: how many times as fast as rte_hash those are, in every point."""
    found = []
    for way, middles in (AS_CLAIMED | (times or {})).items():
        for count, middle in zip(TUPLES.COUNTS, middles):
            for over, faster in ((TUPLES.PAPER_S, 1), (TUPLES.BATCHED, batched),
                                 (TUPLES.OURS, own)):
                for end, factor in (("least", 1 - spread), ("middle", 1), ("greatest", 1 + spread)):
                    found.append(made_row(way, over, count, f"times_{end}",
                                          middle * factor / faster, seed, found_in))
            for metric, value in (("accelerators", 8), ("busiest_share", 3 / count)):
                found.append(made_row(way, "", count, metric, value, seed, found_in))
    for count in TUPLES.COUNTS:
        for end, factor in (("least", 0.9), ("middle", 1), ("greatest", 1.1)):
            found.append(made_row(TUPLES.PAPER_S, "", count, f"rate_{end}",
                                  software * factor * 20 / count, seed, found_in))
    return found


def words(figures):
    return [verdict.verdict for verdict in HALO.sections(Record(figures))[0].verdicts]


class Verdicts(unittest.TestCase):
    def test_figures_as_claimed_are_reproduced(self):
        self.assertEqual(words(made()), [REPRODUCED] * 8)

    def test_the_claim_is_held_against_the_interval(self):
        # 20 at most 22; 13 at most 14.3, which is more than a quarter below 23.4.
        for at_last, verdict in ((22, REPRODUCED), (20, PARTLY), (13, NOT), (27, PARTLY),
                                 (40, NOT)):
            figures = made({"non-blocking": (5, 8, 11, at_last), "overlapped": (41,) * 4})
            self.assertEqual(words(figures)[0], verdict, at_last)

    def test_several_keys_at_a_time_have_a_verdict_of_their_own(self):
        for at_last, verdict in ((25, REPRODUCED), (14, NOT)):
            figures = made({"overlapped": (8, 12, 13, at_last)})
            self.assertEqual(words(figures)[:2], [REPRODUCED, verdict])

    def test_all_seeds_make_the_interval(self):
        low = made({"non-blocking": (5, 8, 11, 14)})
        self.assertEqual(words(low)[0], NOT)
        self.assertEqual(words(low + made(seed=2))[0], REPRODUCED)

    def test_what_does_not_grow_is_not(self):
        self.assertEqual(words(made({"non-blocking": (22, 12, 18, 21)}))[2], NOT)

    def test_a_blocking_way_that_gains_is_not_limited(self):
        self.assertEqual(words(made({"blocking": (1.5, 3, 4.5, 6)}))[3], PARTLY)
        self.assertEqual(words(made({"blocking": (7, 14, 21, 28)}))[3], NOT)

    def test_a_way_faster_than_a_tcam_is_not(self):
        # 2.1 GHz / 18 cycles over 400,000 a second at 20 tuples: 292 times; a quarter at 5.
        self.assertEqual(words(made({"overlapped": (80, 160, 240, 300)}))[4], PARTLY)

    def test_batching_that_is_faster_on_one_machine_is_not_beaten_on_every(self):
        self.assertEqual(words(made(batched=19.0))[5:7], [REPRODUCED, REPRODUCED])
        self.assertEqual(words(made(batched=20.5, own=30.0))[5:7], [PARTLY, NOT])

    def test_keys_in_any_table_have_verdicts_of_their_own(self):
        figures = made(found_in="any", times={"non-blocking": (3, 6, 9, 11)})
        verdicts = HALO.sections(Record(figures))[0].verdicts
        self.assertEqual([verdict.verdict for verdict in verdicts],
                         [NOT, REPRODUCED, REPRODUCED, REPRODUCED])
        self.assertTrue(all(verdict.source == "beyond HALO-F11" for verdict in verdicts))

    def test_a_part_of_the_counts_gives_no_verdict_on_the_last(self):
        few = [row for row in made() if row["slots"] < 20]
        self.assertEqual(words(few)[0], NOT_RUN)
        self.assertEqual(words(few)[5:7], [NOT_RUN, NOT_RUN])

    def test_the_report_says_that_it_is_simulated(self):
        text = render_text.render({}, HALO.sections(Record(made() + made(found_in="any"))), [])
        self.assertIn("tuple space search, simulated; keys in the last table", text)
        self.assertIn("19.8 to 24.2 (22.0)", text)
        self.assertIn("analytic", text)


class Jobs(unittest.TestCase):
    def test_full_has_all_counts_places_and_seeds(self):
        self.assertEqual(len({job.name for job in TUPLES.jobs("full")}), 4 * 2 * 3)
        self.assertEqual([job.slots for job in TUPLES.jobs("quick")], [5, 20, 5, 20])
        self.assertEqual(len(list(TUPLES.jobs("smoke"))), 1)

    def test_a_report_becomes_rows(self):
        rate = {"least": 1.0, "middle": 2.0, "greatest": 3.0}
        said = {"cores": 1, "machine": {"machines": 90},
                "tuples": {"entries": 1024, "load": 0.8, "found_in": "last", "points": [{
                    "tuples": 20, "lookups": 200,
                    "ways": [{"name": "blocking", "lookups_per_second": rate,
                              "middle": {"cycles_per_lookup": 7, "busiest_share": 0.5}}],
                    "speed_ups": [{"way": "blocking", "over": "rte_hash", "times": rate}]}]}}
        found = list(load_simulate().rows_of(said, 3))
        self.assertEqual([(row["form"], row["metric"], row["value"]) for row in found],
                         [("", "rate_least", 1.0), ("", "rate_middle", 2.0),
                          ("", "rate_greatest", 3.0), ("", "cycles_per_lookup", 7),
                          ("", "busiest_share", 0.5), ("rte_hash", "times_least", 1.0),
                          ("rte_hash", "times_middle", 2.0), ("rte_hash", "times_greatest", 3.0)])
        self.assertTrue(all(row["kind"] == "simulated" and row["slots"] == 20
                            and row["round"] == 3 and row["workload"] == "last"
                            for row in found))


if __name__ == "__main__":
    unittest.main()
