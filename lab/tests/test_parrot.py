"""The Parrot paper's jobs, and its verdicts on made-up figures."""
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from harness import run  # noqa: E402  (found by the line above)
from parrot_rows import PAPER, made, word  # noqa: E402
from report import render_html, render_text  # noqa: E402
from report.record import Record  # noqa: E402

FIGURES, MOTIVATION = PAPER.figures, PAPER.motivation
RATES = {"parrot": 40.0, "line_map": 50.0, "ludo": 20.0, "cuckoo_2_4": 36.0, "chained_lmh": 36.5}
BITS = {"parrot": 40.0, "line_map": 26.0, "ludo": 20.6, "cuckoo_2_4": 111.0, "chained_lmh": 85.0}


def wiki_rows(rates=None, bits=None, **fields):
    """Figure 8 and 9 at three loads."""
    found = []
    for load in (0.85, 0.9, 0.95):
        found += made("f8", RATES | (rates or {}), "lookups_m_per_s", "arrivals uniform",
                      **{"load": load} | fields)
        found += made("f8", BITS | (bits or {}), "bits_per_key", "arrivals uniform", load=load,
                      form="")
    return found


class Jobs(unittest.TestCase):
    def test_every_job_has_a_name_of_its_own(self):
        for size in ("quick", "full", "smoke"):
            jobs = PAPER.jobs(size, ())
            self.assertEqual(len({job.process_name for job in jobs}), len(jobs))

    def test_memory_of_22_gb_holds_all(self):
        for job in PAPER.jobs("full", ()):
            self.assertLess(job.table_bytes(), 22e9, job.name)
            self.assertLessEqual(job.reserved_bytes(), job.table_bytes())

    def test_a_quick_run_takes_minutes_and_a_full_one_hours(self):
        self.assertLess(run.minutes_left(PAPER.jobs("quick", ()), []), 20)
        self.assertLess(run.minutes_left(PAPER.jobs("full", ()), []), 360)

    def test_contestants_change_places_from_process_to_process(self):
        orders = {}
        for job in PAPER.jobs("full", ()):
            words = job.words(None)
            at = words.index("--contestants") + 1
            orders.setdefault(job.name, []).append(tuple(words[at:at + len(job.contestants)]))
        moved = [found for found in orders.values() if len(found) > 1]
        self.assertTrue(moved)
        for found in moved:
            self.assertGreater(len(set(found)), 1)
            self.assertEqual(len({frozenset(order) for order in found}), 1)


class Crc(unittest.TestCase):
    def rows(self, low=0.9, mixed=0.025, ours=0.003):
        """The paper's shares."""
        found = []
        for form, share in (("msb_first low_bits", low), ("msb_first mixed", mixed),
                            ("reflected low_bits", low), ("reflected mixed", mixed)):
            found += made("crc", {name: share for name in MOTIVATION.PAPER_SEEDINGS}
                          | {"key_plus_seed": ours}, "failed_share", "4 keys random", form=form)
        return found

    def test_shares_are_held_against_the_paper_s(self):
        self.assertEqual(word(self.rows(), "low bits alone"), "reproduced")
        self.assertEqual(word(self.rows(low=0.1), "low bits alone"), "not")
        self.assertEqual(word(self.rows(), "by the seedings"), "reproduced")
        self.assertEqual(word(self.rows(mixed=0.83), "by the seedings"), "not")
        self.assertEqual(word(self.rows(), "added to the key"), "reproduced")
        self.assertEqual(word(self.rows(ours=0.05), "added to the key"), "not")


