// The module's names, their Python signatures and what help() says of them.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <new>
#include <span>

#include "bindings/python/src/map.h"
#include "bindings/python/src/table.h"

namespace nb = nanobind;
using nb::literals::operator""_a;

namespace roost::python {
namespace {

// A walk over a table, a chunk of entries a step, of a bounded number of buckets.
struct Scan {
  nb::typed<nb::object, Table> table;
  size_t chunk;
  uint64_t bucket_budget;
  roost_cursor cursor{};
  bool goes_on = true;

  ArrayPair next() {
    if (!goes_on) throw nb::stop_iteration();
    ArrayPair entries;
    goes_on = nb::cast<Table&>(table).scan(cursor, chunk, bucket_budget, entries);
    if (!goes_on && nb::len(nb::handle(entries[0])) == 0) throw nb::stop_iteration();
    return entries;
  }
};

ArrayObject histogram(std::span<const uint64_t> fields) {
  using Array = nb::ndarray<nb::numpy, const uint64_t, nb::ndim<1>>;
  return nb::borrow<ArrayObject>(
      nb::cast(Array(fields.data(), {fields.size()}), nb::rv_policy::copy));
}

nb::dict info_of(Table& table) {
  const roost_info info = table.info();
  nb::dict dict;
  dict["capacity"] = info.capacity;
  dict["entries_max"] = info.entries_max;
  dict["bucket_count"] = info.bucket_count;
  dict["memory_bytes"] = info.memory_bytes;
  dict["mapped_bytes"] = info.mapped_bytes;
  dict["pages"] = info.pages;
  dict["kernel"] = info.kernel;
  dict["key_bytes"] = info.key_bytes;
  dict["value_bytes"] = info.value_bytes;
  dict["expires"] = info.expires != 0;
  dict["layout"] = info.layout;
  dict["bucket_slots"] = info.bucket_slots;
  return dict;
}

nb::dict stats_of(Table& table) {
  const roost_stats stats = table.stats();
  nb::dict dict;
  dict["capacity"] = stats.capacity;
  dict["entry_count"] = stats.entry_count;
  dict["stash_slots"] = stats.stash_slots;
  dict["stashed"] = stats.stashed;
  dict["created"] = stats.created;
  dict["erased"] = stats.erased;
  dict["expired"] = stats.expired;
  dict["expired_overwritten"] = stats.expired_overwritten;
  dict["kicks"] = stats.kicks;
  dict["refusals"] = stats.refusals;
  dict["path_lengths"] = histogram(stats.path_lengths);
  dict["moved_histogram"] = histogram(stats.moved_histogram);
  dict["lookups"] = stats.lookups;
  dict["hits"] = stats.hits;
  dict["secondary_visits"] = stats.secondary_visits;
  dict["filter_false_positives"] = stats.filter_false_positives;
  dict["tag_false_positives"] = stats.tag_false_positives;
  dict["line_hint"] = stats.line_hint;
  dict["hint_rounds"] = stats.hint_rounds;
  return dict;
}

constexpr const char* kTableDoc =
    R"(An exact-match table of keys and values of fixed size, used in batches.

key_bytes    bytes of a key, 1 to 64; fastest are 8, 16, 24, 32, 40 and 64
value_bytes  bytes of a value, 0 (a set of keys) to 256
capacity     slots, rounded up to two whole buckets, a multiple of 16, 6 or 4; from 4,096 on, 95 %
             of them take an entry, nearly always 99 % (inline: 90 % or 85 %); 0: by entries_max
entries_max  a promise: the table takes this many entries at once, whatever the keys; 0: none
expiry       entries live by timeouts, in ticks; else until they are erased
expiry_log   keep expired entries for take_expired()
seed         of the hash, for runs that must repeat; None: a random one, against flooding
layout       "split": a hit costs two cache lines; "inline": small keys and values stand in the
             bucket's own line; "packed": keys of up to 60 bits and values of up to 2 bytes take
             8 bytes together, without expiry; "automatic": packed where that can be, else inline
             where that costs no memory, else split
key_bits     how many bits of a key may be set, read as a number of its lowest byte first, for the
             packed layout; 0: all of them

Keys are an array whose rows have key_bytes bytes: (n, key_bytes) of uint8, (n,) of an integer,
void or structured dtype with itemsize key_bytes, or (n, 2) of uint64 for 16 bytes. They are
compared by their bytes, padding included. Values likewise, of any fixed-size dtype. Arrays are
used where they are and must be C-contiguous; one that is not, has the wrong size or may not be
written where it must be is a ValueError. New value arrays are (n, value_bytes) of uint8: view()
them as what they are.

Hits are (n,) of bool, or (hit_words(n),) of uint64 when `hits` is such an array: then hit i is
bit i % 64 of word i // 64.

Batches run without the interpreter's lock: other threads go on, and those that want the same
table wait their turn. Arrays must not be written meanwhile.

Raises ValueError for a configuration that cannot be, MemoryError for one that does not fit.)";

void bind_making(nb::class_<Table>& table) {
  table.def(
      "__init__",
      [](Table* self, uint32_t key_bytes, uint32_t value_bytes, uint64_t capacity,
         uint64_t entries_max, bool expiry, bool expiry_log, std::optional<uint64_t> seed,
         const std::string& layout, uint32_t key_bits) {
        new (self) Table({.key_bytes = key_bytes,
                          .value_bytes = value_bytes,
                          .capacity = capacity,
                          .entries_max = entries_max,
                          .expiry = expiry,
                          .expiry_log = expiry_log,
                          .seed = seed,
                          .layout = layout,
                          .key_bits = key_bits});
      },
      "key_bytes"_a, "value_bytes"_a = 0, nb::kw_only(), "capacity"_a = 0, "entries_max"_a = 0,
      "expiry"_a = false, "expiry_log"_a = false, "seed"_a = nb::none(), "layout"_a = "automatic",
      "key_bits"_a = 0);
}

void bind_lookups(nb::class_<Table>& table) {
  table.def("lookup", &Table::lookup, "keys"_a, nb::kw_only(), "out"_a = nb::none(),
            "hits"_a = nb::none(), R"(Looks keys up and copies their values out: (values, hits).

Values go to `out`, whose rows have value_bytes bytes, or to a new array. Rows of keys that are
not there stay as they are; in a new array they are zero.)");
  table.def("contains", &Table::contains, "keys"_a, nb::kw_only(), "hits"_a = nb::none(),
            "Answers which keys are there: hits.");
  table.def("refresh", &Table::refresh, "keys"_a, "timeouts"_a = nb::none(), nb::kw_only(),
            "hits"_a = nb::none(), R"(Gives the entries that are there a new time to live: hits.

`timeouts` are ticks from now, 0 to 1023 (more becomes 1023): an int for all, or (n,) of uint32;
None: 1023.)");
}

void bind_changes(nb::class_<Table>& table) {
  table.def("insert", &Table::insert, "keys"_a, "values"_a = nb::none(), "timeouts"_a = nb::none(),
            nb::kw_only(), "outcomes"_a = nb::none(),
            R"(Creates entries, or gives existing ones the new value and timeout: outcomes.

Outcomes are (n,) of uint8: Outcome.INSERTED, UPDATED, or FULL, for which there was no place.
They go to `outcomes`, or to a new array. Equal keys act in their order. `timeouts` as in
refresh(); `values` may be None when value_bytes is 0.)");
  table.def("upsert", &Table::upsert, "keys"_a, "values"_a = nb::none(), "timeouts"_a = nb::none(),
            nb::kw_only(), "outcomes"_a = nb::none(),
            R"(Creates the entries that are missing: outcomes, INSERTED, EXISTING or FULL.

Where a key exists, its entry stays as it is, its timeout too, and its row of `values`, which is
written, becomes what the table holds.)");
  table.def("erase", &Table::erase, "keys"_a, nb::kw_only(), "hits"_a = nb::none(),
            "Removes entries: hits, for the keys that were there.");
  table.def("clear", &Table::clear, "Drops every entry. Time linear in the capacity.");
  table.def(
      "scan",
      [](nb::typed<nb::object, Table> self, size_t chunk, std::optional<uint64_t> buckets) {
        if (chunk == 0) raise(PyExc_ValueError, "chunk: at least one entry a step");
        if (buckets == 0) raise(PyExc_ValueError, "buckets: at least one a step");
        return Scan{std::move(self), chunk, buckets.value_or(UINT64_MAX)};
      },
      "chunk"_a = 65536, nb::kw_only(), "buckets"_a = nb::none(),
      R"(Walks over the live entries: (keys, values) of up to `chunk` a step.

A step looks at no more than `buckets` buckets, if that is given, and may find no entry in them: so
a step takes a bounded time however few entries there are.

Both are new arrays of uint8, (m, key_bytes) and (m, value_bytes). Entries that stay during the
whole walk come at least once, and erasing on the way is safe. An insert on the way may move an
entry, which then comes twice or not at all.)");
}

void bind_time(nb::class_<Table>& table) {
  table.def("advance", &Table::advance, "now"_a,
            R"(Moves the table's time, in ticks; an expired entry simply stops being found.

Raises ValueError for a time in the past. Warns (RuntimeWarning) when it lies past scan_deadline:
then entries that expired long ago may be found again.)");
  table.def_prop_ro("now", &Table::now, "The table's time in ticks; 0 at first.");
  table.def("maintain", &Table::maintain, "buckets"_a = nb::none(),
            R"(Frees what has expired in the next so many buckets; how many entries that were.

None: in all. It goes on where it stopped, and must get through all by scan_deadline.)");
  table.def_prop_ro("scan_deadline", &Table::scan_deadline,
                    "The time in ticks by which maintain() must have seen every bucket.");
  table.def("take_expired", &Table::take_expired,
            R"(The entries that expired since the last call: (keys, values).

Both are new arrays of uint8, in the order in which an insert or maintain() came upon them.
Only with expiry_log=True.)");
}

void bind_introspection(nb::class_<Table>& table) {
  table.def("info", &info_of,
            "What the table is: capacity in slots, memory in bytes, pages, kernel and so on.");
  table.def("stats", &stats_of, R"(How the table does: counts since its creation.

entry_count holds the live entries and the expired ones not yet freed, `stashed` those of them in
the stash that entries_max takes; created == entry_count + erased + expired.
path_lengths[n] counts the inserts that moved n entries, moved_histogram[n] the buckets with n
entries in their secondary or the stash, its last field also those with more: arrays of
uint64. Constant time.)");
  table.def(
      "occupancy", [](Table& self) { return histogram(self.occupancy()); },
      R"(How full the buckets are: an array of 9 uint64.

Field n counts the buckets that hold n entries, expired ones not yet freed included. Time linear
in the capacity.)");
  table.def("audit", &Table::audit, R"(Checks every invariant; raises RuntimeError for a broken one.

Time linear in the capacity; takes 24 bytes a bucket meanwhile, but of a packed table nothing.)");
  table.def("dump_bucket", &Table::dump_bucket, "bucket"_a,
            "A bucket in words. Raises IndexError from info()['bucket_count'] on.");
  table.def(
      "__len__", [](Table& self) { return self.stats().entry_count; },
      "Entries held: live ones, and expired ones not yet freed.");
  table.def("__repr__", [](Table& self) {
    const roost_info info = self.info();
    return "<roost.Table: " + std::to_string(self.stats().entry_count) + " of " +
           std::to_string(info.capacity) + " slots, keys of " + std::to_string(info.key_bytes) +
           " and values of " + std::to_string(info.value_bytes) + " bytes>";
  });
}

}  // namespace
}  // namespace roost::python

