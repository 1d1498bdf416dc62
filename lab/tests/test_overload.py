"""The experiment `overload`: its verdicts on made-up figures, its jobs, its report."""
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import rows  # noqa: E402  (found by the line above)
from overload import experiment  # noqa: E402
from overload.jobs import SLOT_TIMERS, jobs  # noqa: E402
from report import render_html, render_text  # noqa: E402
from report.record import Record  # noqa: E402

STEPS = (5, 10, 10)
OVERLOAD = range(5, 15)


def row(part, form, metric, value, second=0):
    return rows.ROW | {"experiment": part, "contestant": SLOT_TIMERS, "form": form,
                       "metric": metric, "value": float(value), "round": float(second),
                       "job": part, "page_bytes": None, "table_bytes": None}


def overload_rows(loss=None, p99=None, **totals):
    """`loss`, `p99`: of some seconds, by second. `totals`: late or sent_over_returned."""
    found = [row("overload", "capacity", "capacity", 2e6),
             row("overload", "capacity", "sent_over_returned",
                 totals.get("sent_over_returned", 1.4)),
             row("overload", "steps", "late", totals.get("late", 0.0))]
    found += [row("overload", "steps", "step_seconds", seconds, number)
              for number, seconds in enumerate(STEPS)]
    for second in range(sum(STEPS)):
        lost = 0.3 if second in OVERLOAD else 0.0
        waited = 500.0 if second in OVERLOAD else 20.0
        found += [row("overload", "steps", "returned", 1.4e6, second),
                  row("overload", "steps", "loss", (loss or {}).get(second, lost), second),
                  row("overload", "steps", "p99_us", (p99 or {}).get(second, waited), second)]
    return found


def flood_rows(held_after=200_000, changed=0):
    found = []
    for kind in ("none", "syn", "ack"):
        for second in range(-32, 0):
            is_flooded = kind != "none" and -22 <= second < -7
            held = 400_000 if is_flooded else 200_000
            held = held_after if kind == "syn" and second == -1 else held
            found.append(row("floods", kind, "held", held, second))
            found += [row("floods", kind, metric, value, second + 32)
                      for metric, value in (("offered", 2e5), ("loss", 0.0))]
        found += [row("floods", kind, "evicted", 1_000), row("floods", kind, "late", 0),
                  row("floods", kind, "backend_changed", changed if kind == "ack" else 0)]
    return found


def verdicts(found_rows):
    return {(verdict.source, verdict.claim): verdict.verdict
            for section in experiment.sections(Record(found_rows)) for verdict in section.verdicts}


def word_of(found, part, source=""):
    (word,) = {word for (said, claim), word in found.items()
               if part in claim and said.endswith(source)}
    return word


class Overload(unittest.TestCase):
    def test_who_recovers_reaches_both(self):
        self.assertEqual(set(verdicts(overload_rows()).values()), {"must reached"})

    def test_a_loss_counts_from_the_second_second_on(self):
        self.assertEqual(word_of(verdicts(overload_rows(loss={15: 0.2})), "lost"), "must reached")
        self.assertEqual(word_of(verdicts(overload_rows(loss={16: 0.001})), "lost"), "MISSED")
        self.assertEqual(word_of(verdicts(overload_rows(loss={24: 0.2})), "lost"), "MISSED")

    def test_latencies_count_from_the_third_second_on(self):
        slow = {second: 31.0 for second in range(15, 25)}
        self.assertEqual(word_of(verdicts(overload_rows(p99=slow)), "p99"), "MISSED")
        for second in range(17, 25):
            slow[second] = 30.0
        self.assertEqual(word_of(verdicts(overload_rows(p99=slow)), "p99"), "must reached")

    def test_a_generator_that_is_the_limit_is_told(self):
        def notes(**totals):
            (section,) = experiment.sections(Record(overload_rows(**totals)))
            return " ".join(section.notes)
        self.assertNotIn("the generator ends", notes())
        self.assertIn("the generator ends", notes(sent_over_returned=1.05))
        self.assertNotIn("was late", notes(late=0.001))
        self.assertIn("was late", notes(late=0.002))


class Floods(unittest.TestCase):
    def test_who_keeps_all_and_nothing_else_reaches_both(self):
        self.assertEqual(set(verdicts(flood_rows()).values()), {"must reached"})

    def test_what_a_flood_leaves_or_takes_is_told(self):
        for held in (202_000, 198_000):
            found = verdicts(flood_rows(held_after=held))
            self.assertEqual(word_of(found, "holds", "syn"), "MISSED")
            self.assertEqual(word_of(found, "holds", "ack"), "must reached")

    def test_one_connection_at_another_backend_is_told(self):
        found = verdicts(flood_rows(changed=1))
        self.assertEqual(word_of(found, "another backend", "ack"), "MISSED")
        self.assertEqual(word_of(found, "another backend", "syn"), "must reached")


def generator_rows(capacity=3.4e6, loss=0.0005):
    figures = {"offered": 15e6, "returned": 15e6 * (1 - loss), "loss": loss, "late": 10.0,
               "p50_us": 8.0, "p99_us": 2e3, "max_us": 6e3}
    return ([row("generator", "rate", name, value) for name, value in figures.items()]
            + [row("generator", "capacity", "capacity", capacity)])


class Generator(unittest.TestCase):
    def test_what_it_loses_and_where_it_ends_is_told(self):
        def word(**figures):
            return word_of(verdicts(generator_rows(**figures)), "sent and received")
        self.assertEqual(word(), "must reached")
        self.assertEqual(word(loss=0.0011), "MISSED")
        self.assertEqual(word(capacity=2.99e6), "MISSED")
        self.assertEqual(word(capacity=5e6), "aim reached")


class Report(unittest.TestCase):
    def test_every_job_has_a_name_of_its_own(self):
        for size in ("quick", "full", "smoke"):
            found = jobs(size, ())
            self.assertEqual(len({job.process_name for job in found}), len(found))

    def test_text_and_page_show_it(self):
        record = Record(overload_rows() + flood_rows() + generator_rows(),
                        {"experiment": "overload"})
        sections = experiment.sections(record)
        self.assertIn("sharded, slot timers", render_text.render(record.facts, sections, []))
        self.assertIn("<svg", render_html.render("title", record.facts, sections, []))


if __name__ == "__main__":
    unittest.main()
