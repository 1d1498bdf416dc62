"""The experiment `balance`: its jobs, and its verdicts on made-up figures."""
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import rows  # noqa: E402  (found by the line above)
from balance import experiment  # noqa: E402
from balance.jobs import COUNTS, HASHES, RAW, SCENARIOS, jobs  # noqa: E402
from harness import run  # noqa: E402
from report import render_html, render_text  # noqa: E402
from report.record import Record  # noqa: E402

FIGURES = {"live": 1_000.0, "broken_moved": 10.0, "broken_failed": 0.0, "moved": 0.02,
           "moved_min": 0.01, "moved_needlessly": 0.0, "share_max_over_mean": 1.01,
           "live_max_over_mean": 1.2, "chooser_bytes": 100.0, "table_bytes": 0.0}
PICK_NS = {name: 5.0 for name in (RAW, *HASHES, COUNTS[0])}
BROKEN = {"maglev": 20.0}


def event_rows(backends=100.0, changed=None):
    """`changed`: figures of some, by contestant, scenario, form and metric; a field may be left
    out from the end."""
    changed = changed or {}
    found = []
    for contestant in HASHES + COUNTS:
        for scenario in SCENARIOS:
            for form in ("no table", "table"):
                if form == "no table" and contestant in COUNTS:
                    continue
                figures = dict(FIGURES, live_max_over_mean=1.05 if contestant in COUNTS else 1.2)
                if form == "table" and scenario != "restart":
                    figures["broken_moved"] = 0.0
                elif contestant in BROKEN:
                    figures["broken_moved"] = BROKEN[contestant]
                if contestant == "jump":
                    figures["moved_needlessly"] = 0.3
                figures |= changed.get((contestant, scenario, form), {})
                found += [rows.ROW | {"experiment": "events", "contestant": contestant,
                                      "kind": "simulated", "workload": scenario, "form": form,
                                      "slots": backends, "operations": float(1 << 18),
                                      "metric": metric, "value": figure, "round": None,
                                      "page_bytes": None, "table_bytes": None,
                                      "job": f"events {backends:g} {scenario}"}
                          for metric, figure in figures.items()]
    return found


def pick_rows(nanoseconds=None, operations=float(1 << 20)):
    return [rows.ROW | {"experiment": "picks", "contestant": contestant, "metric": metric,
                        "slots": 100.0, "round": float(number), "value": value,
                        "operations": operations, "job": "picks 100"}
            for contestant, value in (nanoseconds or PICK_NS).items() for number in range(3)
            for metric in ("pick_ns", "change_us")]


def verdicts(found_rows):
    return {verdict.claim: verdict.verdict for section in experiment.sections(Record(found_rows))
            for verdict in section.verdicts}


def word_of(found, part):
    words = {word for claim, word in found.items() if part in claim}
    assert len(words) == 1, (part, found)
    return words.pop()


class Jobs(unittest.TestCase):
    def test_every_job_has_a_name_of_its_own(self):
        for size in ("quick", "full", "smoke"):
            found = jobs(size, ())
            self.assertEqual(len({job.process_name for job in found}), len(found))

    def test_every_scenario_is_run_at_every_size(self):
        for size in ("quick", "full", "smoke"):
            found = [job for job in jobs(size, ()) if job.command == "events"]
            for backends in {job.slots for job in found}:
                self.assertEqual([job.scenario for job in found if job.slots == backends],
                                 list(SCENARIOS))

    def test_a_quick_run_takes_minutes(self):
        self.assertLess(run.minutes_left(jobs("quick", ()), []), 5)
        self.assertLess(run.minutes_left(jobs("full", ()), []), 60)


