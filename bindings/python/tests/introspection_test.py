"""What a table and the package say of themselves."""

import ctypes
import importlib.metadata
import importlib.resources
import pathlib
import re
import unittest

import numpy
import roost

ROOT = pathlib.Path(__file__).resolve().parents[3]


def private_pages():
    """Addresses of pages that belong to no file and may be written."""
    pages = set()
    for line in pathlib.Path("/proc/self/maps").read_text().splitlines():
        span, mode, _, _, inode = line.split()[:5]
        if mode == "rw-p" and inode == "0":
            first, end = (int(word, 16) for word in span.split("-"))
            pages.update(range(first, end, 4096))
    return pages


class Introspection(unittest.TestCase):
    def setUp(self):
        self.keys = numpy.random.default_rng(1).integers(0, 2**64, 60_000, dtype="u8")

    def test_the_version_is_the_projects(self):
        project = re.search(r"project\(roost VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text())
        self.assertEqual(roost.__version__, project.group(1))
        self.assertEqual(importlib.metadata.version("roost"), project.group(1))

    def test_the_package_has_its_types_and_every_name_is_told_of(self):
        package = importlib.resources.files(roost)
        stub = (package / "_roost.pyi").read_text()
        self.assertTrue((package / "py.typed").is_file())
        for name in dir(roost.Table):
            if not name.startswith("_"):
                self.assertTrue(getattr(roost.Table, name).__doc__, name)
                self.assertIn(f"def {name}(self", stub)
        self.assertIn("keys: numpy.ndarray", stub)

    def test_info_says_what_was_asked_for(self):
        table = roost.Table(key_bytes=13, value_bytes=5, entries_max=1000, expiry=True)
        info = table.info()
        self.assertEqual((info["key_bytes"], info["value_bytes"]), (13, 5))
        self.assertEqual((info["entries_max"], info["expires"]), (1000, True))
        self.assertGreaterEqual(info["capacity"], 1000)
        self.assertGreater(info["memory_bytes"], info["capacity"] * 18)
        self.assertIn("0 of", repr(table))

    def test_sizes_choose_the_layout_unless_the_caller_does(self):
        def layout(*sizes, **wishes):
            info = roost.Table(*sizes, capacity=600, **wishes).info()
            return info["layout"], info["bucket_slots"]
        self.assertEqual(layout(16, 16), ("split", 8))
        self.assertEqual(layout(13, 16), ("inline", 2))
        self.assertEqual(layout(13, 4), ("inline", 3))
        self.assertEqual(layout(13, 4, layout="split"), ("split", 8))
        self.assertEqual(layout(6, 2), ("packed", 8))
        self.assertEqual(layout(6, 2, expiry=True), ("inline", 3))
        with self.assertRaisesRegex(ValueError, "has no room for 16 \\+ 16 bytes"):
            layout(16, 16, layout="inline")
        with self.assertRaisesRegex(ValueError, "layout is \"flat\"; it is"):
            layout(16, 16, layout="flat")

    def test_keys_wider_than_said_are_not_taken_and_not_found(self):
        table = roost.Table(8, 2, entries_max=100, key_bits=60)
        self.assertEqual(table.info()["layout"], "packed")
        keys = numpy.array([5, 5 | 1 << 60, (1 << 60) - 1], "u8")
        outcomes = table.insert(keys, numpy.array([1, 2, 3], "u2"))
        self.assertEqual(outcomes.tolist(), [roost.Outcome.INSERTED, roost.Outcome.WIDE_KEY,
                                             roost.Outcome.INSERTED])
        self.assertEqual(table.contains(keys).tolist(), [True, False, True])
        self.assertEqual(table.lookup(keys)[0].view("u2").ravel().tolist(), [1, 0, 3])
        with self.assertRaisesRegex(ValueError, "key_bits is 65; keys of 8 bytes have 64"):
            roost.Table(8, 2, capacity=600, key_bits=65)

    def test_the_histograms_of_stats_count_every_insert_and_every_bucket(self):
        table = roost.Table(8, 0, capacity=65_536)
        table.insert(self.keys)
        table.contains(self.keys)
        stats = table.stats()
        self.assertEqual(stats["path_lengths"].dtype, "u8")
        self.assertEqual(stats["path_lengths"].sum(), 60_000)
        self.assertEqual(stats["moved_histogram"].sum(), table.info()["bucket_count"])
        self.assertGreater(stats["moved_histogram"][1:].sum(), 0)
        self.assertEqual((stats["lookups"], stats["hits"]), (60_000, 60_000))
        self.assertIn(stats["line_hint"], ("T0", "T1", "NTA"))
        self.assertEqual(stats["hint_rounds"], 0)
        self.assertEqual(stats["kicks"],
                         (stats["path_lengths"] * numpy.arange(9, dtype="u8")).sum())

    def test_occupancy_counts_the_buckets_by_their_entries(self):
        table = roost.Table(8, 0, capacity=65_536)
        table.insert(self.keys)
        occupancy = table.occupancy()
        self.assertEqual((occupancy.dtype, occupancy.shape), ("u8", (9,)))
        self.assertEqual(occupancy.sum(), table.info()["bucket_count"])
        dumps = (table.dump_bucket(bucket) for bucket in range(occupancy.sum()))
        busy = [int(re.search(r"(\d+) of 8 slots busy", dump).group(1)) for dump in dumps]
        self.assertEqual(occupancy.tolist(), numpy.bincount(busy, minlength=9).tolist())

    def test_a_bucket_in_words_names_its_keys(self):
        table = roost.Table(8, 8, capacity=16, layout="split")
        table.insert(numpy.array([0x0102030405060708], ">u8"), numpy.array([5], "u8"))
        text = "".join(table.dump_bucket(bucket) for bucket in range(2))
        self.assertIn("key 0102030405060708  value 0500000000000000", text)
        with self.assertRaisesRegex(IndexError, "there is no 2; the last one is 1"):
            table.dump_bucket(2)

    def test_an_audit_names_what_is_broken(self):
        before = private_pages()
        table = roost.Table(8, 0, capacity=4096, seed=1)
        table.insert(self.keys[:100])
        table.audit()
        own_key = self.keys[7].tobytes()
        mine = sorted(private_pages() - before)
        places = [page + at for page in mine
                  if (at := ctypes.string_at(page, 4096).find(own_key)) >= 0]
        self.assertEqual(len(places), 1)
        ctypes.memset(places[0], own_key[0] ^ 1, 1)
        with self.assertRaisesRegex(RuntimeError, r"invariant \d, bucket \d+, slot \d: \w"):
            table.audit()

    def test_a_walk_keeps_its_table_and_its_chunks_are_of_the_size_asked_for(self):
        table = roost.Table(8, 8, capacity=4096)
        table.insert(self.keys[:1000], self.keys[:1000])
        walk = iter(table.scan(chunk=300))
        del table
        sizes, found = [], set()
        for keys, values in walk:
            sizes.append(len(keys))
            self.assertTrue((keys == values).all())
            found.update(keys.view("u8").ravel().tolist())
        self.assertEqual(sizes, [300, 300, 300, 100])
        self.assertEqual(found, set(self.keys[:1000].tolist()))

    def test_a_walk_of_a_nearly_empty_table_takes_its_time_in_parts(self):
        table = roost.Table(8, 0, capacity=1_000_000)
        table.insert(self.keys[:5])
        sizes = [len(keys) for keys, _ in table.scan(buckets=1000)]
        self.assertEqual(sum(sizes), 5)
        # The last part is left out when it is empty.
        full_parts = (table.info()["bucket_count"] - 1) // 1000
        self.assertIn(len(sizes), (full_parts, full_parts + 1))
        with self.assertRaisesRegex(ValueError, "buckets"):
            table.scan(buckets=0)

    def test_a_walk_that_erases_what_it_sees_empties_the_table(self):
        table = roost.Table(8, 0, capacity=4096)
        table.insert(self.keys[:3000])
        for keys, _ in table.scan(chunk=100):
            self.assertTrue(table.erase(keys).all())
        self.assertEqual(len(table), 0)
        with self.assertRaisesRegex(ValueError, "chunk"):
            table.scan(0)


if __name__ == "__main__":
    unittest.main()
