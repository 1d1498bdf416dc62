"""Arrays are used where they are, or refused: nothing is copied in silence."""

import tracemalloc
import unittest

import address_space
import numpy
import roost

MIB = 1 << 20
KEYS = numpy.arange(100, dtype="u8")


def read_only(array):
    array.flags.writeable = False
    return array


class InPlace(unittest.TestCase):
    def test_a_batch_allocates_nothing_when_its_outputs_are_given(self):
        count = 4 * MIB  # 32 MiB of keys, as much of values
        keys = numpy.arange(count, dtype="u8")
        values = keys * 3
        table = roost.Table(8, 8, entries_max=count)
        outcomes = numpy.empty(count, "u1")
        out, hits = numpy.empty(count, "u8"), numpy.empty(count, "?")
        words = numpy.empty(roost.hit_words(count), "u8")
        tracemalloc.start()
        self.addCleanup(tracemalloc.stop)
        # A copy of one of these arrays would take 4 MiB and more, and there is no memory for it.
        with address_space.at_most_more(MIB):
            table.insert(keys, values, outcomes=outcomes)
            table.lookup(keys, out=out, hits=hits)
            table.upsert(keys, values, outcomes=outcomes)
            table.contains(keys, hits=words)
            table.refresh(keys, hits=words)
            table.erase(keys, hits=hits)
        self.assertLess(tracemalloc.get_traced_memory()[1], 65536)
        self.assertTrue((out == values).all())
        self.assertTrue(hits.all())
        self.assertTrue((outcomes == roost.Outcome.EXISTING).all())

    def test_outputs_come_back_as_the_objects_that_were_given(self):
        table = roost.Table(8, 8, capacity=4096)
        outcomes, out = numpy.empty(100, "u1"), numpy.empty(100, "u8")
        hits, words = numpy.empty(100, "?"), numpy.empty(2, "u8")
        self.assertIs(table.insert(KEYS, KEYS, outcomes=outcomes), outcomes)
        values, found = table.lookup(KEYS, out=out, hits=hits)
        self.assertIs(values, out)
        self.assertIs(found, hits)
        self.assertIs(table.erase(KEYS, hits=words), words)

    def test_an_output_that_is_part_of_an_array_is_written_there_and_nowhere_else(self):
        table = roost.Table(8, 8, capacity=4096)
        table.insert(KEYS, KEYS + 1)
        whole = numpy.full(300, 7, "u8")
        hits = numpy.zeros(300, "?")
        table.lookup(KEYS, out=whole[100:200], hits=hits[100:200])
        self.assertEqual(whole.tolist(), [7] * 100 + list(range(1, 101)) + [7] * 100)
        self.assertEqual(numpy.flatnonzero(hits).tolist(), list(range(100, 200)))

    def test_upsert_writes_what_the_table_holds_into_the_values_given(self):
        table = roost.Table(8, 8, capacity=4096)
        table.insert(KEYS[:50], KEYS[:50])
        values = KEYS + 1000
        address = values.ctypes.data
        table.upsert(KEYS, values)
        self.assertEqual(values.tolist(), list(range(50)) + list(range(1050, 1100)))
        self.assertEqual(values.ctypes.data, address)

    def test_misses_leave_their_rows_and_new_rows_are_zero(self):
        table = roost.Table(8, 2, capacity=4096)
        out = numpy.full((100, 2), 9, "u1")
        table.lookup(KEYS, out=out)
        self.assertTrue((out == 9).all())
        values, hits = table.lookup(KEYS)
        self.assertEqual((values.shape, values.dtype, values.any()), ((100, 2), "u1", False))
        self.assertEqual((hits.shape, hits.dtype, hits.any()), ((100,), "?", False))

    def test_what_lends_memory_without_numpy_will_do(self):
        table = roost.Table(4, 0, capacity=4096)
        table.insert(memoryview(bytes(range(40))).cast("I"))
        self.assertEqual(len(table), 10)


