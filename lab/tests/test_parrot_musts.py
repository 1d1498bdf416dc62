"""What value-only tables must reach: verdicts on made-up figures."""
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from parrot_rows import (  # noqa: E402  (of the lab's modules)
    CALL, PAPER, PLAIN, made, verdicts, word)
from report.record import Record  # noqa: E402


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

    def test_the_peer_s_best_call_counts_if_it_is_a_short_one(self):
        found = [row | {"value": 40.0} if row["contestant"] == "rte_hash" and row["form"] == PLAIN
                 else row for row in self.speed()]
        self.assertEqual(word(found, "times rte_hash"), "MISSED")

    def test_what_fingerprints_cost(self):
        for rate, expected in ((90.0, "aim reached"), (84.0, "must reached"), (80.0, "MISSED")):
            self.assertEqual(word(self.speed(line_map_fingerprints=rate), "fingerprints"),
                             expected)

    def test_what_fingerprints_cost_beside_their_bytes(self):
        found = self.speed("speed_fingerprints", oracle_of_line_map_fingerprints_T0=80.0,
                           bits={"line_map_fingerprints": 40.0}, line_map=75.0,
                           line_map_fingerprints=45.0)
        section, = (section for section in PAPER.sections(Record(found))
                    if section.title == "8-bit fingerprints")
        self.assertEqual(section.tables[0].rows,
                         [["16M", "26.0", "40.0", "0.400", "0.200", "0.75", "0.56"]])

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
