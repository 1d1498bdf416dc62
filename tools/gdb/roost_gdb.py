"""Roost's tables in gdb. Load it by `source .../share/roost/roost_gdb.py`, or `gdb -x` it; then

    print table               a roost::FlowTable: its size, time and kernel, and its first entries
    print *line               a roost::TagLine, InlineLine or PackedLine: its slots in words
    roost-bucket table 812    bucket 812 of a FlowTable, keys and values in their own types

It reads memory only and calls nothing in the program, so it works on core files too. Optimised
programs need -g, no more. How many entries `print` shows is gdb's `set print elements`.
"""

import gdb
import gdb.printing

SPLIT_SLOTS = 8  # roost::kSlotsPerBucket
LINE_BYTES = 64  # sizeof(roost::TagLine), and of an InlineLine
# By the slots of a TagLine or InlineLine: the byte with its `busy`, the bits of that; where its
# moved count stays.
BUSY_OFFSET = {8: 42, 2: 62, 3: 58}
BUSY_BITS = {8: 0xff, 2: 0b11, 3: 0b111}
MOVED_SATURATED = {8: 65_535, 2: 15, 3: 511}  # kMovedSaturated of TagLine and InlineLine
LIVE_TICKS = 1024  # roost::kLiveTicks
REMAINDER_BITS = 46  # roost::kRemainderBits of a PackedLine's words
BUCKETS_AT_A_TIME = 1024
BUCKETS_MAX = 1 << 16  # that `print` looks through: a large table may be nearly empty


def slots_of(bits):
    return [slot for slot in range(SPLIT_SLOTS) if bits >> slot & 1]


def slot_count(line):
    line_type = line.type.strip_typedefs()
    return int(line_type.template_argument(0)) if "InlineLine" in line_type.name else SPLIT_SLOTS


def is_packed(line):
    return "PackedLine" in line.type.strip_typedefs().name


def word_of(line, slot):
    return int(line["words"]["_M_elems"][slot])


def busy_slots(line):
    if is_packed(line):
        return [slot for slot in range(SPLIT_SLOTS) if word_of(line, slot) & 1]
    return slots_of(int(line["busy"]))


def is_displaced(line, slot):
    if is_packed(line):
        return bool(word_of(line, slot) & 2)
    return bool(int(line["displaced"]) >> slot & 1)


def remainder_of(word):
    return word >> 2 & (1 << REMAINDER_BITS) - 1


def pointed_to(value):
    """What a pointer or reference leads to; other values are themselves."""
    is_indirect = value.type.strip_typedefs().code in (gdb.TYPE_CODE_PTR, gdb.TYPE_CODE_REF)
    return value.referenced_value() if is_indirect else value


def member(value, name):
    """The field of that name, however deep in the value it stands."""
    level = [value]
    while level:
        for holder in level:
            if any(field.name == name for field in holder.type.fields()):
                return holder[name]
        level = [holder[field] for holder in level for field in holder.type.fields()
                 if hasattr(field, "bitpos") and not field.artificial
                 and field.type.strip_typedefs().code == gdb.TYPE_CODE_STRUCT]
    raise gdb.GdbError(f"this table has no field {name}: do script and headers come from the same "
                       "release of Roost?")


def lifetime(timer, now):
    """A timer has the low 16 bits of the tick in which its entry expires."""
    ahead = (timer - now) % 65_536
    if ahead < LIVE_TICKS:
        return f"expires at {now + ahead} (in {ahead})"
    return f"expired {65_536 - ahead} ago"


def line_in_words(line):
    slots = slot_count(line)
    words = f"{len(busy_slots(line))} of {slots} slots busy"
    if is_packed(line):
        return words
    moved = int(line["moved"])
    return (f"{words}, {moved}{' or more' if moved == MOVED_SATURATED[slots] else ''} moved away, "
            f"filter 0x{int(line['filter']):016x}")


def slot_in_words(line, slot):
    place = "displaced" if is_displaced(line, slot) else "primary"
    if is_packed(line):
        return f"remainder 0x{remainder_of(word_of(line, slot)):012x}, {place}"
    if slot_count(line) != SPLIT_SLOTS:
        return place  # its tag is the hash of its key, and stands nowhere
    return f"tag 0x{int(line['tags'][slot]):04x}, {place}"


class LinePrinter:
    """A bucket's line. It does not know the table's time, so timers are shown as they are."""

    def __init__(self, line):
        self.line = line

    def to_string(self):
        return f"bucket line: {line_in_words(self.line)}"

    def children(self):
        for slot in busy_slots(self.line):
            words = slot_in_words(self.line, slot)
            if not is_packed(self.line):
                words += f", timer {int(self.line['timers'][slot])}"
            yield f"slot {slot}", words


