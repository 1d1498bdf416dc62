"""The CuckooSwitch paper's jobs, and its verdicts on made-up figures."""
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import lab  # noqa: E402  (found by the line above)
import rows  # noqa: E402
from harness import run  # noqa: E402
from report.record import Record  # noqa: E402

PAPER = lab.load_experiment("2013-cuckooswitch")
RUNGS = ("cuckooswitch_baseline", "cuckooswitch_pages", "cuckooswitch_order",
         "cuckooswitch_batch", "cuckooswitch")
WIDE = ("roost_flow_table", "roost_inline_2")
NAMES = (*RUNGS, "roost_packed", "roost_packed_shared", "rte_hash", "rte_hash_mac", *WIDE,
         *(f"{name}_shared" for name in WIDE),
         *(f"oracle_packed_{hint}" for hint in ("t0", "t1", "nta")), *PAPER.figures.MAPS)
SHARED, EXCLUSIVE = "roost_packed_shared", "roost_packed"


def made(experiment, rates, **fields):
    """{(contestant, form): rate} as rows of one round."""
    return [rows.ROW | {"experiment": experiment, "contestant": contestant, "form": form,
                        "round": 0.0, "miss_ratio": 0.0, "value": rate, "load": 0.95} | fields
            for (contestant, form), rate in rates.items()]


def verdicts(record):
    return {(v.source, v.claim): v for section in PAPER.sections(record)
            for v in section.verdicts}


class Jobs(unittest.TestCase):
    def test_every_job_has_a_name_of_its_own(self):
        for size in ("quick", "full", "smoke"):
            jobs = PAPER.jobs(size, NAMES)
            self.assertEqual(len({job.process_name for job in jobs}), len(jobs))

    def test_memory_of_22_gb_holds_all_but_the_largest_copies_of_dense(self):
        large = [job for job in PAPER.jobs("full", NAMES) if job.table_bytes() > 20e9]
        self.assertTrue(large)
        for job in large:
            self.assertEqual(job.contestants, ("google_dense_hash_map_mac",))

    def test_pages_are_not_reserved_for_who_is_on_small_ones(self):
        [job] = [job for job in PAPER.jobs("full", NAMES) if job.slots == 1 << 30
                 and job.contestants[0] == "cuckooswitch_baseline"]
        self.assertLess(job.reserved_bytes(), 9.5e9)
        self.assertGreater(job.table_bytes(), 17e9)

    def test_a_full_run_takes_less_than_three_hours(self):
        self.assertLess(run.minutes_left(PAPER.jobs("full", NAMES), []), 180)


