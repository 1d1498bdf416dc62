"""The table against a dict that gets the same operations."""

import os
import random
import unittest

import numpy
import roost
from numpy.testing import assert_array_equal

SEED = int(os.environ.get("ROOST_TEST_SEED", random.randrange(1 << 32)))
FLOW = numpy.dtype([("source", "u4"), ("destination", "u4"), ("ports", "u2", 2),
                    ("protocol", "u4")])


class Mirror:
    """A table of 8-byte keys and values, and a dict, batch by batch."""

    def __init__(self, test, table):
        self.test = test
        self.table = table
        self.model = {}

    def insert(self, keys, values):
        outcomes = []
        for key, value in zip(keys.tolist(), values.tolist()):
            known = key in self.model
            outcomes.append(roost.Outcome.UPDATED if known else roost.Outcome.INSERTED)
            self.model[key] = value
        assert_array_equal(self.table.insert(keys, values), outcomes)

    def upsert(self, keys, values):
        outcomes, expected = [], []
        for key, value in zip(keys.tolist(), values.tolist()):
            known = key in self.model
            outcomes.append(roost.Outcome.EXISTING if known else roost.Outcome.INSERTED)
            expected.append(self.model.setdefault(key, value))
        assert_array_equal(self.table.upsert(keys, values), outcomes)
        assert_array_equal(values, numpy.array(expected, "u8"))

    def erase(self, keys):
        expected = [self.model.pop(key, None) is not None for key in keys.tolist()]
        assert_array_equal(self.table.erase(keys), expected)

    def lookup(self, keys):
        untouched = numpy.uint64(2**64 - 1)
        out = numpy.full(len(keys), untouched)
        _, hits = self.table.lookup(keys, out=out)
        expected = [self.model.get(key, int(untouched)) for key in keys.tolist()]
        assert_array_equal(out, numpy.array(expected, "u8"))
        assert_array_equal(hits, [key in self.model for key in keys.tolist()])
        assert_array_equal(self.table.contains(keys), hits)

    def check_whole(self):
        self.table.audit()
        found = {}
        for keys, values in self.table.scan(50_000):
            found.update(zip(keys.view("u8").ravel().tolist(), values.view("u8").ravel().tolist()))
        self.test.assertTrue(found == self.model)  # in words, the difference would take hours
        self.test.assertEqual(len(self.table), len(self.model))
        stats = self.table.stats()
        self.test.assertEqual(stats["created"], stats["entry_count"] + stats["erased"])


class Model(unittest.TestCase):
    def setUp(self):
        print(f"ROOST_TEST_SEED={SEED}")
        self.random = numpy.random.default_rng(SEED)

    def test_a_million_entries_are_what_a_dict_says(self):
        table = roost.Table(8, 8, entries_max=1_000_000)
        mirror = Mirror(self, table)
        universe = self.random.integers(0, 2**64, 1_100_000, dtype="u8")
        values = self.random.integers(0, 2**63, len(universe), dtype="u8")
        for first in range(0, 1_000_000, 100_000):
            batch = slice(first, first + 100_000)
            mirror.insert(universe[batch], values[batch])
        self.assertEqual(len(table), 1_000_000)
        for count in (0, 1, 63, 64, 65, 8191, 8192, 8193, 40_000):
            # Drawn with repetition: equal keys act in their order. What is full meets no insert.
            mirror.erase(self.random.choice(universe, 2 * count))
            mirror.upsert(self.random.choice(universe, count), self.random.choice(values, count))
            mirror.insert(self.random.choice(universe, count), self.random.choice(values, count))
            mirror.lookup(self.random.choice(universe, count))
            self.assertLessEqual(len(table), 1_000_000)
        mirror.check_whole()
        table.clear()
        mirror.model.clear()
        mirror.check_whole()

    def test_every_size_of_key_keeps_keys_apart_that_differ_in_one_bit(self):
        for key_bytes in range(1, 65):
            value_bytes = (0, 1, 4, 8, 24, 256)[key_bytes % 6]
            table = roost.Table(key_bytes, value_bytes, capacity=4096)
            keys = numpy.zeros((8 * key_bytes + 1, key_bytes), "u1")
            for bit in range(8 * key_bytes):
                keys[bit, bit // 8] = 1 << bit % 8
            values = self.random.integers(0, 256, (len(keys), value_bytes), dtype="u1")
            self.assertTrue((table.insert(keys, values) == roost.Outcome.INSERTED).all())
            out, hits = table.lookup(keys)
            self.assertTrue(hits.all())
            self.assertTrue((out == values).all(), (key_bytes, value_bytes))
            self.assertEqual(table.erase(keys[::-1].copy()).sum(), len(keys))
            self.assertEqual(len(table), 0)
            table.audit()

    def test_structured_keys_and_values_come_back_as_they_were(self):
        value = numpy.dtype([("packets", "u8"), ("seconds", "f8")])
        table = roost.Table(key_bytes=FLOW.itemsize, value_bytes=value.itemsize, capacity=4096)
        keys = self.random.integers(0, 256, 1000 * FLOW.itemsize, dtype="u1").view(FLOW)
        values = numpy.zeros(1000, value)
        values["packets"] = numpy.arange(1000)
        values["seconds"] = values["packets"] / 7
        table.insert(keys, values)
        out, hits = table.lookup(keys, out=numpy.empty(1000, value))
        self.assertTrue(hits.all())
        self.assertTrue((out == values).all())
        self.assertTrue(table.contains(keys.view(f"V{FLOW.itemsize}")).all())
        self.assertTrue(table.contains(keys.view("u1").reshape(1000, -1)).all())
        self.assertTrue(table.contains(keys.view("u8").reshape(1000, 2)).all())

    def test_packed_hits_are_the_bits_of_the_bools(self):
        table = roost.Table(8, 0, capacity=1 << 15)
        keys = self.random.integers(0, 2**64, 20_011, dtype="u8")
        table.insert(keys[::2].copy())
        for count in (0, 1, 64, 65, 8192, 20_011):
            words = numpy.full(roost.hit_words(count), 2**64 - 1, "u8")
            bools = table.contains(keys[:count])
            self.assertIs(table.contains(keys[:count], hits=words), words)
            bits = numpy.unpackbits(words.view("u1"), bitorder="little")
            assert_array_equal(bits[:count], bools)
            self.assertFalse(bits[count:].any())

    def test_a_full_table_says_so_and_stays_as_it_is(self):
        table = roost.Table(8, 8, capacity=64)
        keys = numpy.arange(200, dtype="u8")
        outcomes = table.insert(keys, keys)
        placed = outcomes == roost.Outcome.INSERTED
        self.assertTrue((outcomes[~placed] == roost.Outcome.FULL).all())
        self.assertEqual(table.info()["capacity"], 66)  # whole lines of 3 slots
        self.assertLessEqual(placed.sum(), 66)
        assert_array_equal(table.contains(keys), placed)
        self.assertEqual(table.stats()["refusals"], (~placed).sum())

    def test_one_seed_gives_one_table_and_no_seed_another_each_time(self):
        keys = self.random.integers(0, 2**64, 3000, dtype="u8")

        def dump(seed):
            table = roost.Table(8, 0, capacity=4096, seed=seed)
            table.insert(keys)
            return [table.dump_bucket(bucket) for bucket in range(table.info()["bucket_count"])]

        self.assertEqual(dump(5), dump(5))
        self.assertNotEqual(dump(5), dump(6))
        self.assertNotEqual(dump(None), dump(None))


if __name__ == "__main__":
    unittest.main()