using namespace roost::python;

NB_MODULE(_roost, module) {
  module.attr("__version__") = roost_version();
  module.def(
      "hit_words", [](size_t count) { return ROOST_HIT_WORDS(count); }, "count"_a,
      "How many uint64 words hold the hits of `count` keys.");
  nb::enum_<roost_outcome>(module, "Outcome", nb::is_arithmetic(),
                           "What became of one key of an insert or upsert.")
      .value("INSERTED", ROOST_INSERTED, "A new entry was created.")
      .value("UPDATED", ROOST_UPDATED, "Insert: the key was there and has the new value.")
      .value("EXISTING", ROOST_EXISTING, "Upsert: the key was there and is unchanged.")
      .value("FULL", ROOST_FULL, "There is no place for the key; the table is as it was.")
      .value("WIDE_KEY", ROOST_WIDE_KEY, "The key has bits beyond key_bits; likewise.");
  nb::class_<Table> table(module, "Table", kTableDoc);
  bind_making(table);
  bind_lookups(table);
  bind_changes(table);
  bind_time(table);
  bind_introspection(table);
  nb::class_<Scan>(module, "Scan", "A walk over a table; see Table.scan().")
      .def(
          "__iter__", [](nb::handle self) { return nb::borrow(self); },
          nb::sig("def __iter__(self) -> Scan"))
      .def("__next__", &Scan::next);
  bind_maps(module);
}