class Speed(unittest.TestCase):
    def test_the_better_form_of_rte_hash_is_what_counts(self):
        record = Record(made("speed", {(SHARED, "32 keys a call"): 60.0,
                                       (SHARED, "256 keys a call"): 80.0,
                                       (EXCLUSIVE, "32 keys a call"): 61.0,
                                       ("rte_hash", "32 keys a call"): 20.0,
                                       ("rte_hash_mac", "32 keys a call"): 10.0,
                                       ("rte_hash_mac", "64 keys a call"): 25.0}))
        found = verdicts(record)
        plain = found["hits, 32M", "plain calls"]
        self.assertEqual(plain.verdict, "aim reached")
        self.assertIn("3.00 x", plain.said)
        overlapping = found["hits, 32M", "overlapping calls"]
        self.assertEqual(overlapping.verdict, "must reached")
        self.assertIn("3.20 x", overlapping.said)
        shared = found["hits, 32M", "32 keys a call: shared, of the exclusive table's rate"]
        self.assertEqual(shared.verdict, "aim reached")

    def test_one_wrong_read_is_one_too_many(self):
        def record(wrong):
            rates = made("updates", {(SHARED, "32 keys a call"): 50.0}, workload="idle writer")
            rates += made("updates", {(SHARED, "32 keys a call"): 40.0}, workload="5 updates/s")
            return Record(rates + made("updates", {(SHARED, "32 keys a call"): wrong},
                                       workload="5 updates/s", metric="wrong_reads"))
        claim = "5 updates/s, 32M", f"{SHARED}: no stale or wrong reads"
        self.assertEqual(verdicts(record(0.0))[claim].verdict, "must reached")
        self.assertEqual(verdicts(record(1.0))[claim].verdict, "MISSED")
        share = verdicts(record(0.0))["5 updates/s, 32M",
                                      "32 keys a call: of the rate with an idle writer"]
        self.assertEqual(share.verdict, "MISSED")

    def test_readers_are_held_against_what_the_oracle_scales_by(self):
        for two, word in ((97.0, "must reached"), (90.0, "MISSED")):
            rates = made("readers", {(SHARED, "32 keys a call"): 50.0,
                                     ("oracle_packed_t0", "32 keys a call"): 100.0})
            rates += made("readers", {(SHARED, "32 keys a call"): two,
                                      ("oracle_packed_t0", "32 keys a call"): 198.0},
                          core_count=2.0)
            [verdict] = [v for section in PAPER.sections(Record(rates)) for v in section.verdicts]
            self.assertEqual(verdict.verdict, word)

    def test_tables_of_wide_entries_are_held_against_themselves_exclusive(self):
        rates = {("roost_flow_table", "32 keys a call"): 50.0,
                 ("roost_flow_table_shared", "32 keys a call"): 41.0,
                 ("roost_inline_2", "32 keys a call"): 50.0,
                 ("roost_inline_2_shared", "32 keys a call"): 39.0}
        misses = {key: rate / 10 for key, rate in rates.items() if "shared" in key[0]}
        found = verdicts(Record(made("wide", rates) + made("wide", misses, miss_ratio=1.0)))
        claim = "32 keys a call: shared, of the exclusive table's rate"
        self.assertEqual(found["roost_flow_table, 32M", claim].verdict, "must reached")
        self.assertEqual(found["roost_inline_2, 32M", claim].verdict, "MISSED")

    def test_a_thousand_million_is_held_against_the_oracle_over_lines_touched(self):
        rates = made("billion", {(SHARED, "256 keys a call"): 40.0}, lines_per_lookup=1.25)
        rates += made("billion", {("oracle_packed_t1", "256 keys a call"): 60.0})
        rates += made("billion", {(SHARED, ""): 100.0}, metric="bulk_seconds")
        rates += made("billion", {(SHARED, ""): 8.6}, metric="bytes_per_entry")
        found = verdicts(Record(rates))
        claim = "a thousand million", "256 keys a call: of the oracle over lines touched"
        self.assertIn("0.833", found[claim].said)
        self.assertEqual(found["a thousand million", "filled by 1"].verdict, "must reached")
        self.assertEqual(found["a thousand million", "filled by 2"].verdict, "not run")


class Figures(unittest.TestCase):
    def ladder(self, *values, **fields):
        forms = ("1 keys a call",) * 3 + ("14 keys a call",) * 2
        record = made("fig5", dict(zip(zip(RUNGS, forms), values)), **fields)
        for row in record:
            if row["contestant"] == RUNGS[0] and row["page_bytes"]:
                row["page_bytes"] = 4096.0
        return {claim: v.verdict for (_, claim), v in verdicts(Record(record)).items()}

    def test_figure_5_of_the_paper_s_shape_is_reproduced(self):
        self.assertEqual(set(self.ladder(5.0, 5.5, 12.0, 13.0, 28.0).values()), {"reproduced"})

    def test_a_batch_that_alone_gains_much_and_an_order_that_gains_little_are_not(self):
        found = self.ladder(5.0, 5.5, 6.0, 10.0, 28.0)
        self.assertEqual(found["order: twice as fast"], "not")
        self.assertEqual(found["a batch alone: less than 1.2 times"], "not")

    def test_rungs_on_small_pages_but_for_the_baseline_have_no_verdict(self):
        self.assertEqual(set(self.ladder(5.0, 5.5, 12.0, 13.0, 28.0, page_bytes=4096.0).values()),
                         {"not run"})

    def test_dense_is_doubled_for_its_second_copy(self):
        sizes = made("table3", {("roost_packed_shared", ""): 8.6,
                                ("google_dense_hash_map_mac", ""): 36.0},
                     metric="bytes_per_entry")
        [section] = PAPER.sections(Record(sizes))
        self.assertEqual([row[-1] for row in section.tables[0].rows],
                         ["8.60", "-", "36.00", "72.00"])
        self.assertEqual({v.verdict for v in section.verdicts}, {"reproduced"})


if __name__ == "__main__":
    unittest.main()
