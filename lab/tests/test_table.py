"""The experiment `table`: its verdicts, its report, its jobs, README's block."""
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import rows  # noqa: E402  (found by the line above)
from harness import run  # noqa: E402
from report import render_html, render_text  # noqa: E402
from report.record import Record  # noqa: E402
from table import experiment, readme_speed, targets  # noqa: E402
from table.jobs import jobs  # noqa: E402

NAMES = ["roost_flow_table", "roost_flow_table_timers", "rte_hash", "rte_hash_records",
         "boost_flat_map", "std_unordered_map", "oracle_two_line_t0", "oracle_two_line_t1",
         "oracle_two_line_nta", "roost_c_table"]


class Verdicts(unittest.TestCase):
    def test_must_aim_and_missed(self):
        for ratio, word in ((1.4, "MISSED"), (1.5, "must reached"), (1.9, "aim reached")):
            self.assertEqual(targets.judge(ratio, 1.5, 1.85)[0], word)
        self.assertIn("-6.7%", targets.judge(1.4, 1.5, 1.85)[1])

    def test_ninety_hundredths_of_the_oracle_are_the_aim_where_they_are_below_it(self):
        self.assertEqual(targets.judge(1.7, 1.5, 1.85, oracle_ratio=1.8)[0], "aim reached")
        self.assertEqual(targets.judge(1.7, 1.5, 1.85, oracle_ratio=2.5)[0], "must reached")

    def test_the_table_s_own_hint_is_held_against_the_best_one(self):
        def verdict(ours):
            entrants = {("roost_flow_table", "32 keys a call"): ours,
                        ("forced_t0", "32 keys a call"): 40.0,
                        ("forced_t1", "32 keys a call"): 50.0,
                        ("forced_nta", "32 keys a call"): 30.0}
            kept = [row for row in rows.lookup_rows(entrants, experiment="hints")
                    if row["miss_ratio"] == 1.0]
            [found] = experiment.sections(Record(kept))[0].verdicts
            return found

        self.assertEqual(verdict(ours=47.0).verdict, "MISSED")
        self.assertEqual(verdict(ours=48.0).verdict, "must reached")
        self.assertIn("misses: share of the best hint (t1)", verdict(ours=48.0).claim)

    def test_the_overlapping_form_counts_and_plain_calls_have_their_own_bound(self):
        section = experiment.sections(rows.record(rows.rates(ours=27.0)))[0]
        words = {(v.claim, v.verdict) for v in section.verdicts}
        self.assertIn(("hits, overlapping calls", "MISSED"), words)  # 1.485
        self.assertIn(("hits, plain calls x rte_hash", "must reached"), words)  # 1.35

    def test_overlapping_calls_are_held_against_the_peers_best_call(self):
        made = rows.record(rows.rates() | {("rte_hash", "64 keys a call"): 22.0})
        words = {v.claim: v.said for v in experiment.sections(made)[0].verdicts}
        self.assertIn("1.50 x rte_hash", words["hits, overlapping calls"])  # 33 / 22
        self.assertIn("1.50, at least", words["hits, plain calls x rte_hash"])  # 30 / 20

    def test_a_kernel_is_ahead_by_its_median_unless_it_loses_somewhere(self):
        for ratios, word in (([1.01, 1.05, 1.1], "ahead"), ([0.97, 1.05, 1.1], "even"),
                             ([1.0, 1.01, 1.1], "even"), ([0.9, 0.95, 1.0], "behind"),
                             ([], "not run")):
            self.assertEqual(targets.verdict_of_kernel("s", "c", ratios).verdict, word)

    def test_kernels_are_compared_each_with_the_one_before_it(self):
        rates = {("roost_flow_table_scalar", "32 keys a call"): 10.0,
                 ("roost_flow_table_sse42", "32 keys a call"): 20.0,
                 ("roost_flow_table_avx2", "32 keys a call"): 20.2}
        made = rows.record(rates, experiment="kernels")
        verdicts = experiment.sections(made)[0].verdicts
        self.assertEqual([(v.claim, v.verdict) for v in verdicts],
                         [("sse42 over scalar", "ahead"), ("avx2 over sse42", "even")])
        small = rows.record(rates, experiment="kernels", page_bytes=4096.0)
        self.assertEqual(experiment.sections(small)[0].verdicts, [])

    def test_timers_cost_is_judged_for_the_split_table_and_reported_for_inline(self):
        for name, part, words in (("roost_flow_table", "timers", {"MISSED"}),
                                  ("roost_inline_2", "inline", {"reported"})):
            made = rows.record({(name, "256 keys a call"): 40.0,
                                (f"{name}_timers", "256 keys a call"): 37.0,
                                ("rte_hash", "32 keys a call"): 20.0}, experiment=part)
            found = [v for v in experiment.sections(made)[0].verdicts if "timers" in v.claim]
            self.assertEqual({v.verdict for v in found}, words)
            self.assertEqual({v.said.split(",")[0] for v in found}, {"0.925"})

    def test_a_twin_of_the_table_is_reported_beside_its_timers(self):
        made = rows.record({("roost_flow_table", "256 keys a call"): 40.0,
                            ("roost_flow_table_timers", "256 keys a call"): 39.0,
                            ("roost_flow_table_avx2", "256 keys a call"): 38.0,
                            ("rte_hash", "32 keys a call"): 20.0}, experiment="timers")
        found = [v for v in experiment.sections(made)[0].verdicts if "twin" in v.claim]
        self.assertEqual({(v.verdict, v.said) for v in found}, {("reported", "0.950")})

    def test_insertions_beside_peers_name_the_winner(self):
        rates = {("roost_flow_table", "32 keys a call"): 9.0, ("rte_hash", "one by one"): 5.0,
                 ("boost_flat_map", "one by one"): 12.0}
        made = rows.record(rates, experiment="peers", metric="inserts_m_per_s")
        [verdict] = experiment.sections(made)[-1].verdicts
        self.assertEqual(verdict.verdict, "behind")
        self.assertRegex(verdict.said, "^0.75 x boost_flat_map: lines are far")

    def test_without_equal_huge_pages_there_is_no_ratio_and_no_verdict(self):
        sections = experiment.sections(rows.record(page_bytes=4096.0))
        text = render_text.render({}, sections, [])
        self.assertIn("NO RATIO", text)
        self.assertEqual(sections[0].verdicts, [])
        self.assertNotIn("1.50", text)


