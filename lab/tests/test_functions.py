"""The experiment `functions`: its verdicts, its jobs."""
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import rows  # noqa: E402  (found by the line above)
from functions import experiment  # noqa: E402
from functions.jobs import FLOWS, jobs  # noqa: E402
from report import render_text  # noqa: E402
from report.record import Record  # noqa: E402

RAW = {"raw_io": 40.0, "raw_io_parse": 60.0}


def made(name, nanoseconds, **fields):
    """In the second round everything takes twice as long."""
    return [rows.ROW | {"experiment": name, "contestant": contestant, "form": "1 worker",
                        "slots": float(FLOWS), "metric": "ns_per_packet", "round": float(number),
                        "value": value * (2 if number == 1 else 1), "note": ""} | fields
            for contestant, value in nanoseconds.items() for number in range(5)]


def verdicts(found_rows):
    return {verdict.claim: (verdict.verdict, verdict.said)
            for section in experiment.sections(Record(found_rows))
            for verdict in section.verdicts}


class Firewall(unittest.TestCase):
    def found(self, balancer=160.0, firewall=150.0, denied=300.0, **fields):
        words = verdicts(made("firewall", RAW | {"balancer": balancer, "firewall": firewall,
                                                 "firewall_denied": denied}, **fields))
        return {"balancer" if "balancer" in claim else "denied": value
                for claim, value in words.items()}

    def test_parsing_is_taken_from_both_sides(self):
        self.assertEqual(self.found()["balancer"][0], "must reached")  # 90 / 100
        word, said = self.found(firewall=151.0)["balancer"]
        self.assertEqual(word, "MISSED")
        self.assertIn("0.91", said)

    def test_denied_packets_pass_at_half_the_rate_of_the_others(self):
        self.assertEqual(self.found()["denied"][0], "must reached")  # 150 / 300
        self.assertEqual(self.found(denied=310.0)["denied"][0], "MISSED")

    def test_small_pages_give_no_verdict(self):
        self.assertEqual(self.found(page_bytes=4096.0), {})


class Nat(unittest.TestCase):
    def word(self, ours, theirs):
        found = verdicts(made("nat", RAW | {"nat": ours, "nat_on_rte_hash": theirs}))
        return next(iter(found.values()))[0]

    def test_its_must(self):
        self.assertEqual(self.word(160.0, 191.0), "must reached")  # 131 / 100
        self.assertEqual(self.word(160.0, 189.0), "MISSED")


class Rules(unittest.TestCase):
    def test_the_winner_is_named(self):
        found = made("rules", {"classifier": 60.0, "classifier_rules": 300.0, "rte_acl": 50.0},
                     slots=1000.0, note="n")
        found += made("rules", {"classifier": 60.0, "classifier_rules": 300.0, "rte_acl": 90.0},
                      slots=10000.0, note="n")
        table = experiment.sections(Record(found))[0].tables[0]
        self.assertEqual([row[-1] for row in table.rows], ["rte_acl", "classifier, as it ships"])
        self.assertIn("rte_acl", render_text.render({}, experiment.sections(Record(found)), []))


class Cache(unittest.TestCase):
    def word(self, on, off, by_register):
        found = verdicts(made("cache", {"cache_on": on, "cache_off": off,
                                        "cache_auto": by_register}, slots=1000.0, entries=20.0))
        self.assertIn("1,000 flows, 20 rules", next(iter(found)))
        return next(iter(found.values()))[0]

    def test_the_better_of_both_is_what_counts(self):
        self.assertEqual(self.word(100.0, 50.0, 52.0), "must reached")
        self.assertEqual(self.word(100.0, 50.0, 53.0), "MISSED")
        self.assertEqual(self.word(50.0, 100.0, 53.0), "MISSED")


class Readme(unittest.TestCase):
    def test_the_table_has_both_functions_and_what_moves_packets_once(self):
        found = made("firewall", RAW | {"balancer": 160.0, "firewall": 150.0,
                                        "firewall_denied": 300.0})
        found += made("nat", RAW | {"nat": 160.0, "nat_on_rte_hash": 190.0})
        lines = experiment.readme_block(Record(found), "packets").splitlines()
        self.assertEqual([line.split("|")[1].strip() for line in lines[2:]],
                         [experiment.NAMES[name] for name in (
                             "raw_io", "raw_io_parse", "balancer", "firewall", "firewall_denied",
                             "nat", "nat_on_rte_hash")])
        self.assertIn("| 90.0 | 90.0 to 180.0 |", lines[5])

    def test_the_table_of_rules_names_the_fastest(self):
        found = made("rules", {"classifier": 60.0, "classifier_rules": 300.0, "rte_acl": 50.0},
                     slots=1000.0, note="n")
        self.assertIn("| rte_acl |", experiment.readme_block(Record(found), "rules"))


class Jobs(unittest.TestCase):
    def test_a_smoke_run_is_small_and_names_all_parts(self):
        tiny = [job.tiny() for job in jobs("smoke", ())]
        self.assertEqual({job.experiment for job in tiny}, {"firewall", "nat", "rules", "cache"})
        self.assertEqual({job.pages for job in tiny}, {"4K"})

    def test_names_differ(self):
        names = [job.name for job in jobs("full", ())]
        self.assertEqual(len(names), len(set(names)))


if __name__ == "__main__":
    unittest.main()