class PackedKeys:
    """The keys of a packed table: what KeyedPermutation and BucketMap make of place and word."""

    def __init__(self, layout, hash_object, buckets, hashed_count):
        if not hash_object.type.strip_typedefs().name.endswith("KeyedPermutation"):
            raise gdb.GdbError("the keys of this table are known to its own hash only")
        self.layout, self.buckets, self.hashed_count = layout, buckets, hashed_count
        self.shift, self.fold = int(hash_object["shift_"]), int(hash_object["fold_"])
        self.mask, self.mask_word = int(hash_object["mask_"]), int(hash_object["mask_word_"])
        inverses = hash_object["inverses_"]["_M_elems"]
        self.inverses = [int(inverses[number]) for number in (2, 1, 0)]

    def primary(self, bucket, slot, word):
        if not word & 2:
            return bucket
        if bucket >= self.hashed_count:
            homes = (self.layout["lines_"] + self.buckets).cast(
                gdb.lookup_type("unsigned long").pointer())
            return int(homes[(bucket - self.hashed_count) * SPLIT_SLOTS + slot])
        spread = remainder_of(word) * 0x9E3779B97F4A7C15 % (1 << 64)
        return ((spread * self.hashed_count >> 64 | 1) - bucket) % self.hashed_count

    def key(self, bucket, slot, word):
        bits = 64 - self.shift
        first = -(-(self.primary(bucket, slot, word) << bits) // self.hashed_count)
        within = (remainder_of(word) - first) % (1 << REMAINDER_BITS)
        key = (first + within) << self.shift
        for number, inverse in enumerate(self.inverses):
            if number != 0:
                key ^= key >> self.fold & self.mask
            key = key * inverse % (1 << 64)
        return (key ^ self.mask_word) >> self.shift


class Table:
    """A FlowTable as gdb sees it."""

    def __init__(self, value):
        value = pointed_to(value)
        self.isa = member(value, "isa_")
        self.stats = member(value, "state_").dereference()["stats"]
        self.layout = member(value, "layout_")
        engine = member(value, "engine_")
        table_type = value.type.strip_typedefs()
        self.key_type = table_type.template_argument(0)
        self.value_type = table_type.template_argument(1)
        self.expires = engine.type.template_argument(1).name == "roost::SlotTimers"
        self.now = int(engine["now_"]["count"])
        counts = self.layout["counts_"]
        self.hashed_count = int(counts["hashed"])
        self.bucket_count = self.hashed_count + int(counts["stash"])
        layout_type = self.layout.type.strip_typedefs()
        self.is_inline = "InlineLayout<" in layout_type.name
        self.packed_keys = None
        entry = layout_type.template_argument(0)
        self.value_bytes = int(entry.template_argument(1))
        if "PackedLayout<" in layout_type.name:
            self.slots = SPLIT_SLOTS
            self.packed_keys = PackedKeys(self.layout, member(value, "hash_"), self.bucket_count,
                                          self.hashed_count)
            return
        self.slots = int(layout_type.template_argument(1))
        self.key_bytes = int(entry.template_argument(0))
        self.entry_bytes = (self.key_bytes + self.value_bytes + 7) // 8 * 8

    def line(self, bucket):
        return self.layout["lines_"][bucket]

    def entry(self, bucket, slot):
        """Key and value in place; the value of a set is None."""
        if self.is_inline:
            return self.inline_entry(bucket, slot)
        if self.packed_keys:
            return self.packed_entry(bucket, slot)
        key = self.layout["entries_"] + (bucket * self.slots + slot) * self.entry_bytes
        if self.value_bytes == 0:
            return key.cast(self.key_type.pointer()).dereference(), None
        value = key + self.key_bytes
        return (key.cast(self.key_type.pointer()).dereference(),
                value.cast(self.value_type.pointer()).dereference())

    def inline_entry(self, bucket, slot):
        """The key is stored without the zeroes at its end, so it is put together from bytes."""
        start = int(self.layout["lines_"]) + bucket * LINE_BYTES
        place = start + self.slots * self.value_bytes + slot * self.key_bytes
        stored = bytes(gdb.selected_inferior().read_memory(place, self.key_bytes))
        key = gdb.Value(stored.ljust(self.key_type.sizeof, b"\0"), self.key_type)
        if self.value_bytes == 0:
            return key, None
        value = gdb.Value(start + slot * self.value_bytes)
        return key, value.cast(self.value_type.pointer()).dereference()

    def packed_entry(self, bucket, slot):
        word = word_of(self.line(bucket), slot)
        number = self.packed_keys.key(bucket, slot, word)
        key = gdb.Value(number.to_bytes(8, "little")[:self.key_type.sizeof], self.key_type)
        if self.value_bytes == 0:
            return key, None
        value = (word >> 48).to_bytes(2, "little")[:self.value_bytes]
        return key, gdb.Value(value, self.value_type)

    def is_live(self, line, slot):
        if not self.expires:
            return True
        ahead = (int(line["timers"][slot]) - self.now) % 65_536
        return ahead < LIVE_TICKS

    def busy_buckets(self):
        """Of the first BUCKETS_MAX, read many at a time."""
        memory = gdb.selected_inferior()
        address = int(self.layout["lines_"])
        bucket_end = min(self.bucket_count, BUCKETS_MAX)
        slots = self.slots if self.is_inline else SPLIT_SLOTS
        for first in range(0, bucket_end, BUCKETS_AT_A_TIME):
            count = min(BUCKETS_AT_A_TIME, bucket_end - first)
            lines = memory.read_memory(address + first * LINE_BYTES, count * LINE_BYTES)
            for bucket in range(count):
                line = lines[bucket * LINE_BYTES:(bucket + 1) * LINE_BYTES]
                if self.packed_keys:
                    is_busy = any(bytes(line))
                else:
                    is_busy = line[BUSY_OFFSET[slots]][0] & BUSY_BITS[slots]
                if is_busy:
                    yield first + bucket

    def live_slots(self):
        for bucket in self.busy_buckets():
            line = self.line(bucket)
            for slot in busy_slots(line):
                if self.is_live(line, slot):
                    yield bucket, slot


class FlowTablePrinter:
    def __init__(self, value):
        self.table = Table(value)

    def to_string(self):
        table = self.table
        size, capacity = int(table.stats["size"]), int(table.stats["capacity"])
        kernel = str(table.isa).removeprefix("roost::Isa::k")
        words = (f"flow table: {size} of {capacity} slots busy (load {size / capacity:.1%}), "
                 f"kernel {kernel}")
        if table.expires:
            words += f", now {table.now}"
        if table.bucket_count > BUCKETS_MAX:
            words += f"; live ones of the first {BUCKETS_MAX} buckets"
        return words

    def children(self):
        for number, (bucket, slot) in enumerate(self.table.live_slots()):
            key, value = self.table.entry(bucket, slot)
            yield f"{number} key", key
            if value is not None:
                yield f"{number} value", value

    def display_hint(self):
        return "map" if self.table.value_bytes else "array"


class BucketCommand(gdb.Command):
    """roost-bucket TABLE BUCKET: a bucket of a FlowTable in words. Both are expressions."""

    def __init__(self):
        super().__init__("roost-bucket", gdb.COMMAND_DATA, gdb.COMPLETE_EXPRESSION)

    def invoke(self, argument, from_tty):
        words = argument.rsplit(None, 1)
        if len(words) != 2:
            raise gdb.GdbError("roost-bucket takes a FlowTable and a bucket's index")
        value = pointed_to(gdb.parse_and_eval(words[0]))
        if not is_flow_table(value.type):
            raise gdb.GdbError(f"{words[0]} is a {value.type}, not a roost::FlowTable")
        table, bucket = Table(value), int(gdb.parse_and_eval(words[1]))
        if not 0 <= bucket < table.bucket_count:
            raise gdb.GdbError(f"there is no bucket {bucket}; the last one is "
                               f"{table.bucket_count - 1}")
        line = table.line(bucket)
        kind = "bucket" if bucket < table.hashed_count else "stash bucket"
        print(f"{kind} {bucket}: {line_in_words(line)}")
        for slot in busy_slots(line):
            key, held = table.entry(bucket, slot)
            words = f"  slot {slot}: {slot_in_words(line, slot)}"
            if table.expires:
                words += f", {lifetime(int(line['timers'][slot]), table.now)}"
            print(words)
            print(f"    key {key.format_string(max_elements=0)}")
            if held is not None:
                print(f"    value {held.format_string(max_elements=0)}")


def is_flow_table(value_type):
    name = value_type.strip_typedefs().unqualified().name or ""
    return name.startswith("roost::FlowTable<")


def register():
    printers = gdb.printing.RegexpCollectionPrettyPrinter("roost")
    printers.add_printer("line", r"^roost::(TagLine|PackedLine|InlineLine<[23]u?>)$", LinePrinter)
    printers.add_printer("FlowTable", r"^roost::FlowTable<.*>$", FlowTablePrinter)
    gdb.printing.register_pretty_printer(None, printers, replace=True)
    BucketCommand()


register()
