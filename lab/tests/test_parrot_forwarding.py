"""Figure 14 of the Parrot paper, packets forwarded: jobs, and verdicts on made-up figures."""
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from parrot_rows import PAPER, made, verdicts, word  # noqa: E402  (found by the line above)
from report import render_text  # noqa: E402
from report.record import Record  # noqa: E402

HOT, ALL = PAPER.forwarding.HOT, "4194304 packets"
WIKI, MAC = "arrivals uniform", "mac uniform"
RAW = {"raw_io": 20.0, "raw_io_parse": 25.0}
# Nanoseconds a packet, as the paper's rates have it.
PAPERS = {"parrot": 100.0, "cuckoo_2_4": 108.0, "ludo": 121.0, "chained_lmh": 176.0}
# Where all keys come, LMH is second.
EVENLY = {"parrot": 100.0, "chained_lmh": 110.0, "cuckoo_2_4": 137.0, "ludo": 238.0}


def forwarded(times, workload=WIKI, form=HOT, keys=9_999.0, **fields):
    fields = {"form": form, "lanes_per_call": 32.0} | fields
    return [*made("f14", RAW | times, "ns_per_packet", workload, **fields),
            *made("f14", {"raw_io": keys}, "different_keys", workload, **fields)]


class Jobs(unittest.TestCase):
    def test_each_set_has_hot_keys_evenly_and_by_zipf_and_all(self):
        for size in ("quick", "full"):
            found = {}
            for job in PAPER.jobs(size, ()):
                if job.experiment == "f14":
                    kind = (job.keys, job.value_bits, job.frames, job.zipf)
                    found.setdefault(kind, set()).update(job.contestants)
            kinds = {(frames == 10_000, zipf) for _, _, frames, zipf in found}
            self.assertEqual(kinds, {(True, (0.0,)), (True, (0.99,)), (False, (0.0,))})
            self.assertEqual({kind[:2] for kind in found}, {("mac", 8), ("arrivals", 16)})
            self.assertEqual(len(found), 6)
            for names in found.values():
                self.assertEqual(names, {"parrot", "line_map", "ludo", "cuckoo_2_4", "chained_lmh",
                                         "roost_packed", "rte_hash"})

    def test_a_smoke_run_has_few_frames(self):
        jobs = [job.tiny() for job in PAPER.jobs("smoke", ()) if job.experiment == "f14"]
        self.assertEqual({job.frames for job in jobs}, {2_000})
        self.assertEqual(len(jobs), 8)

    def test_the_program_is_told_of_frames(self):
        words = {job.experiment: job.words(None) for job in PAPER.jobs("full", ())}
        self.assertIn("--frames", words["f14"])
        self.assertNotIn("--frames", words["f8"])


class Figure14(unittest.TestCase):
    def test_the_paper_s_figures(self):
        claims = ("Parrot forwards most", "1.08 times", "1.21 times", "1.76 times", "this order")
        for claim in claims:
            self.assertEqual(word(forwarded(PAPERS), claim), "reproduced", claim)
        turned = {name: 1e4 / took for name, took in PAPERS.items()}
        for claim, expected in zip(claims, ("not", "not", "not", "not", "not")):
            self.assertEqual(word(forwarded(turned), claim), expected, claim)

    def test_parrot_is_first_of_the_paper_s_alone(self):
        found = forwarded(PAPERS | {"line_map": 50.0})
        self.assertEqual(word(found, "Parrot forwards most"), "reproduced")
        self.assertEqual(word(forwarded(PAPERS | {"ludo": 50.0}), "Parrot forwards most"),
                         "partly")

    def test_a_figure_is_held_to_a_quarter(self):
        for took, expected in ((176 * 1.2, "reproduced"), (176 * 0.8, "reproduced"),
                               (176 * 1.4, "partly"), (176 * 1.6, "not")):
            found = forwarded(PAPERS | {"chained_lmh": took})
            self.assertEqual(word(found, "1.76 times"), expected)

    def test_figures_are_of_hot_keys_drawn_evenly(self):
        for found in (forwarded(PAPERS, form=ALL), forwarded(PAPERS, "arrivals zipf 0.99"),
                      forwarded(PAPERS, MAC)):
            self.assertEqual(word(found, "1.76 times"), "not run")

    def test_lmh_falls_on_mac(self):
        for mac, expected in ((200.0, "reproduced"), (170.0, "not")):
            found = forwarded(PAPERS) + forwarded(PAPERS | {"chained_lmh": mac}, MAC)
            self.assertEqual(word(found, "less of MAC"), expected)
        slow = {name: 1.5 * took for name, took in (RAW | PAPERS).items()}
        found = forwarded(PAPERS) + forwarded(slow | {"chained_lmh": 200.0}, MAC)
        self.assertEqual(word(found, "less of MAC"), "not", "all were slower then")
        self.assertEqual(word(forwarded(PAPERS), "less of MAC"), "not run")

    def test_x114_the_order_turns_with_how_many_keys_come(self):
        claim = "LMH is second where all keys come"
        self.assertEqual(word(forwarded(PAPERS) + forwarded(EVENLY, form=ALL), claim),
                         "reproduced")
        self.assertEqual(word(forwarded(EVENLY) + forwarded(EVENLY, form=ALL), claim), "partly")
        fast = PAPERS | {"chained_lmh": 50.0}
        self.assertEqual(word(forwarded(fast) + forwarded(PAPERS, form=ALL), claim), "not")
        self.assertEqual(word(forwarded(PAPERS), claim), "partly")

    def test_all_keys_are_judged_apart(self):
        found = verdicts(forwarded(PAPERS) + forwarded(EVENLY | {"parrot": 500.0}, form=ALL))
        words = {claim: verdict.verdict for claim, verdict in found.items()}
        self.assertEqual(words[f"PAR-F14: {WIKI}, {HOT}: Parrot forwards most"], "reproduced")
        self.assertEqual(words[f"X-114: {WIKI}, {ALL}: Parrot forwards most"], "not")

    def test_small_pages_say_nothing(self):
        found = verdicts(forwarded(PAPERS, page_bytes=4096.0))
        self.assertEqual({verdict.verdict for verdict in found.values()}, {"not run"})

    def test_rates_and_what_is_beyond_moving_packets(self):
        found = forwarded(PAPERS | {"line_map": 50.0})
        text = render_text.render({}, PAPER.sections(Record(found)), [])
        self.assertIn(f"{WIKI}, {HOT} of 9999 keys", text)
        self.assertIn("arrivals: a stand-in for WIKI, synthetic; ", text)
        row = next(line for line in text.splitlines() if line.strip().startswith("(2,4)-cuckoo"))
        self.assertEqual(row.split()[1:], ["9.26", "108.0", "83.0", "1.08", "2.16", "measured"])


if __name__ == "__main__":
    unittest.main()