class Refused(unittest.TestCase):
    def setUp(self):
        self.table = roost.Table(8, 8, capacity=4096)
        self.table.insert(KEYS, KEYS)

    def refused(self, call, *arguments, why, error=ValueError, **named):
        with self.assertRaisesRegex(error, why):
            call(*arguments, **named)
        self.assertEqual(len(self.table), 100)

    def test_arrays_that_are_not_contiguous(self):
        square = numpy.zeros((8, 8), "u1")
        for keys in KEYS[::2], KEYS[::-1], square.T, numpy.zeros(5, "u8,u4")["f0"]:
            self.refused(self.table.contains, keys, why=r"keys: not C-contiguous.*ascontiguous")
        for out in numpy.zeros(200, "u8")[::2], numpy.zeros((100, 8), "u1", order="F"):
            self.refused(self.table.lookup, KEYS, out=out, why="out: not C-contiguous")
        hits = numpy.zeros(200, "?")[::2]
        self.refused(self.table.lookup, KEYS, hits=hits, why="hits: not C-contiguous")

    def test_rows_of_another_size(self):
        wrong = "rows of 4 bytes where the table has 8; give shape .n, 8. of uint8, or .n,. of"
        self.refused(self.table.contains, KEYS.astype("u4"), why="keys: " + wrong)
        self.refused(self.table.insert, KEYS, KEYS.astype("u4"), why="values: " + wrong)
        self.refused(self.table.lookup, KEYS, out=KEYS.astype("u4"), why="out: " + wrong)
        self.refused(self.table.contains, numpy.zeros(8, "u1"), why="rows of 1 bytes")
        self.refused(self.table.contains, numpy.zeros((2, 2), "u8"), why="rows of 16 bytes")
        self.refused(self.table.contains, KEYS[0], why="a single element")

    def test_another_number_of_rows(self):
        few = KEYS[:99].copy()
        wrong = "99 rows where there are 100 keys; give one row a key"
        self.refused(self.table.insert, KEYS, few, why="values: " + wrong)
        self.refused(self.table.lookup, KEYS, out=few, why="out: " + wrong)
        self.refused(self.table.lookup, KEYS, hits=numpy.empty(99, "?"), why="hits: " + wrong)
        self.refused(self.table.insert, KEYS, KEYS, outcomes=numpy.empty(99, "u1"), why=wrong)
        words = numpy.empty(3, "u8")
        self.refused(self.table.lookup, KEYS, hits=words, why="3 words for 100 keys;.*here 2")
        self.refused(self.table.insert, KEYS, why="values: none")

    def test_dtypes_that_do_not_do(self):
        self.refused(self.table.contains, KEYS.astype("f8"), why="keys: floats.*view.'V8'.")
        self.refused(self.table.contains, KEYS.astype("O"), why="keys: Python objects")
        self.refused(self.table.contains, KEYS.astype("M8[s]"), why="keys: .*not lend this dtype")
        self.refused(self.table.lookup, KEYS, out=KEYS.astype("O"), why="out: Python objects")
        self.refused(self.table.lookup, KEYS, hits=numpy.empty(100, "u1"), why="give .n,. of bool")
        self.refused(self.table.lookup, KEYS, hits=numpy.empty(2, ">u8"), why="give .n,. of bool")
        self.refused(self.table.insert, KEYS, KEYS, outcomes=numpy.empty(100, "i8"), why="of uint8")
        self.refused(self.table.contains, [1, 2], why="list is no array", error=TypeError)
        self.assertTrue(self.table.contains(KEYS.view("f8").view("V8")).all())
        self.assertTrue(roost.Table(8, 8, capacity=64).insert(KEYS[:2], KEYS[:2] / 3) is not None)

    def test_outputs_that_may_not_be_written(self):
        wrong = "read-only, and it is to be written"
        self.refused(self.table.lookup, KEYS, out=read_only(KEYS.copy()), why="out: " + wrong)
        hits = read_only(numpy.empty(100, "?"))
        self.refused(self.table.contains, KEYS, hits=hits, why="hits: " + wrong)
        outcomes = read_only(numpy.empty(100, "u1"))
        self.refused(self.table.insert, KEYS, KEYS, outcomes=outcomes, why="outcomes: " + wrong)
        self.refused(self.table.upsert, KEYS, read_only(KEYS.copy()), why="values: " + wrong)
        self.table.insert(read_only(KEYS.copy()), read_only(KEYS.copy()))

    def test_configurations_that_cannot_be(self):
        for wishes in ({"key_bytes": 0}, {"key_bytes": 65}, {"key_bytes": 8, "value_bytes": 257},
                       {"key_bytes": 8, "capacity": 2**62}):
            with self.subTest(wishes), self.assertRaises(ValueError):
                roost.Table(**{"capacity": 4096, **wishes})
        self.refused(roost.Table, 8, why="capacity")
        with address_space.at_most_more(MIB):
            self.refused(roost.Table, 8, capacity=2**24, why=".", error=MemoryError)


if __name__ == "__main__":
    unittest.main()
