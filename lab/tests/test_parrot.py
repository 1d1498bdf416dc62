"""The Parrot paper's jobs, and its verdicts on made-up figures."""
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import lab  # noqa: E402  (found by the line above)
import rows  # noqa: E402
from harness import run  # noqa: E402
from report import render_html, render_text  # noqa: E402
from report.record import Record  # noqa: E402

PAPER = lab.load_experiment("2024-parrot")
FIGURES, MOTIVATION = PAPER.figures, PAPER.motivation
CALL, PLAIN = "64 keys a call", "32 keys a call"
RATES = {"parrot": 40.0, "line_map": 50.0, "ludo": 20.0, "cuckoo_2_4": 36.0, "chained_lmh": 36.5}
BITS = {"parrot": 40.0, "line_map": 26.0, "ludo": 20.6, "cuckoo_2_4": 111.0, "chained_lmh": 85.0}
SIXTEEN = 16e6


def made(experiment, figures, metric, workload, **fields):
    """{contestant: figure} as rows of one round."""
    return [rows.ROW | {"experiment": experiment, "contestant": name, "form": CALL,
                        "workload": workload, "metric": metric, "value": value, "round": 0.0,
                        "load": 0.85, "slots": SIXTEEN, "entries": SIXTEEN,
                        "lanes_per_call": 64.0} | fields
            for name, value in figures.items()]


def verdicts(found_rows):
    return {f"{v.source}: {v.claim}": v for section in PAPER.sections(Record(found_rows))
            for v in section.verdicts}


def word(found_rows, part):
    words = {v.verdict for claim, v in verdicts(found_rows).items() if part in claim}
    assert len(words) == 1, (part, verdicts(found_rows))
    return words.pop()


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

    def test_what_waits_says_why(self):
        waiting = {job.experiment: job.not_run_because for job in PAPER.jobs("full", ())
                   if job.not_run_because}
        self.assertEqual(set(waiting), {"f14", "f15", "f16"})
        record = [row | {"value": None, "note": f"not run: {waiting[row['experiment']]}"}
                  for name in waiting for row in made(name, {"line_map": 1.0}, "", "")]
        for claim in ("PAR-F14", "PAR-F15", "PAR-F16"):
            self.assertEqual(word(record, claim), "not run")

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
        self.assertIn("arrivals: a stand-in for WIKI, synthetic.", text)
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

    def test_seconds_to_build(self):
        paper = FIGURES.TABLE1["WIKI"]
        found = made("t1", paper, "build_seconds", "arrivals uniform")
        for claim in ("by time", "24.58 times", "0.50 times", "1.71 times"):
            self.assertEqual(word(found, claim), "reproduced")
        turned = made("t1", {name: 1 / seconds for name, seconds in paper.items()},
                      "build_seconds", "arrivals uniform")
        for claim in ("by time", "24.58 times", "0.50 times", "1.71 times"):
            self.assertEqual(word(turned, claim), "not")


