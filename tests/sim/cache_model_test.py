"""Caches of the simulated machine against a model in Python, access by access: what each of many
random accesses of one core meets, L1D, L2, the home slice or DRAM, and how many lines go back.

    cache_model_test.py REPLAY      REPLAY is the program sim_cache_replay

ROOST_SIM_ACCESSES says how many accesses, 100,000 if it is not set; a million take half a minute.
"""

import array
import os
import random
import subprocess
import sys
import tempfile

ACCESSES = int(os.environ.get("ROOST_SIM_ACCESSES", "100000"))
SLICES, SLICE_BITS = 16, 4
SMALL = {"l1d.bytes": 4096, "l1d.ways": 4, "l2.bytes": 32768, "l2.ways": 8,
         "llc.slice_bytes": 32768, "llc.ways": 16}


class Cache:
    """Sets of ways; a way is [line, is it dirty]. Who goes: by a tree of bits, or by last use."""

    def __init__(self, sets, ways, is_lru):
        self.ways, self.is_lru, self.clock = ways, is_lru, 0
        self.sets = [[None] * ways for _ in range(sets)]
        self.order = [[0] * ways for _ in range(sets)]  # last uses, or a tree: 1 is "go right"

    def way_of(self, number, line):
        for way, held in enumerate(self.sets[number]):
            if held and held[0] == line:
                return way
        return None

    def use(self, number, way):
        order = self.order[number]
        if self.is_lru:
            self.clock += 1
            order[way] = self.clock
            return
        node, low, high = 1, 0, self.ways
        while high - low > 1:
            middle = (low + high) // 2
            is_right = way >= middle
            order[node] = 0 if is_right else 1
            node, low, high = 2 * node + is_right, *((middle, high) if is_right else (low, middle))

    def victim(self, number):
        order, held = self.order[number], self.sets[number]
        if None in held:
            return held.index(None)
        if self.is_lru:
            return order.index(min(order))
        node, low, high = 1, 0, self.ways
        while high - low > 1:
            middle = (low + high) // 2
            is_right = order[node]
            node, low, high = 2 * node + is_right, *((middle, high) if is_right else (low, middle))
        return low

    def put(self, number, line, is_dirty):
        """Puts a line in; what had to go for it."""
        way = self.victim(number)
        gone, self.sets[number][way] = self.sets[number][way], [line, is_dirty]
        self.use(number, way)
        return gone

    def take(self, number, line):
        """Takes a line out: whether it was dirty, or None if it was not there."""
        way = self.way_of(number, line)
        if way is None:
            return None
        dirty, self.sets[number][way] = self.sets[number][way][1], None
        return dirty


class Machine:
    def __init__(self, is_lru):
        def cache(level, ways):
            return Cache(SMALL[level] // 64 // SMALL[ways], SMALL[ways], is_lru)
        self.l1, self.l2 = cache("l1d.bytes", "l1d.ways"), cache("l2.bytes", "l2.ways")
        self.slices = [cache("llc.slice_bytes", "llc.ways") for _ in range(SLICES)]
        self.written = 0

    def home(self, line):
        folded, rest = 0, line
        while rest:
            folded, rest = folded ^ rest & (SLICES - 1), rest >> SLICE_BITS
        piece = self.slices[folded]
        return piece, (line >> SLICE_BITS) % len(piece.sets)

    def near(self, line, is_store):
        """Puts a line into L1D; a dirty one that goes is dirty in L2."""
        gone = self.l1.put(line % len(self.l1.sets), line, is_store)
        if gone and gone[1]:
            number = gone[0] % len(self.l2.sets)
            self.l2.sets[number][self.l2.way_of(number, gone[0])][1] = True

    def access(self, line, is_store):
        number = line % len(self.l1.sets)
        way = self.l1.way_of(number, line)
        if way is not None:
            self.l1.use(number, way)
            self.l1.sets[number][way][1] |= is_store
            return 1
        number = line % len(self.l2.sets)
        way = self.l2.way_of(number, line)
        if way is not None:
            self.l2.use(number, way)
            self.l2.sets[number][way][1] |= is_store
            self.near(line, False)
            return 2
        piece, place = self.home(line)
        dirty = piece.take(place, line)
        gone = self.l2.victim(number)
        held = self.l2.sets[number][gone]
        if held:  # it goes home, with what L1D has of it
            self.l2.sets[number][gone] = None
            held[1] |= self.l1.take(held[0] % len(self.l1.sets), held[0]) or False
            other, other_place = self.home(held[0])
            last = other.put(other_place, *held)
            self.written += bool(last and last[1])
        self.l2.put(number, line, bool(dirty))
        self.near(line, is_store)
        return 4 if dirty is None else 3


def stream(seed):
    """Lines with some locality: near the last one, among a few hundred, or anywhere in 1 MB."""
    draw, line = random.Random(seed), 0
    for _ in range(ACCESSES):
        kind = draw.random()
        line = line + draw.randrange(1, 4) if kind < 0.4 else \
            draw.randrange(400) if kind < 0.6 else draw.randrange(16384)
        yield line % 16384, draw.random() < 0.3


def main():
    for is_lru in (False, True):
        words, model, levels = array.array("Q"), Machine(is_lru), []
        for line, is_store in stream(7 + is_lru):
            words.append(line << 1 | is_store)
            levels.append(str(model.access(line, is_store)))
        with tempfile.NamedTemporaryFile() as file:
            words.tofile(file)
            file.flush()
            settings = [f"{name}={value}" for name, value in SMALL.items()] + ["lru"] * is_lru
            got = subprocess.run([sys.argv[1], "machine", file.name, *settings],
                                 check=True, stdout=subprocess.PIPE, text=True).stdout.split()
        assert len(got[0]) == len(levels) == ACCESSES
        wrong = [i for i, (theirs, ours) in enumerate(zip(got[0], levels)) if theirs != ours]
        assert not wrong, f"access {wrong[0]}: machine {got[0][wrong[0]]}, model {levels[wrong[0]]}"
        assert int(got[1]) == model.written, (got[1], model.written)
        shares = " ".join(f"{level}: {levels.count(level)}" for level in "1234")
        print(f"{'LRU' if is_lru else 'tree-PLRU'}: {ACCESSES} accesses equal; {shares}; "
              f"{model.written} written back")


main()
