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
ROUNDS = 3
OWN = {PAPER.SLOT_TIMERS: 40.0, "roost_split wheel": 50.0, "roost_inline wheel": 45.0,
       "rte_hash wheel": 60.0, "tsl_hopscotch_map wheel": 55.0, "tsl_robin_map wheel": 55.0,
       "chained_map wheel": 80.0, "std_unordered_map wheel": 90.0, "boost_flat_map wheel": 58.0}


def made(experiment, own, raw=20.0, cores=1.0, **fields):
    """What cells take beyond parsing, in each of some rounds."""
    return [rows.ROW | {"experiment": experiment, "contestant": contestant, "core_count": cores,
                        "metric": PAPER.NS, "round": float(number), "value": value,
                        "workload": "campus-like x16", "slots": float(PAPER.CONNECTIONS)} | fields
            for contestant, value in ({PAPER.RAW: raw} | {name: raw + ns for name, ns in
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

    def test_a_full_run_takes_less_than_an_hour(self):
        self.assertLess(run.minutes_left(PAPER.jobs("full", ()), []), 60)


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
    ALONE = {name: 100.0 for name in (*PAPER.SHARDED, *PAPER.COMMON)}

    def found(self, **two):
        both = {name: 48.0 if name in PAPER.SHARDED else 80.0 for name in self.ALONE}
        both |= {"common roost shared": 50.0, "common rte_hash LF": 65.0} | two
        return verdicts(made("sharing", self.ALONE, raw=1.0)
                        + made("sharing", both, raw=1.0, cores=2.0))

    def test_two_workers_are_compared_with_one(self):
        self.assertEqual(words_of(self.found(), "each with its tables"), "must reached")
        slow = self.found(**{PAPER.SLOT_TIMERS: 60.0})
        self.assertEqual(words_of(slow, "each with its tables"), "MISSED")

    def test_our_common_table_is_compared_with_rte_hash_lf(self):
        self.assertEqual(words_of(self.found(), "rte_hash LF takes"), "must reached")
        slow = self.found(**{"common roost shared": 60.0})
        self.assertEqual(words_of(slow, "rte_hash LF takes"), "MISSED")

    def test_a_lock_that_scales_contradicts_the_paper(self):
        fast = self.found(**{"common rte_hash spinlock": 50.0})
        self.assertEqual(words_of(fast, "any lock"), "NOT")


class Report(unittest.TestCase):
    def test_it_says_that_packets_are_synthetic(self):
        text = render_text.render({}, PAPER.sections(Record(made("fig1", OWN))), [])
        self.assertIn("synthetic", text)


if __name__ == "__main__":
    unittest.main()