class Motivation(unittest.TestCase):
    def test_lmh_is_above_ludo_by_up_to_two(self):
        for rate, expected in ((36.0, "reproduced"), (15.0, "partly"), (70.0, "partly")):
            found = made("f2", {"chained_lmh": rate, "ludo": 20.0}, "lookups_m_per_s",
                         "arrivals uniform")
            self.assertEqual(word(found, "PAR-F2"), expected)

    def test_the_locator_s_share(self):
        for locator, model, share, times in ((31.0, 10.0, "reproduced", "reproduced"),
                                             (15.0, 10.0, "not", "partly"),
                                             (31.0, 2.0, "reproduced", "not")):
            found = made("f3", {"ludo": 50.0, "ludo_locator": locator, "rmi_inference": model},
                         "ns_per_key", "arrivals uniform")
            self.assertEqual(word(found, "62 %"), share)
            self.assertEqual(word(found, "3 times an RMI"), times)

    def test_memory_is_split_by_arithmetic(self):
        found = [row | {"value": float(row["value"]), "entries": float(row["entries"])}
                 for row in PAPER.analytic_rows(None)]
        self.assertEqual({row["kind"] for row in found}, {"analytic"})
        self.assertEqual(word(found, "keys take 80 %"), "reproduced")
        self.assertEqual(word(found, "1.608 KB"), "reproduced")
        thin = [row | {"value": row["value"] * (0.2 if row["form"] == "keys" else 5)}
                for row in found]
        self.assertEqual(word(thin, "keys take 80 %"), "not")
        self.assertEqual(word(thin, "1.608 KB"), "not")

    def test_few_positions_are_exact_and_many_buckets_are_empty(self):
        for exact, empty, first, second in ((3e5, 0.43, "reproduced", "reproduced"),
                                            (8e6, 0.1, "not", "not")):
            found = made("f3", {"probe_lmh": exact}, "exact_keys", "arrivals uniform",
                         form="RMI of 100 lines")
            found += made("f3", {"chained_lmh": empty}, "share_of_buckets", "arrivals uniform",
                          form="spline within 1 bucket", lanes_per_call=0.0)
            self.assertEqual(word(found, "600K of 20M"), first)
            self.assertEqual(word(found, "40 % of buckets"), second)


class Figure8(unittest.TestCase):
    def test_parrot_first_or_not(self):
        self.assertEqual(word(wiki_rows(), "Parrot is first"), "reproduced")
        self.assertEqual(word(wiki_rows({"ludo": 60.0}), "Parrot is first"), "partly")
        self.assertEqual(word(wiki_rows({"parrot": 1.0}), "Parrot is first"), "not")

    def test_a_figure_is_held_to_a_quarter(self):
        claim = "2.38 times Ludo"
        for ludo, expected in ((40 / 2.38, "reproduced"), (40 / 1.9, "reproduced"),
                               (40 / 1.5, "partly"), (40.0, "not")):
            self.assertEqual(word(wiki_rows({"ludo": ludo}), claim), expected)

    def test_times_on_small_pages_say_nothing_and_bits_do(self):
        found = wiki_rows(page_bytes=4096.0)
        self.assertEqual(word(found, "Parrot is first"), "not run")
        self.assertEqual(word(found, "Ludo takes least"), "reproduced")

    def test_flat_or_not(self):
        found = wiki_rows()
        self.assertEqual(word(found, "Ludo stays"), "reproduced")
        steep = [row | {"value": row["value"] * (2 - row["load"])}
                 if row["metric"] == "lookups_m_per_s" and row["contestant"] == "ludo"
                 and row["load"] > 0.85 else row for row in found]
        self.assertEqual(word([row | {"value": 10.0} if row["contestant"] == "ludo"
                               and row["load"] == 0.95 and row["metric"] == "lookups_m_per_s"
                               else row for row in steep], "Ludo stays"), "not")

    def test_fastest_on_wiki_or_not(self):
        for mac, expected in ((30.0, "reproduced"), (80.0, "not")):
            found = wiki_rows() + made("f8", {"parrot": mac}, "lookups_m_per_s", "mac uniform")
            self.assertEqual(word(found, "Parrot is fastest on WIKI"), expected)

    def test_bits(self):
        for bits, claim, expected in (({}, "Ludo takes least", "reproduced"),
                                      ({"ludo": 50.0}, "Ludo takes least", "not"),
                                      ({}, "1.94 times Ludo", "reproduced"),
                                      ({}, "0.36 times", "reproduced"),
                                      ({"parrot": 95.0}, "0.36 times", "not"),
                                      ({"parrot": 28.0}, "1.94 times Ludo", "partly"),
                                      ({"chained_lmh": 400.0}, "0.47 times", "not")):
            self.assertEqual(word(wiki_rows(bits=bits), claim), expected)

    def test_stand_ins_are_named(self):
        text = render_text.render({}, PAPER.sections(Record(wiki_rows())), [])
        self.assertIn("arrivals: a stand-in for WIKI, synthetic; ", text)
        self.assertIn("<table", render_html.render("t", {}, PAPER.sections(Record(wiki_rows())),
                                                   []))


