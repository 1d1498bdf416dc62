"""Roost's tables in gdb. Load it by `source .../share/roost/roost_gdb.py`, or `gdb -x` it; then

    print table               a roost::FlowTable: its size, time and kernel, and its first entries
    print *line               a roost::TagLine or InlineLine: a bucket's slots in words
    roost-bucket table 812    bucket 812 of a FlowTable, keys and values in their own types

It reads memory only and calls nothing in the program, so it works on core files too. Optimised
programs need -g, no more. How many entries `print` shows is gdb's `set print elements`.
"""

import gdb
import gdb.printing

SPLIT_SLOTS = 8  # roost::kSlotsPerBucket
LINE_BYTES = 64  # sizeof(roost::TagLine), and of an InlineLine
# By the slots of a line: the byte with its `busy`, the bits of that; where its moved count stays.
BUSY_OFFSET = {8: 42, 2: 62, 3: 58}
BUSY_BITS = {8: 0xff, 2: 0b11, 3: 0b111}
MOVED_SATURATED = {8: 65_535, 2: 15, 3: 511}  # kMovedSaturated of TagLine and InlineLine
LIVE_TICKS = 1024  # roost::kLiveTicks
BUCKETS_AT_A_TIME = 1024
BUCKETS_MAX = 1 << 16  # that `print` looks through: a large table may be nearly empty


def slots_of(bits):
    return [slot for slot in range(SPLIT_SLOTS) if bits >> slot & 1]


def slot_count(line):
    """Slots of a TagLine or an InlineLine."""
    line_type = line.type.strip_typedefs()
    return int(line_type.template_argument(0)) if "InlineLine" in line_type.name else SPLIT_SLOTS


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
    moved, slots = int(line["moved"]), slot_count(line)
    return (f"{len(slots_of(int(line['busy'])))} of {slots} slots busy, "
            f"{moved}{' or more' if moved == MOVED_SATURATED[slots] else ''} moved away, "
            f"filter 0x{int(line['filter']):016x}")


def slot_in_words(line, slot):
    place = "displaced" if int(line["displaced"]) >> slot & 1 else "primary"
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
        for slot in slots_of(int(self.line["busy"])):
            timer = int(self.line["timers"][slot])
            yield f"slot {slot}", f"{slot_in_words(self.line, slot)}, timer {timer}"


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
        self.slots = int(layout_type.template_argument(1))
        self.is_inline = "InlineLayout<" in layout_type.name
        entry = layout_type.template_argument(0)
        self.key_bytes, self.value_bytes = (int(entry.template_argument(n)) for n in (0, 1))
        self.entry_bytes = (self.key_bytes + self.value_bytes + 7) // 8 * 8

    def line(self, bucket):
        return self.layout["lines_"][bucket]

    def entry(self, bucket, slot):
        """Key and value in place; the value of a set is None."""
        if self.is_inline:
            return self.inline_entry(bucket, slot)
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

    def is_live(self, line, slot):
        ahead = (int(line["timers"][slot]) - self.now) % 65_536
        return not self.expires or ahead < LIVE_TICKS

    def busy_buckets(self):
        """Of the first BUCKETS_MAX, read many at a time."""
        memory = gdb.selected_inferior()
        address = int(self.layout["lines_"])
        bucket_end = min(self.bucket_count, BUCKETS_MAX)
        busy_slots = self.slots if self.is_inline else SPLIT_SLOTS
        for first in range(0, bucket_end, BUCKETS_AT_A_TIME):
            count = min(BUCKETS_AT_A_TIME, bucket_end - first)
            lines = memory.read_memory(address + first * LINE_BYTES, count * LINE_BYTES)
            for bucket in range(count):
                byte = lines[bucket * LINE_BYTES + BUSY_OFFSET[busy_slots]][0]
                if byte & BUSY_BITS[busy_slots]:
                    yield first + bucket

    def live_slots(self):
        for bucket in self.busy_buckets():
            line = self.line(bucket)
            for slot in slots_of(int(line["busy"])):
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
        for slot in slots_of(int(line["busy"])):
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
    printers.add_printer("line", r"^roost::(TagLine|InlineLine<[23]u?>)$", LinePrinter)
    printers.add_printer("FlowTable", r"^roost::FlowTable<.*>$", FlowTablePrinter)
    gdb.printing.register_pretty_printer(None, printers, replace=True)
    BucketCommand()


register()
