"""The experiment `lb`: its verdicts, its jobs, its report."""
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import rows  # noqa: E402  (found by the line above)
from lb import experiment  # noqa: E402
from lb.cell_jobs import SLOT_TIMERS  # noqa: E402
from lb.jobs import ON_RTE_HASH, RTE_HASH_CELL, SIZES, jobs  # noqa: E402
from report import render_html, render_text  # noqa: E402
from report.record import Record  # noqa: E402

ROUNDS = 5
FLOWS = float(SIZES["4M"])


def packet_rows(nanoseconds, experiment_name="packets", form="1 worker", slow_rounds=(), **fields):
    """In slow rounds everything takes twice as long."""
    return [rows.ROW | {"experiment": experiment_name, "contestant": contestant, "form": form,
                        "slots": FLOWS, "metric": "ns_per_packet", "round": float(number),
                        "value": value * (2 if number in slow_rounds else 1), "note": "n"} | fields
            for contestant, value in nanoseconds.items() for number in range(ROUNDS)]


def soak_rows(before, after, **fields):
    figures = {"before": before, "flood": 3 * before, "after": after}
    found = [rows.ROW | {"experiment": "soak", "contestant": SLOT_TIMERS, "form": phase,
                         "metric": f"batch_ns_{name}", "value": value, "round": 0.0} | fields
             for phase, value in figures.items() for name in ("p50", "p99", "p999")]
    found += [found[0] | {"form": phase, "metric": f"load_{end}", "value": 0.9}
              for phase in figures for end in ("min", "max")]
    return found + [found[0] | {"form": "whole run", "metric": "flows_left", "value": 0.0}]


def verdicts(found_rows):
    sections = experiment.sections(Record(found_rows))
    return {verdict.claim: (verdict.verdict, verdict.said)
            for section in sections for verdict in section.verdicts}


def packets(ours, theirs, **fields):
    return packet_rows({"raw_io": 40.0, "raw_io_parse": 60.0, "balancer": ours,
                        ON_RTE_HASH: theirs}, **fields)


class Packets(unittest.TestCase):
    def ratio(self, *arguments, **fields):
        found = verdicts(packets(*arguments, **fields))
        return next(value for claim, value in found.items() if "rte_hash" in claim)

    def test_raw_io_and_parsing_are_taken_from_both_sides(self):
        word, said = self.ratio(160.0, 250.0)
        self.assertEqual(word, "must reached")  # 190 / 100, though 250 / 160 is below it
        self.assertIn("1.90", said)

    def test_below_the_must_the_distance_is_said(self):
        word, said = self.ratio(160.0, 247.2)
        self.assertEqual(word, "MISSED")
        self.assertIn("-1.5%", said)

    def test_a_slow_round_is_everyones(self):
        self.assertEqual(self.ratio(160.0, 250.0, slow_rounds=(1, 3))[0], "must reached")

    def test_on_small_pages_there_is_no_verdict(self):
        self.assertEqual(verdicts(packets(160.0, 200.0, page_bytes=4096.0)), {})

    def test_the_nanoseconds_have_a_must_of_their_own(self):
        for ours, word in ((110.0, "must reached"), (111.0, "MISSED")):  # 50 and 51
            found = verdicts(packets(ours, 200.0))
            self.assertEqual(next(value[0] for claim, value in found.items() if "50 ns" in claim),
                             word)


class Workers(unittest.TestCase):
    def test_the_gain_is_of_one_round(self):
        for two, word in ((100.0, "must reached"), (120.0, "MISSED")):
            found = verdicts(packet_rows({"raw_io": 40.0, "balancer": 200.0}, "workers")
                             + packet_rows({"raw_io": 20.0, "balancer": two}, "workers",
                                           "2 workers"))
            self.assertEqual([value[0] for value in found.values()], [word])


class Soak(unittest.TestCase):
    def test_within_ten_percent(self):
        for after, word in ((1090.0, "must reached"), (1120.0, "MISSED"), (880.0, "MISSED")):
            found = verdicts(soak_rows(1000.0, after))
            self.assertEqual([value[0] for value in found.values()], [word])


class Report(unittest.TestCase):
    def test_both_forms_can_be_written(self):
        sections = experiment.sections(Record(packets(160.0, 200.0) + soak_rows(1000.0, 1000.0)))
        self.assertIn("balancer on rte_hash", render_text.render({}, sections, []))
        self.assertIn("balancer on rte_hash", render_html.render("t", {}, sections, []))


class Readme(unittest.TestCase):
    def test_a_column_a_size_and_ratios_within_rounds(self):
        found = (packets(160.0, 200.0, slow_rounds=(0, 1)) + packets(150.0, 195.0, slots=1024.0)
                 + packet_rows({"testpmd_io": 33.3}, "raw"))
        lines = experiment.readme_block(Record(found), "packets").splitlines()
        self.assertEqual(lines[0], "| ns a packet | 4M flows | 1K flows |")
        self.assertIn("| `dpdk-testpmd`, io | 33 | - |", lines)
        self.assertIn("| beyond raw I/O and parsing | 100 | 90 |", lines)
        self.assertIn("| **`rte_hash` over ours, within rounds** | 1.40 | 1.50 |", lines)


class OtherTraffic(unittest.TestCase):
    def test_skewed_flows_have_a_must_of_their_own(self):
        [(claim, (word, said))] = verdicts(packets(160.0, 190.0, experiment_name="zipf")).items()
        self.assertIn("1.4 times", claim)
        self.assertEqual((word, said[:4]), ("MISSED", "1.30"))  # 130 / 100

    def cells(self, experiment_name, ours, theirs):
        found = packet_rows({"raw_parse": 20.0, SLOT_TIMERS: ours, RTE_HASH_CELL: theirs},
                            experiment_name=experiment_name, core_count=1.0)
        [(claim, (word, said))] = verdicts(found).items()
        return claim, word, said[:4]

    def test_churn_is_judged_beyond_parsing(self):
        _, word, said = self.cells("churn", 120.0, 160.0)
        self.assertEqual((word, said), ("must reached", "1.40"))  # 140 / 100

    def test_new_connections_are_judged_whole(self):
        claim, word, said = self.cells("new", 100.0, 120.0)
        self.assertIn("a second", claim)
        self.assertEqual((word, said), ("MISSED", "1.20"))

    def test_waves_of_new_connections_are_compared_whole(self):
        # Of eight rounds five take rte_hash 100 and three 260: 160 on average.
        by_round = {number: 260.0 if number % 8 < 3 else 100.0 for number in range(19)}
        self.assertEqual(experiment.in_turns(by_round, 8), {0: 160.0, 8: 160.0})
        self.assertEqual(experiment.in_turns({0: 1.0, 1: 3.0}, 8), {0: 2.0})


class Jobs(unittest.TestCase):
    def test_names_are_unique_and_raw_rows_come_first(self):
        for size in ("quick", "full"):
            found = jobs(size, [])
            self.assertEqual(len({job.name for job in found}), len(found))
            self.assertEqual(found[0].experiment, "raw")

    def test_the_tiny_form_is_small(self):
        for job in jobs("full", []):
            self.assertLessEqual(job.tiny().slots, 20_000)
            self.assertLessEqual(getattr(job.tiny(), "soak_seconds", 0), 1)


if __name__ == "__main__":
    unittest.main()