class Report(unittest.TestCase):
    def test_html_stands_alone_and_shows_a_broken_bench(self):
        sections = experiment.sections(rows.record(experiment="misses"))
        page = render_html.render("t", {"cpu": "<x>"}, sections, ["it is broken"])
        self.assertIn("<svg", page)
        self.assertIn("it is broken; no figure counts", page)
        self.assertIn("&lt;x&gt;", page)
        self.assertNotIn("src=", page)

    def test_readmes_block_has_a_row_a_case_that_was_measured(self):
        block = readme_speed.block(rows.record())
        self.assertIn("| split, 32M |", block)
        self.assertIn("**1.65 / 1.65 / 1.65**", block)
        self.assertNotIn("512K", block)


class Jobs(unittest.TestCase):
    def test_every_job_has_a_name_of_its_own_and_fits_into_24_gb(self):
        for size in ("quick", "full"):
            made = jobs(size, NAMES)
            self.assertEqual(len({job.process_name for job in made}), len(made))
            for job in made:
                fits = job.table_bytes() < 22e9
                self.assertTrue(fits or job.slots == 1 << 27, job.name)

    def test_a_full_run_takes_less_than_an_hour_and_says_so_beforehand(self):
        everyone = [*NAMES, *(f"roost_{other}" for other in (
            "flow_table_scalar", "flow_table_sse42", "flow_table_avx2", "optimistic", "pessimistic",
            "horton", "inline_2", "inline_3", "inline_2_timers", "inline_3_timers")),
                    *(f"oracle_inline_{slots}_{hint}" for slots in (2, 3)
                      for hint in ("t0", "t1", "nta")),
                    "absl_flat_hash_map", "tsl_robin_map", "tsl_hopscotch_map", "libcuckoo",
                    "google_dense_hash_map", "google_sparse_hash_map", "tbb_concurrent_hash_map"]
        made = jobs("full", everyone)
        minutes = run.minutes_left(made, [])
        self.assertLess(minutes, 57)
        first = made[0]
        self.assertAlmostEqual(run.minutes_left(made, [first.process_name]),
                               minutes - first.seconds() / 60)

    def test_what_readme_shows_is_measured_in_several_processes(self):
        shown = {"split", "inline", "fills", "replacements", "zipf", "churn"}
        made = [job for job in jobs("full", NAMES) if job.experiment in shown]
        self.assertEqual({job.experiment for job in made}, shown - {"inline"})
        for job in made:
            self.assertGreater(job.processes, 1, job.name)
            self.assertEqual(len([other for other in made if other.name == job.name]),
                             job.processes)
        numbers = [job.process for job in jobs("full", NAMES)]
        self.assertEqual(numbers, sorted(numbers))

    def test_128m_is_run_by_ours_rte_hash_and_the_oracle(self):
        large = [job for job in jobs("full", NAMES)
                 if job.slots == 1 << 27 and job.experiment == "split"]
        self.assertTrue(large)
        for job in large:
            self.assertLess(job.table_bytes(), 22e9)
            self.assertEqual(job.contestants, ("roost_flow_table", "rte_hash"))
            self.assertTrue(job.own_oracles)
            self.assertIn("--own-oracles", job.words(None))

    def test_hints_are_measured_with_lookups_of_one_kind_in_the_table_s_own_memory(self):
        made = [job for job in jobs("full", NAMES) if job.experiment == "hints"]
        self.assertEqual(len({job.name for job in made}), len(made))
        self.assertEqual({job.slots for job in made}, {1 << 19, 3 << 20, 1 << 25, 1 << 27})
        for job in made:
            self.assertEqual([len(job.contestants), len(job.calls), len(job.misses)], [1, 1, 1])
            self.assertIn("--forced-hints", job.words(None))


if __name__ == "__main__":
    unittest.main()
