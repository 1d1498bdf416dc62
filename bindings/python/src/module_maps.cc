// The module's names for value-only tables, their Python signatures and what help() says of them.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <new>

#include "bindings/python/src/map.h"

namespace nb = nanobind;
using nb::literals::operator""_a;

namespace roost::python {
namespace {

nb::dict report_of(Map& map) {
  const roost_map_figures report = map.report();
  nb::dict dict;
  dict["key_count"] = report.key_count;
  dict["image_bytes"] = report.image_bytes;
  dict["builder_bytes"] = report.builder_bytes;
  if (map.config().kind == ROOST_MAP_LINE) {
    nb::list levels;
    for (uint64_t level = 0; level < report.level_count; ++level)
      levels.append(report.keys_by_level[level]);
    dict["keys_by_level"] = levels;
    return dict;
  }
  dict["bucket_count"] = report.bucket_count;
  dict["failed_buckets"] = report.failed_buckets;
  dict["stashed"] = report.stashed;
  dict["longest_walk"] = report.longest_walk;
  dict["model"] = report.model;
  dict["model_size"] = report.model_size;
  dict["model_bytes"] = report.model_bytes;
  return dict;
}

constexpr const char* kMapDoc =
    R"(A value-only table: what lookups read has no keys; the builder has them.

keys              (n, key_bytes) of uint8, or (n,) of a dtype of 1 to 64 bytes, as Table's
values            (n,) of uint32
kind              "line": any keys, one cache line a lookup, 26 bits a key at values of 16;
                  "parrot": keys are numbers of 1 to 8 bytes, whose order a model learns: for those
                  that lie dense or in runs
key_bits          parrot: how many of a key's bits may be set; 0: all of them
value_bits        4 to 32; the value of all ones is reserved
fingerprint_bits  0, 8, 12 or 16: one in so many powers of two of the keys that are not there gets a
                  value all the same
load              keys over slots after a build, up to 0.97 (parrot: 1); None: 0.85
growth            parrot: how large the image may grow, over what a build makes; None: 1.2
insertion         parrot: "reseed" or "stash", the paper's: where later keys and values go
keeps_keys        keys stand beside the values, and every answer is certain
big_endian        parrot: keys are numbers in network order, else lowest byte first; a dtype's own
                  order does not count
seed              of the hash, for runs that must repeat; None: a random one, against flooding

lookup() answers (values, maybe): a False is certain, a True means a value that nothing verified.
find() is certain, and slower. Both, and all else, run without the interpreter's lock. Lookups
of several threads run at the same time, also while another thread changes the map or rebuilds it;
changes take turns. Arrays must not be written meanwhile.

Raises ValueError for a configuration or an entry that cannot be, which it names by its place, or
keys that no model fits; MemoryError for what does not fit.)";

void bind_map(nb::class_<Map>& map) {
  map.def(
      "__init__",
      [](Map* self, const ArrayObject& keys, const ArrayObject& values, const std::string& kind,
         uint32_t key_bits, uint32_t value_bits, uint32_t fingerprint_bits,
         std::optional<double> load, std::optional<double> growth, const std::string& insertion,
         bool keeps_keys, bool big_endian, std::optional<uint64_t> seed) {
        new (self) Map(keys, values,
                       {.kind = kind,
                        .key_bits = key_bits,
                        .value_bits = value_bits,
                        .fingerprint_bits = fingerprint_bits,
                        .load = load,
                        .growth = growth,
                        .insertion = insertion,
                        .keeps_keys = keeps_keys,
                        .big_endian = big_endian,
                        .seed = seed});
      },
      "keys"_a, "values"_a, nb::kw_only(), "kind"_a = "line", "key_bits"_a = 0, "value_bits"_a = 16,
      "fingerprint_bits"_a = 0, "load"_a = nb::none(), "growth"_a = nb::none(),
      "insertion"_a = "reseed", "keeps_keys"_a = false, "big_endian"_a = false,
      "seed"_a = nb::none());
  map.def("lookup", &Map::lookup, "keys"_a, nb::kw_only(), "out"_a = nb::none(),
          "maybe"_a = nb::none(), R"(Looks keys up as a data plane does: (values, maybe).

Values go to `out`, (n,) of uint32, or to a new array; where maybe is False they stay as they are,
in a new array zero. `maybe` as Table's hits.)");
  map.def("find", &Map::find, "keys"_a, nb::kw_only(), "out"_a = nb::none(), "hits"_a = nb::none(),
          R"(Looks keys up where the keys are: (values, hits), all certain.

It waits its turn with those who change the map.)");
  map.def("rebuild", &Map::rebuild, nb::kw_only(), "load"_a = nb::none(),
          R"(Builds a new image of the keys as they are and takes it into use.

With another load, or as the map was built. Other threads look up and change the map meanwhile.
Raises ValueError when another thread rebuilds it already, when no model fits the keys any more,
or when what was inserted meanwhile finds no room: then the map is as if none had been begun.)");
  map.def("report", &report_of, R"(How the map does: keys, bytes of image and builder, and

keys_by_level of a line map; of parrot, buckets, failed_buckets that no seed tells apart, keys that
are stashed, the longest_walk of a lookup there, and the model that was taken. Time linear.)");
  map.def("audit", &Map::audit,
          "Checks that every key has its place; raises RuntimeError if not. Time linear.");
  map.def("export", &Map::export_image, R"(The image with its checksum: a new array of uint8.

For MapImage, `roost_map_reader_open()` of C, and others; array.tofile(path) writes it.)");
  map.def("__len__", &Map::key_count, "Keys that have a value.");
  map.def("__repr__", [](Map& self) {
    const roost_map_config& config = self.config();
    return "<roost.Map: " + std::to_string(self.key_count()) + " keys of " +
           std::to_string(config.key_bytes) + " bytes, values of " +
           std::to_string(config.value_bits) + " bits, " +
           (config.kind == ROOST_MAP_LINE ? "line" : "parrot") + ">";
  });
}

void bind_changes_of_map(nb::class_<Map>& map) {
  map.def("insert", &Map::insert, "keys"_a, "values"_a, nb::kw_only(), "outcomes"_a = nb::none(),
          R"(Gives keys a value that have none: outcomes.

Outcomes are (n,) of uint8: MapOutcome.DONE, EXISTING, TOO_WIDE, or BUCKET_FULL and NO_ROOM, after
which a rebuild() makes room.)");
  map.def("update", &Map::update, "keys"_a, "values"_a, nb::kw_only(), "outcomes"_a = nb::none(),
          "Gives keys another value: outcomes, DONE or NOT_FOUND, or as insert()'s.");
  map.def("erase", &Map::erase, "keys"_a, nb::kw_only(), "outcomes"_a = nb::none(),
          "Takes keys out: outcomes, DONE or NOT_FOUND.");
}

}  // namespace

void bind_maps(nb::module_& module) {
  nb::enum_<roost_map_outcome>(module, "MapOutcome", nb::is_arithmetic(),
                               "What became of one key of a change of a Map.")
      .value("DONE", ROOST_MAP_DONE, "Lookups see it from now on.")
      .value("NOT_FOUND", ROOST_MAP_NOT_FOUND, "Update and erase: the key is not there.")
      .value("EXISTING", ROOST_MAP_EXISTING, "Insert: the key has a value, and keeps it.")
      .value("TOO_WIDE", ROOST_MAP_TOO_WIDE,
             "Key or value has too many bits, or the value is the reserved one.")
      .value("BUCKET_FULL", ROOST_MAP_BUCKET_FULL,
             "The model no longer fits where the key belongs: rebuild().")
      .value("NO_ROOM", ROOST_MAP_NO_ROOM, "The image is as full as it may be: rebuild().");
  nb::class_<Map> map(module, "Map", kMapDoc);
  bind_map(map);
  bind_changes_of_map(map);
  nb::class_<MapImage>(module, "MapImage", R"(The image of a map, read from a file.

path        a file that Map.export() gave, or `roost_map_export()` of C
key_bytes   bytes of a key, as the map's
big_endian  as the map's
audit       look at every bucket, for files that strangers may have made

Threads may share one. Raises ValueError for a file that is no such image, or not all of it.)")
      .def(nb::init<const std::string&, uint32_t, bool, bool>(), "path"_a, "key_bytes"_a,
           nb::kw_only(), "big_endian"_a = false, "audit"_a = true)
      .def("lookup", &MapImage::lookup, "keys"_a, nb::kw_only(), "out"_a = nb::none(),
           "maybe"_a = nb::none(), "As Map.lookup(): (values, maybe).");
}

}  // namespace roost::python