class Musts(unittest.TestCase):
    def speed(self, experiment="speed_0.85", workload="mac uniform", bits=None, **rates):
        """Rates by contestant, the same in both calls; the oracle of the line map's bytes 100."""
        rates = {"line_map": 92.0, "line_map_shared": 91.0, "line_map_fingerprints": 90.5,
                 "parrot": 46.0,
                 "rte_hash": 20.0, "rte_efd": 15.0, "oracle_of_line_map_T0": 60.0,
                 "oracle_of_line_map_T1": 100.0, "oracle_of_parrot_T0": 100.0} | rates
        found = made(experiment, {"line_map": 26.0, "parrot": 40.5} | (bits or {}),
                     "bits_per_key", workload, form="", lanes_per_call=None)
        for form, lanes in ((CALL, 64.0), (PLAIN, 32.0)):
            found += made(experiment, rates, "lookups_m_per_s", workload, form=form,
                          lanes_per_call=lanes)
        return found

    def test_shares_of_the_oracle(self):
        for rate, expected in ((92.0, "aim reached"), (80.0, "must reached"), (74.0, "MISSED")):
            found = self.speed(line_map=rate)
            self.assertEqual(word(found, "16M: of the oracle"), expected)
            self.assertEqual(word(found, "16M, plain calls: of the oracle"), expected)
        for rate, expected in ((46.0, "aim reached"), (31.0, "must reached"), (29.0, "MISSED")):
            self.assertEqual(word(self.speed(parrot=rate), "mac: of the oracle"), expected)
        for rate, expected in ((66.0, "aim reached"), (46.0, "must reached"), (44.0, "MISSED")):
            dense = self.speed("speed_dense", "dense uniform", parrot=rate)
            self.assertEqual(word(dense, "dense: of the oracle"), expected)

    def test_plain_calls_do_not_stand_for_longer_ones(self):
        found = [row | {"value": 60.0} if row["contestant"] == "line_map" and row["form"] == CALL
                 else row for row in self.speed()]
        self.assertEqual(word(found, "16M: of the oracle"), "MISSED")
        self.assertEqual(word(found, "16M, plain calls: of the oracle"), "aim reached")

    def test_the_best_hint_is_the_oracle(self):
        found = self.speed(line_map=80.0, oracle_of_line_map_NTA=150.0)
        self.assertEqual(word(found, "16M: of the oracle"), "MISSED")

    def test_multiples_of_dpdk_s_tables(self):
        for peer, expected in ((20.0, "aim reached"), (30.0, "must reached"), (40.0, "MISSED")):
            self.assertEqual(word(self.speed(rte_hash=peer), "times rte_hash"), expected)
        for peer, expected in ((15.0, "aim reached"), (30.0, "must reached"), (40.0, "MISSED")):
            found = self.speed("speed_8_bits", rte_efd=peer)
            self.assertEqual(word(found, "times rte_efd"), expected)

    def test_what_fingerprints_cost(self):
        for rate, expected in ((90.0, "aim reached"), (84.0, "must reached"), (80.0, "MISSED")):
            self.assertEqual(word(self.speed(line_map_fingerprints=rate), "fingerprints"),
                             expected)

    def test_what_versions_cost(self):
        for rate, expected in ((90.0, "aim reached"), (84.0, "must reached"), (80.0, "MISSED")):
            self.assertEqual(word(self.speed(line_map_shared=rate), "versions"), expected)

    def test_a_reader_beside_updates(self):
        for rate, expected in ((96.0, "aim reached"), (86.0, "must reached"), (84.0, "MISSED")):
            found = made("updates_beside", {"line_map": 100.0}, "lookups_m_per_s", "mac uniform",
                         form="at rest")
            found += made("updates_beside", {"line_map": rate}, "lookups_m_per_s", "mac uniform",
                          form="500000 updates/s")
            self.assertEqual(word(found, "a reader beside"), expected)

    def test_bits_a_key(self):
        for bits, expected in ((26.0, "must reached"), (26.6, "MISSED")):
            self.assertEqual(word(self.speed(bits={"line_map": bits}), "load 0.85: bits"),
                             expected)
        for bits, expected in ((24.5, "must reached"), (24.6, "MISSED")):
            self.assertEqual(word(self.speed("speed_0.95", bits={"line_map": bits}),
                                  "load 0.95: bits"), expected)
        for bits, expected in ((61.0, "must reached"), (61.1, "MISSED")):
            self.assertEqual(word(self.speed(bits={"parrot": bits}), "mac: bits"), expected)
        for bits, expected in ((41.0, "must reached"), (41.1, "MISSED")):
            self.assertEqual(word(self.speed("speed_dense", "dense uniform", {"parrot": bits}),
                                  "dense: bits"), expected)

    def test_building_and_changing(self):
        for rate, ours, parrot in ((9.0, "aim reached", "aim reached"),
                                   (3.0, "must reached", "MISSED"), (1.0, "MISSED", "MISSED")):
            found = made("build", {"line_map": rate, "parrot": rate}, "build_m_per_s",
                         "mac uniform", form="")
            self.assertEqual(word(found, "build, M keys/s"), ours)
            self.assertEqual(word(found, "build of sorted keys"), parrot)
        for rate, expected in ((2.1e6, "aim reached"), (6e5, "must reached"), (4e5, "MISSED")):
            found = made("updates", {"line_map": rate}, "changes_per_s", "mac uniform")
            found += made("updates", {"line_map": 0.0}, "rebuilds", "mac uniform")
            self.assertEqual(word(found, "updates/s"), expected)

    def test_of_few_keys_and_small_pages_nothing_is_said(self):
        few = [row | {"slots": 2e6} for row in self.speed()]
        self.assertEqual(verdicts(few), {})
        small = [row | {"page_bytes": 4096.0} for row in self.speed()]
        self.assertTrue(all("bits a key" in claim for claim in verdicts(small)))

    def test_64m_keys_have_a_must_of_their_own(self):
        found = [row | {"slots": 64e6} for row in self.speed("speed_64m", line_map=74.0)]
        self.assertEqual(word(found, "64M: of the oracle"), "MISSED")


if __name__ == "__main__":
    unittest.main()