class Curves(unittest.TestCase):
    def sizes(self, changed=None):
        per = {"ludo": 2.5, "parrot": 5.0, "cuckoo_2_4": 10.0, "chained_lmh": 20.0} | (
            changed or {})
        return [row for millions in (16e6, 32e6, 96e6) for row in made(
            "f10", {name: size * millions for name, size in per.items()}, "image_bytes",
            "mac uniform", entries=millions, slots=millions, form="")]

    def test_sizes_are_linear_and_in_order(self):
        self.assertEqual(word(self.sizes(), "by size"), "reproduced")
        self.assertEqual(word(self.sizes({"chained_lmh": 3.0}), "by size"), "partly")
        self.assertEqual(word(self.sizes(), "Parrot is linear"), "reproduced")
        bent = [row | {"value": 2 * row["value"]} if row["entries"] == 96e6 else row
                for row in self.sizes()]
        self.assertEqual(word(bent, "Parrot is linear"), "not")

    def test_ranges(self):
        def ranges(spurious=6.0, falls=False):
            found = []
            for length in (1.0, 10.0, 100.0):
                took = 1_000 / length if falls else 10 * length
                for name in ("parrot", "chained_lmh"):
                    found += made("f11", {name: took}, "range_ns", "arrivals uniform",
                                  lanes_per_call=length)
                    found += made("f11", {name: spurious if name == "parrot" else 0.0},
                                  "spurious_values", "arrivals uniform", lanes_per_call=length)
            return found

        self.assertEqual(word(ranges(), "at most 8"), "reproduced")
        self.assertEqual(word(ranges(spurious=9.0), "at most 8"), "not")
        self.assertEqual(word(ranges(), "rises with the length"), "reproduced")
        self.assertEqual(word(ranges(falls=True), "rises with the length"), "not")

    def test_as_fast_beside_updates(self):
        for rate, expected in ((97.0, "reproduced"), (91.0, "partly"), (50.0, "not")):
            found = made("f12", {"parrot": 100.0}, "lookups_m_per_s", "arrivals uniform",
                         form="at rest")
            found += made("f12", {"parrot": rate}, "lookups_m_per_s", "arrivals uniform",
                          form="500 updates/s")
            self.assertEqual(word(found, "beside 500 updates/s"), expected)
            self.assertEqual(word(found, "beside 1000000 updates/s"), "not run")

    def test_a_switch_is_emulated_and_its_resources_are_analytic(self):
        for stages, expected in ((12.0, "reproduced"), (13.0, "not")):
            found = made("f16", {"parrot": stages}, "stages", "mac uniform", kind="analytic")
            found += made("f16", {"parrot": 2.0}, "packets_m_per_s", "mac uniform",
                          kind="emulated")
            self.assertEqual(word(found, "fit into 12 stages"), expected)
            self.assertEqual(word(found, "29.09 of 32.3"), "not run")
            kinds = {table.kind for section in PAPER.sections(Record(found))
                     for table in section.tables}
            self.assertEqual(kinds, {"analytic", "emulated"})

    def test_seconds_to_build(self):
        paper = FIGURES.TABLE1["WIKI"]
        found = made("t1", paper, "build_seconds", "arrivals uniform")
        for claim in ("by time", "24.58 times", "0.50 times", "1.71 times"):
            self.assertEqual(word(found, claim), "reproduced")
        turned = made("t1", {name: 1 / seconds for name, seconds in paper.items()},
                      "build_seconds", "arrivals uniform")
        for claim in ("by time", "24.58 times", "0.50 times", "1.71 times"):
            self.assertEqual(word(turned, claim), "not")


if __name__ == "__main__":
    unittest.main()
