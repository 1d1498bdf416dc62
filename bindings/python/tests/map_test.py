"""Value-only tables against a dict that gets the same operations, and what they refuse."""

import os
import pathlib
import random
import tempfile
import threading
import unittest

import numpy
import roost
from numpy.testing import assert_array_equal
from roost import MapOutcome

SEED = int(os.environ.get("ROOST_TEST_SEED", random.randrange(1 << 32)))
KINDS = "line", "parrot"


def dense(count, first=0):
    return numpy.arange(first, first + count, dtype="u8")


class Maps(unittest.TestCase):
    def setUp(self):
        print(f"ROOST_TEST_SEED={SEED}")
        self.random = numpy.random.default_rng(SEED)

    def values(self, count, bits=16):
        return self.random.integers(0, 2**bits - 1, count, dtype="u4")

    def check(self, table, model, keys):
        """What the table says of these keys is what the model does."""
        known = numpy.array([key in model for key in keys.tolist()])
        expected = numpy.array([model.get(key, 0) for key in keys.tolist()], "u4")
        values, hits = table.find(keys)
        assert_array_equal(hits, known)
        assert_array_equal(values, expected)
        values, maybe = table.lookup(keys)
        self.assertTrue(maybe[known].all())
        assert_array_equal(values[known], expected[known])
        self.assertFalse(values[~maybe].any())
        self.assertEqual(len(table), len(model))

    def test_changes_and_rebuilds_are_what_a_dict_says(self):
        for kind in KINDS:
            keys, values = dense(20_000), self.values(20_000)
            table = roost.Map(keys, values, kind=kind, load=0.7, growth=None)
            model = dict(zip(keys.tolist(), values.tolist()))
            self.check(table, model, keys)
            for turn in range(4):
                chosen = self.random.permutation(dense(25_000))[:3000]
                new = self.values(3000)
                outcomes = table.insert(chosen, new)
                for key, value, outcome in zip(chosen.tolist(), new.tolist(), outcomes):
                    self.assertEqual(outcome == MapOutcome.EXISTING, key in model)
                    if outcome == MapOutcome.DONE:
                        model[key] = value
                new = self.values(3000)
                done = table.update(chosen, new) == MapOutcome.DONE
                assert_array_equal(done, [key in model for key in chosen.tolist()])
                model.update(zip(chosen[done].tolist(), new[done].tolist()))
                gone = chosen[::3].copy()
                outcomes = table.erase(gone)
                for key, outcome in zip(gone.tolist(), outcomes):
                    there = model.pop(key, None) is not None
                    self.assertEqual(outcome, MapOutcome.DONE if there else MapOutcome.NOT_FOUND)
                table.audit()
                self.check(table, model, dense(25_000))
                table.rebuild(**({"load": 0.6} if turn == 2 else {}))
                self.check(table, model, dense(25_000))

    def test_every_size_of_key_keeps_keys_apart_that_differ_in_one_bit(self):
        for key_bytes in range(1, 65):
            keys = numpy.zeros((8 * key_bytes, key_bytes), "u1")
            for bit in range(8 * key_bytes):
                keys[bit, bit // 8] = 1 << bit % 8
            numbers = numpy.arange(len(keys), dtype="u4")
            table = roost.Map(keys, numbers, fingerprint_bits=16)
            values, maybe = table.lookup(keys)
            self.assertTrue(maybe.all())
            assert_array_equal(values, numbers)

    def test_outputs_come_back_as_the_objects_that_were_given(self):
        table = roost.Map(dense(100), self.values(100))
        out, maybe = numpy.empty(100, "u4"), numpy.empty(100, "?")
        words, outcomes = numpy.empty(2, "u8"), numpy.empty(100, "u1")
        values, found = table.lookup(dense(100), out=out, maybe=maybe)
        self.assertIs(values, out)
        self.assertIs(found, maybe)
        self.assertIs(table.find(dense(100), hits=words)[1], words)
        self.assertEqual(words.tolist(), [2**64 - 1, 2**36 - 1])
        self.assertIs(table.insert(dense(100), self.values(100), outcomes=outcomes), outcomes)
        self.assertTrue((outcomes == MapOutcome.EXISTING).all())

    def test_fingerprints_and_kept_keys_keep_strangers_away(self):
        strangers = self.random.integers(2**40, 2**60, 20_000, dtype="u8")

        def answered(**wishes):
            table = roost.Map(dense(20_000), self.values(20_000), **wishes)
            return table.lookup(strangers)[1].sum()
        self.assertGreater(answered(), 10_000)
        self.assertLess(answered(fingerprint_bits=8), 400)
        self.assertLess(answered(fingerprint_bits=16), 40)
        self.assertEqual(answered(kind="parrot", keeps_keys=True), 0)
        self.assertEqual(answered(keeps_keys=True), 0)

    def test_numbers_in_network_order_are_learned_in_it(self):
        keys, numbers = dense(20_000).astype(">u8"), self.values(20_000)
        table = roost.Map(keys, numbers, kind="parrot", big_endian=True)
        assert_array_equal(table.lookup(keys)[0], numbers)
        report = table.report()
        self.assertLess(report["stashed"], 100)
        self.assertIn(report["model"], ("RMI", "spline"))
        self.assertLess(8 * report["image_bytes"] / len(keys), 42)
        self.assertIn("20000 keys of 8 bytes, values of 16 bits, parrot", repr(table))

    def test_an_empty_map_grows(self):
        table = roost.Map(dense(0), self.values(0))
        for key in range(300):
            one, value = dense(1, key), numpy.array([key], "u4")
            if table.insert(one, value)[0] == MapOutcome.NO_ROOM:
                table.rebuild()
                self.assertEqual(table.insert(one, value)[0], MapOutcome.DONE)
        assert_array_equal(table.lookup(dense(300))[0], dense(300))
        self.assertEqual(sum(table.report()["keys_by_level"]), 300)

    def test_an_exported_image_is_read_from_a_file(self):
        keys, numbers = dense(5000), self.values(5000)
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "map.image"
            for kind in KINDS:
                exported = roost.Map(keys, numbers, kind=kind, seed=1).export()
                exported.tofile(path)
                values, maybe = roost.MapImage(str(path), 8).lookup(keys)
                self.assertTrue(maybe.all())
                assert_array_equal(values, numbers)
                again = roost.Map(keys, numbers, kind=kind, seed=1).export()
                assert_array_equal(again, exported)
                exported[-9] ^= 1
                exported.tofile(path)
                with self.assertRaisesRegex(ValueError, f"{path}: the image's checksum is wrong"):
                    roost.MapImage(str(path), 8)
                exported[:-1].tofile(path)
                with self.assertRaisesRegex(ValueError, "it is cut"):
                    roost.MapImage(str(path), 8)
        with self.assertRaisesRegex(ValueError, "map.image: cannot be opened"):
            roost.MapImage(str(path), 8)

    def test_lookups_of_threads_go_on_while_another_changes_and_rebuilds(self):
        for kind in KINDS:
            keys, numbers = dense(20_000), self.values(20_000)
            table = roost.Map(keys, numbers, kind=kind, load=0.7)
            stayers = keys[:15_000]
            wrong, rounds, is_over = [], [], threading.Event()

            def look(table=table, numbers=numbers):
                while not is_over.is_set():
                    values, maybe = table.lookup(stayers)
                    if not maybe.all() or (values != numbers[:15_000]).any():
                        wrong.append(values)
                    rounds.append(1)
            readers = [threading.Thread(target=look) for _ in range(2)]
            rebuilds = [threading.Thread(target=table.rebuild) for _ in range(5)]
            for reader in readers:
                reader.start()
            guests = keys[15_000:].copy()
            for rebuild in rebuilds:
                rebuild.start()
                table.update(guests, numbers[15_000:].copy())
                table.erase(guests[:100])
                table.insert(guests[:100], numbers[15_000:15_100].copy())
                rebuild.join()
            is_over.set()
            for reader in readers:
                reader.join()
            self.assertEqual(wrong, [])
            self.assertGreater(len(rounds), 5)
            self.assertEqual(len(table), 20_000)
            table.audit()


class RefusedMaps(unittest.TestCase):
    def setUp(self):
        self.keys, self.values = dense(100), numpy.arange(100, dtype="u4")
        self.table = roost.Map(self.keys, self.values)

    def refused(self, call, *arguments, why, error=ValueError, **named):
        with self.assertRaisesRegex(error, why):
            call(*arguments, **named)
        self.assertEqual(len(self.table), 100)

    def test_entries_that_cannot_be_are_named_by_their_place(self):
        wide = self.values.copy()
        wide[70] = 65_535
        twice = self.keys.copy()
        twice[80] = 5
        for kind in KINDS:
            self.refused(roost.Map, self.keys, wide, kind=kind, why="entry 70 has the value 65535")
            self.refused(roost.Map, twice, self.values, kind=kind,
                         why="entry 80 has the key of entry 5; give each key once")
        self.refused(roost.Map, self.keys, self.values, kind="parrot", key_bits=6,
                     why="entry 64 has a key of more than 6 bits")

    def test_configurations_that_cannot_be(self):
        for wishes, why in (({"kind": "hash"}, "kind is \"hash\"; it is \"line\" or \"parrot\""),
                            ({"insertion": "x"}, "insertion is \"x\"; it is"),
                            ({"value_bits": 33}, "value_bits: give 4 to 32"),
                            ({"fingerprint_bits": 9}, "fingerprint_bits: give 0, 8, 12 or 16"),
                            ({"load": 0.98}, "load: give more than 0 and at most 0.97"),
                            ({"big_endian": True}, "is_big_endian is Parrot's")):
            self.refused(roost.Map, self.keys, self.values, why=why, **wishes)
        self.refused(roost.Map, numpy.zeros((1, 65), "u1"), self.values[:1].copy(),
                     why="key_bytes is 65; it is 1 to 64")
        self.refused(roost.Map, numpy.zeros((1, 9), "u1"), self.values[:1].copy(), kind="parrot",
                     why="key_bytes is 9; it is 1 to 8 for Parrot")
        self.refused(self.table.rebuild, load=2, why="load: give more than 0")

    def test_arrays_that_would_have_to_be_copied(self):
        self.refused(self.table.lookup, self.keys[::2], why="keys: not C-contiguous")
        self.refused(self.table.lookup, self.keys.astype("u4"), why="rows of 4 bytes")
        self.refused(self.table.lookup, self.keys.astype("f8"), why="keys: floats")
        self.refused(self.table.lookup, self.keys, out=numpy.empty(100, "u8"),
                     why="out: no values; give .n,. of uint32")
        self.refused(self.table.lookup, self.keys, out=numpy.empty(99, "u4"), why="out: 99 rows")
        self.refused(self.table.lookup, self.keys, maybe=numpy.empty(100, "u1"),
                     why="maybe: neither bools nor words")
        self.refused(self.table.insert, self.keys, self.keys, why="values: not .n,. of uint32")
        self.refused(self.table.update, self.keys, self.values[:99].copy(), why="values: 99 rows")
        self.refused(self.table.erase, [1, 2], why="list is no array", error=TypeError)

    def test_every_name_is_told_of(self):
        for kind in roost.Map, roost.MapImage:
            for name in dir(kind):
                if not name.startswith("_"):
                    self.assertTrue(getattr(kind, name).__doc__, name)


if __name__ == "__main__":
    unittest.main()
