"""The experiment `advise`: its verdicts on made-up figures, both ways, its jobs, its report."""
import sys
import unittest
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import rows  # noqa: E402  (found by the line above)
from advise import experiment, measure  # noqa: E402
from advise.jobs import CORES, PROFILES, TINY, jobs  # noqa: E402
from report import render_html, render_text  # noqa: E402
from report.record import Record  # noqa: E402

FIGURES = {"advised_bytes": 30e6, "bytes": 30e6, "advised_ns": 200.0, "ns": 200.0,
           "recorded_ns": 210.0, "held": 250_000, "advised_held": 250_000, "batch": 31.0,
           "loss": 0.0, "evicted": 0}
RULES = ("bytes", "ns a packet", "gives way", "lost")
ADVICE = "[lb]\nworkers = 1\n\n[[port]]  # an example\naddresses = [\"192.0.2.1/24\"]\n"


def profile_rows(name="base", **other):
    return [rows.ROW | {"experiment": "profiles", "contestant": name, "form": "nat",
                        "metric": metric, "value": float(value), "round": 0.0, "job": name,
                        "page_bytes": None, "table_bytes": None}
            for metric, value in (FIGURES | other).items() if value is not None]


def words_of(found_rows):
    """The verdict of each rule."""
    section = experiment.sections(Record(found_rows))[0]
    return [next(verdict.verdict for verdict in section.verdicts if rule in verdict.claim)
            for rule in RULES]


def words(**other):
    return words_of(profile_rows(**other))


class Verdicts(unittest.TestCase):
    def test_what_came_to_what_was_advised_reaches_all(self):
        self.assertEqual(words(), ["must reached"] * 4)

    def test_bytes_may_be_off_by_two_hundredths_either_way(self):
        for advised in (30.59e6, 29.41e6):
            self.assertEqual(words(advised_bytes=advised), ["must reached"] * 4)
        for advised in (30.61e6, 29.39e6):
            self.assertEqual(words(advised_bytes=advised), ["MISSED", *["must reached"] * 3])

    def test_nanoseconds_may_be_off_by_a_quarter_either_way(self):
        for advised in (249, 151):
            self.assertEqual(words(advised_ns=advised), ["must reached"] * 4)
        for advised in (251, 149):
            self.assertEqual(words(advised_ns=advised)[1], "MISSED")

    def test_nanoseconds_of_small_batches_are_not_compared(self):
        self.assertEqual(words(batch=16, ns=100)[1], "MISSED")
        self.assertEqual(words(batch=15.9, ns=100)[1], "not run")

    def test_a_table_that_was_too_small_is_told(self):
        self.assertEqual(words(evicted=1)[2], "MISSED")

    def test_a_load_that_is_not_the_profiles_is_told(self):
        self.assertEqual(words(loss=0.001)[3], "must reached")
        self.assertEqual(words(loss=0.002)[3], "MISSED")

    def test_a_smoke_run_times_nothing(self):
        self.assertEqual(words_of(profile_rows(TINY, evicted=1, bytes=1, ns=1, loss=1)),
                         ["MISSED", "not run", "MISSED", "not run"])

    def test_what_is_missing_was_not_run(self):
        for metric in ("advised_bytes", "bytes"):
            self.assertEqual(words(**{metric: None})[:2], ["not run", "must reached"])
        for metric in ("advised_ns", "ns"):
            self.assertEqual(words(**{metric: None})[:2], ["must reached", "not run"])
        nothing = profile_rows()[0] | {"value": None, "metric": "", "note": "not run: no pages"}
        self.assertEqual(words_of([nothing]), ["not run"] * 4)


class Profiles(unittest.TestCase):
    def test_each_but_the_first_differs_from_it_tenfold_in_one_thing_or_in_kind(self):
        base = PROFILES["base"]
        factors = sorted(
            (profile.connections / base.connections, profile.new / base.new,
             profile.packets / base.packets)
            for name, profile in PROFILES.items() if name != "base")
        self.assertEqual(factors, [(1, 1, 0.1), (1, 1, 1), (1, 10, 1), (10, 1, 1)])
        other = PROFILES["other_family_and_mode"]
        self.assertNotEqual((other.family, other.mode), (base.family, base.mode))

    def test_every_job_has_a_name_of_its_own(self):
        for size, count in (("quick", 5), ("full", 5), ("smoke", 1)):
            found = jobs(size, ())
            self.assertEqual(len({job.process_name for job in found}), count)

    def test_on_one_core_only_the_smoke_run_is_run(self):
        for cores, is_run in ((CORES - 1, False), (CORES, True)):
            with mock.patch("os.sched_getaffinity", return_value=set(range(cores))):
                (job,) = jobs("smoke", ())
                self.assertEqual(job.not_run_because == "", is_run)
                self.assertEqual(job.tiny().not_run_because, "")


class Configuration(unittest.TestCase):
    def test_the_advice_stays_and_has_the_generator_beside_it(self):
        arguments = mock.Mock(profile="other_family_and_mode", folder="")
        with mock.patch.object(Path, "write_text") as written:
            measure.Measurement(arguments).configuration({"toml": ADVICE})
        text = written.call_args.args[0]
        self.assertIn("[lb]\nworkers = 1\n", text)
        self.assertIn(f'[[port]]  # an example\nmac = "{measure.LB_MAC}"\n', text)
        self.assertEqual(text.count("[[neighbour]]"), 2)
        self.assertLess(text.index("[control]"), text.index("[[port]]"))


class Report(unittest.TestCase):
    def test_text_and_page_show_it_and_a_figure_that_no_record_has_is_a_dash(self):
        record = Record(profile_rows() + profile_rows("other_family_and_mode", recorded_ns=None),
                        {"experiment": "advise"})
        sections = experiment.sections(record)
        text = render_text.render(record.facts, sections, [])
        self.assertIn("100,000 alive, 10,000 new a second, 40 packets each, ipv6, l2dsr", text)
        self.assertIn("Synthetic packets", text)
        self.assertIn("<table", render_html.render("title", record.facts, sections, []))


if __name__ == "__main__":
    unittest.main()