class Verdicts(unittest.TestCase):
    def test_a_table_that_loses_a_connection_is_told(self):
        claim = "with it no connection moves"
        self.assertEqual(word_of(verdicts(event_rows()), claim), "must reached")
        lost = {("dx", "rolling", "table"): {"broken_moved": 1.0}}
        self.assertEqual(word_of(verdicts(event_rows(changed=lost)), claim), "MISSED")

    def test_one_key_that_moves_needlessly_contradicts_a_paper(self):
        claim = "no key moves between two"
        self.assertEqual(word_of(verdicts(event_rows()), claim), "REPRODUCED")
        moved = {("dx", "weights", "no table"): {"moved_needlessly": 1e-6}}
        self.assertEqual(word_of(verdicts(event_rows(changed=moved)), claim), "NOT")

    def test_maglev_may_move_two_percent_and_jump_must_move_many(self):
        found = verdicts(event_rows())
        self.assertEqual(word_of(found, "one that leaves or comes"), "REPRODUCED")
        self.assertEqual(word_of(found, "only the last bucket can go"), "REPRODUCED")
        moved = {("maglev", "come", "no table"): {"moved_needlessly": 0.021},
                 ("jump", "leave", "no table"): {"moved_needlessly": 0.1}}
        found = verdicts(event_rows(changed=moved))
        self.assertEqual(word_of(found, "one that leaves or comes"), "NOT")
        self.assertEqual(word_of(found, "only the last bucket can go"), "NOT")

    def test_a_share_may_be_off_by_chance(self):
        chance = experiment.noise(Record(event_rows()), 100.0)
        self.assertAlmostEqual(chance, 5 * (100 / (1 << 18)) ** 0.5)
        for beyond, word in ((-0.001, "REPRODUCED"), (0.001, "NOT")):
            share = {("maglev", "leave", "no table"): {
                "share_max_over_mean": 1.02 + chance + beyond}}
            self.assertEqual(word_of(verdicts(event_rows(changed=share)), "within 2 %"), word)

    def test_least_connections_must_be_the_most_even(self):
        self.assertEqual(word_of(verdicts(event_rows()), "more even"), "must reached")
        uneven = {(COUNTS[1], "leave", "table"): {"live_max_over_mean": 1.3}}
        self.assertEqual(word_of(verdicts(event_rows(changed=uneven)), "more even"), "MISSED")

    def test_of_shares_that_chance_decides_nothing_is_said(self):
        self.assertEqual([claim for claim in verdicts(event_rows(backends=1_000.0))
                          if "within 2 %" in claim], [])


class Worth(unittest.TestCase):
    def found(self, changed=None, nanoseconds=None, **more):
        return verdicts(event_rows(changed=changed) + pick_rows(nanoseconds, **more))

    def test_who_is_ahead_in_all_is_worth_having(self):
        self.assertEqual(word_of(self.found(), "ring is worth"), "must reached")

    def test_each_part_of_the_rule_counts(self):
        as_many = {("ring", scenario, "no table"): {"broken_moved": 20.0}
                   for scenario in SCENARIOS}
        for changed in (as_many, {("ring", "restart", "table"): {"broken_moved": 21.0}},
                        {("ring", "leave", "no table"): {"share_max_over_mean": 1.2}}):
            found = self.found(changed)
            self.assertEqual(word_of(found, "ring is worth"), "NOT")
            self.assertEqual(word_of(found, "rendezvous is worth"), "must reached")
        slow = self.found(nanoseconds=PICK_NS | {"ring": 10.5})
        self.assertEqual(word_of(slow, "ring is worth"), "NOT")

    def test_of_a_short_run_nothing_is_said(self):
        found = self.found(operations=2_000.0)
        self.assertEqual([claim for claim in found if "worth having" in claim], [])


class Report(unittest.TestCase):
    def test_it_says_what_is_synthetic_and_renders(self):
        sections = experiment.sections(Record(event_rows() + pick_rows()))
        text = render_text.render({}, sections, [])
        self.assertIn("Synthetic", text)
        self.assertIn("least_connections_4", text)
        self.assertIn("<table", render_html.render("t", {}, sections, []))

    def test_those_of_failed_backends_stand_apart(self):
        failed = {("maglev", "fail", "table"): {"broken_failed": 50.0}}
        text = render_text.render({}, experiment.sections(Record(event_rows(changed=failed))), [])
        self.assertIn("0.00 (5.00)", text)


if __name__ == "__main__":
    unittest.main()
