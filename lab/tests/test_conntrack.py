"""The study of connection tracking: its jobs, and its verdicts on made-up figures."""
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import lab  # noqa: E402  (found by the line above)
import rows  # noqa: E402
from harness import run  # noqa: E402
from report import render_text  # noqa: E402
from report.record import Record  # noqa: E402

PAPER = lab.load_experiment("2021-conntrack")
FIGURES, SHARING, EXPIRY, TIMERS, AXES, SOAK = PAPER.PARTS
SLOT_TIMERS, RAW, NS = FIGURES.SLOT_TIMERS, FIGURES.RAW, SHARING.NS
ROUNDS = 3
OWN = {SLOT_TIMERS: 40.0, "roost_split wheel": 50.0, "roost_inline wheel": 45.0,
       "rte_hash wheel": 60.0, "tsl_hopscotch_map wheel": 55.0, "tsl_robin_map wheel": 55.0,
       "chained_map wheel": 80.0, "std_unordered_map wheel": 90.0, "boost_flat_map wheel": 58.0}


def made(experiment, own, raw=20.0, cores=1.0, **fields):
    """What cells take beyond parsing, in each of some rounds."""
    return [rows.ROW | {"experiment": experiment, "contestant": contestant, "core_count": cores,
                        "metric": NS, "round": float(number), "value": value,
                        "workload": "campus-like x16",
                        "slots": float(FIGURES.cells.CONNECTIONS)} | fields
            for contestant, value in ({RAW: raw} | {name: raw + ns for name, ns in
                                                          own.items()}).items()
            for number in range(ROUNDS)]


def verdicts(found_rows):
    return {verdict.claim: (verdict.verdict, verdict.said)
            for section in PAPER.sections(Record(found_rows)) for verdict in section.verdicts}


def words_of(found, *parts):
    [word] = [word for claim, (word, _) in found.items() if all(part in claim for part in parts)]
    return word


class Jobs(unittest.TestCase):
    def test_every_job_has_a_name_of_its_own(self):
        for size in ("quick", "full", "smoke"):
            jobs = PAPER.jobs(size, ())
            self.assertEqual(len({job.process_name for job in jobs}), len(jobs))

    def test_memory_of_22_gb_holds_them_all(self):
        for job in PAPER.jobs("full", ()):
            self.assertLess(job.table_bytes(), 20e9, job.name)

    def test_a_full_run_takes_less_than_an_hour_beside_the_soaks(self):
        soaks, others = [], []
        for job in PAPER.jobs("full", ()):
            (soaks if job.experiment == "soak" else others).append(job)
        self.assertLess(run.minutes_left(others, []), 60)
        self.assertEqual([job.soak_seconds for job in soaks], [600] * 3)


class Figure1(unittest.TestCase):
    def test_ratios_are_of_what_stands_beyond_parsing(self):
        found = verdicts(made("fig1", OWN))
        self.assertEqual(words_of(found, "rte_hash", "beyond parsing"), "must reached")
        self.assertEqual(words_of(found, "chained", "beyond parsing"), "must reached")

    def test_a_must_that_is_missed_says_so(self):
        found = verdicts(made("fig1", OWN | {"rte_hash wheel": 47.0}))
        self.assertEqual(words_of(found, "rte_hash", "beyond parsing"), "MISSED")

    def test_the_order_of_the_tables_is_judged(self):
        found = verdicts(made("fig1", OWN))
        self.assertEqual(words_of(found, "first of them"), "REPRODUCED")
        found = verdicts(made("fig1", OWN | {"tsl_robin_map wheel": 30.0}))
        self.assertEqual(words_of(found, "first of them"), "NOT")

    def test_on_small_pages_nothing_is_judged(self):
        self.assertEqual(verdicts(made("fig1", OWN, page_bytes=4096.0)), {})


class Sharing(unittest.TestCase):
    ALONE = {name: 100.0 for name in (*SHARING.SHARDED, *SHARING.COMMON)}

    def found(self, **two):
        both = {name: 48.0 if name in SHARING.SHARDED else 80.0 for name in self.ALONE}
        both |= {"common roost shared": 50.0, "common rte_hash LF": 65.0} | two
        return verdicts(made("sharing", self.ALONE, raw=1.0)
                        + made("sharing", both, raw=1.0, cores=2.0))

    def test_two_workers_are_compared_with_one(self):
        self.assertEqual(words_of(self.found(), "each with its tables"), "must reached")
        slow = self.found(**{SLOT_TIMERS: 60.0})
        self.assertEqual(words_of(slow, "each with its tables"), "MISSED")

    def test_our_common_table_is_compared_with_rte_hash_lf(self):
        self.assertEqual(words_of(self.found(), "rte_hash LF takes"), "must reached")
        slow = self.found(**{"common roost shared": 60.0})
        self.assertEqual(words_of(slow, "rte_hash LF takes"), "MISSED")

    def test_a_lock_that_scales_contradicts_the_paper(self):
        fast = self.found(**{"common rte_hash spinlock": 50.0})
        self.assertEqual(words_of(fast, "any lock"), "NOT")


