"""The experiment `table`: its verdicts, its report, its jobs, README's block."""
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import rows  # noqa: E402  (found by the line above)
from report import render_html, render_text  # noqa: E402
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

    def test_the_overlapping_form_counts_and_plain_calls_have_their_own_bound(self):
        section = experiment.sections(rows.record(rows.rates(ours=27.0)))[0]
        words = {(v.claim, v.verdict) for v in section.verdicts}
        self.assertIn(("hits, overlapping calls", "MISSED"), words)  # 1.485
        self.assertIn(("hits, plain calls x rte_hash", "must reached"), words)  # 1.35

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
            self.assertEqual(len({job.name for job in made}), len(made))
            for job in made:
                fits = job.table_bytes() < 22e9
                self.assertTrue(fits or job.slots == 1 << 27, job.name)

    def test_128m_is_run_by_ours_rte_hash_and_the_oracle(self):
        large = [job for job in jobs("full", NAMES)
                 if job.slots == 1 << 27 and job.experiment == "split"]
        self.assertTrue(large)
        for job in large:
            self.assertLess(job.table_bytes(), 22e9)
            self.assertEqual(job.contestants, ("roost_flow_table", "rte_hash"))
            self.assertTrue(job.own_oracles)
            self.assertIn("--own-oracles", job.words())


if __name__ == "__main__":
    unittest.main()