class Figure2(unittest.TestCase):
    def found(self, **nearly_full):
        """Inserts take 100 ns, but for some in the last step."""
        seen = []
        for contestant in FIGURES.FIG2:
            seconds = 0.0
            for load in FIGURES.FIG2_LOADS:
                operations = load * 1e6
                step = 1e5 if load <= 0.9 else 0.5e5
                ns = nearly_full.get(contestant, 100.0) if load > 0.9 else 100.0
                seconds += step * ns / 1e9
                seen.append(rows.ROW | {
                    "experiment": "fig2", "contestant": contestant, "load": load, "round": 0.0,
                    "metric": FIGURES.INSERTS, "value": 1.0, "seconds": seconds,
                    "operations": operations})
        return seen

    def test_each_step_is_counted_by_itself(self):
        curve = dict(FIGURES.insert_curve(Record(self.found(chained_map=300.0)), "chained_map"))
        self.assertAlmostEqual(curve[0.5], 100.0)
        self.assertAlmostEqual(curve[0.95], 300.0)

    def test_those_that_grow_are_told_from_those_that_do_not(self):
        grown = {name: 900.0 for name in FIGURES.BLOWING_UP}
        self.assertEqual(words_of(verdicts(self.found(**grown)), "hopscotch"), "REPRODUCED")
        self.assertEqual(words_of(verdicts(self.found(**grown, rte_hash=1000.0)), "hopscotch"),
                         "NOT")


class Figure5(unittest.TestCase):
    def found(self, wheel, p999=1000.0):
        own = {name: 100.0 for name in EXPIRY.FIG5} | {"rte_hash wheel": wheel}
        tails = [rows.ROW | {"experiment": "fig5", "contestant": f"rte_hash {expiry}", "value": ns,
                             "metric": "batch_ns_p999"}
                 for expiry, ns in (("wheel", p999), ("none", 1000.0))]
        return verdicts(made("fig5", own, raw=0.0) + tails)

    def test_a_mechanism_is_compared_with_none(self):
        self.assertEqual(words_of(self.found(109.0), "wheel, rte_hash"), "must reached")
        self.assertEqual(words_of(self.found(115.0), "wheel, rte_hash"), "MISSED")

    def test_so_is_the_tail_of_its_batches(self):
        self.assertEqual(words_of(self.found(100.0), "p99.9"), "must reached")
        self.assertEqual(words_of(self.found(100.0, p999=1600.0), "p99.9"), "MISSED")

    def of_periods(self, scan_looks, scan_lost):
        figures = {"rte_hash wheel": (10.0, 0.0), EXPIRY.LAZY: (None, 0.0),
                   SLOT_TIMERS: (None, 0.0), "rte_hash table_scan": (scan_looks, scan_lost)}
        found = []
        for contestant, (looks, lost) in figures.items():
            for metric, value in ((NS, 100.0), ("looks_per_batch", looks),
                                  ("lost_share_emulated", lost)):
                found.append(rows.ROW | {"experiment": "fig5_period", "contestant": contestant,
                                         "job": "fig5_period tick=0.03", "metric": metric,
                                         "value": value})
        return verdicts(found)

    def test_a_scan_touches_more_and_loses_packets(self):
        found = self.of_periods(200.0, 0.01)
        self.assertEqual(words_of(found, "ten times"), "REPRODUCED")
        self.assertEqual(words_of(found, "loses packets"), "REPRODUCED")
        found = self.of_periods(50.0, 0.0)
        self.assertEqual(words_of(found, "ten times"), "NOT")
        self.assertEqual(words_of(found, "loses packets"), "NOT")


class Choosing(unittest.TestCase):
    def found(self, ours):
        seen = []
        for contestant in (RAW, *AXES.CONTESTANTS):
            ns = {RAW: 10.0, SLOT_TIMERS: ours}.get(contestant, 60.0)
            for metric, value in ((NS, ns), ("connections_live", 10_000.0)):
                seen.append(rows.ROW | {
                    "experiment": "axis_size", "contestant": contestant, "metric": metric,
                    "value": value, "round": 0.0, "slots": 14_000.0, "table_bytes": 1.4e6,
                    "job": "axis_size law=fixed mean=20"})
        return PAPER.readme_block(Record(seen), "size").splitlines()[-1]

    def test_the_least_is_what_the_record_says(self):
        self.assertIn("| 10K | 20 | **ours, timers in slots** (30) |", self.found(40.0))
        self.assertNotIn("**ours, timers in slots**", self.found(90.0))


class Soak(unittest.TestCase):
    def test_each_cell_is_a_row_with_its_counts(self):
        found = [rows.ROW | {"job": contestant, "experiment": "soak", "contestant": contestant,
                             "form": form, "metric": metric, "core_count": 2.0,
                             "value": value if form == "whole run" else 50.0}
                 for contestant in SOAK.CONTESTANTS for form in ("before", "whole run")
                 for value, metric in enumerate(SOAK.COUNTS)]
        [section] = PAPER.sections(Record(found))
        [table] = section.tables
        self.assertEqual([row[1:] for row in table.rows],
                         [[tables, "2", *map(str, range(len(SOAK.COUNTS)))]
                          for tables in ("each", "each", "one")])
        self.assertIn("synthetic", section.notes[0])


class Report(unittest.TestCase):
    def test_it_says_that_packets_are_synthetic(self):
        text = render_text.render({}, PAPER.sections(Record(made("fig1", OWN))), [])
        self.assertIn("synthetic", text)


if __name__ == "__main__":
    unittest.main()
