#include "bindings/python/src/map.h"

#include <algorithm>
#include <utility>

namespace nb = nanobind;

namespace roost::python {
namespace {

constexpr size_t kErrorBytes = 512;

void require(roost_status status, const char* error) {
  if (status == ROOST_OK) return;
  raise(status == ROOST_NO_MEMORY ? PyExc_MemoryError : PyExc_ValueError, error);
}

uint32_t kind_of(const std::string& name) {
  if (name == "line") return ROOST_MAP_LINE;
  if (name == "parrot") return ROOST_MAP_PARROT;
  raise(PyExc_ValueError, "kind is \"" + name + "\"; it is \"line\" or \"parrot\"");
}

uint32_t insertion_of(const std::string& name) {
  if (name == "reseed") return ROOST_MAP_RESEED;
  if (name == "stash") return ROOST_MAP_STASH;
  raise(PyExc_ValueError, "insertion is \"" + name + "\"; it is \"reseed\" or \"stash\"");
}

roost_map_config config_of(const Map::Wishes& wishes, size_t key_bytes) {
  roost_map_config config;
  roost_map_config_init(&config, sizeof(config));
  config.kind = kind_of(wishes.kind);
  config.key_bytes = static_cast<uint32_t>(std::min<size_t>(key_bytes, UINT32_MAX));
  config.key_bits = wishes.key_bits;
  config.value_bits = wishes.value_bits;
  config.fingerprint_bits = wishes.fingerprint_bits;
  config.insertion = insertion_of(wishes.insertion);
  config.load = wishes.load.value_or(0);
  config.growth = wishes.growth.value_or(0);
  config.keeps_keys = wishes.keeps_keys;
  config.is_big_endian = wishes.big_endian;
  config.has_hash_seed = wishes.seed.has_value();
  config.hash_seed = wishes.seed.value_or(0);
  return config;
}

Buffer whole_keys(const ArrayObject& keys) {
  Buffer buffer(keys, "keys", Access::kRead);
  buffer.require_no_floats();
  return buffer;
}

Buffer values_of(const ArrayObject& values, size_t count) {
  Buffer buffer(values, "values", Access::kRead);
  if (!buffer.is_list_of("IL", sizeof(uint32_t)))
    buffer.refuse("not (n,) of uint32; give values.astype('u4')");
  buffer.require_rows(count);
  return buffer;
}

const uint32_t* numbers(const Buffer& buffer) {
  return reinterpret_cast<const uint32_t*>(buffer.data());
}

// `count` lanes of `keys` from `first` on.
roost_keys lanes(const Buffer& keys, size_t key_bytes, size_t first, size_t count) {
  roost_keys lanes{};
  lanes.keys = keys.data() + first * key_bytes;
  lanes.count = count;
  return lanes;
}

// Looks keys up without the interpreter's lock by look(lanes, values, words).
template <class Look>
void look_up(const Buffer& keys, size_t key_bytes, const Numbers& values, Hits& bits, Look&& look) {
  const nb::gil_scoped_release others_run;
  bits.fill([&](size_t first, size_t count, uint64_t* words) {
    const roost_keys batch = lanes(keys, key_bytes, first, count);
    look(&batch, values.data() + first, words);
  });
}

}  // namespace

MapReaders::Loan MapReaders::lend(roost_map* map) {
  MapReader reader;
  {
    const std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      reader = std::move(idle_.back());
      idle_.pop_back();
    } else {
      idle_.reserve(++count_);  // room for all of them, so that none is lost on its way back
    }
  }
  if (reader) {
    roost_map_reader_resume(reader.get());
  } else {
    roost_map_reader* created = nullptr;
    char error[kErrorBytes];
    require(roost_map_reader_create(map, &created, error, sizeof(error)), error);
    reader.reset(created);
  }
  return {this, std::move(reader)};
}

void MapReaders::take_back(MapReader reader) {
  roost_map_reader_pause(reader.get());
  const std::lock_guard lock(mutex_);
  idle_.push_back(std::move(reader));
}

Map::Map(const ArrayObject& keys, const ArrayObject& values, const Wishes& wishes) {
  const Buffer lane_keys = whole_keys(keys);
  const Buffer lane_values = values_of(values, lane_keys.rows());
  config_ = config_of(wishes, lane_keys.row_bytes());
  const roost_keys batch = lanes(lane_keys, lane_keys.row_bytes(), 0, lane_keys.rows());
  roost_map* map = nullptr;
  char error[kErrorBytes];
  roost_status status = ROOST_OK;
  {
    const nb::gil_scoped_release others_run;
    status = roost_map_create(&config_, &batch, numbers(lane_values), &map, error, sizeof(error));
  }
  require(status, error);
  map_.reset(map);
}

template <class Work>
auto Map::build(Work&& work) {
  const nb::gil_scoped_release others_run;
  const std::lock_guard lock(mutex_);
  return work(map_.get());
}

Buffer Map::keys_of(const ArrayObject& keys) const {
  Buffer buffer = whole_keys(keys);
  buffer.require_row_bytes(config_.key_bytes);
  return buffer;
}

ArrayPair Map::lookup(const ArrayObject& keys, const ArrayObject& out, const ArrayObject& maybe) {
  const Buffer lane_keys = keys_of(keys);
  const Numbers values(out, "out", lane_keys.rows());
  Hits bits(maybe, "maybe", lane_keys.rows());
  const MapReaders::Loan loan = readers_.lend(map_.get());
  look_up(lane_keys, config_.key_bytes, values, bits,
          [&](const roost_keys* batch, uint32_t* to, uint64_t* words) {
            roost_map_reader_lookup_unverified(loan.reader(), batch, to, words);
          });
  return ArrayPair(nb::make_tuple(values.array, bits.array()));
}

ArrayPair Map::find(const ArrayObject& keys, const ArrayObject& out, const ArrayObject& hits) {
  const Buffer lane_keys = keys_of(keys);
  const Numbers values(out, "out", lane_keys.rows());
  Hits bits(hits, "hits", lane_keys.rows());
  look_up(lane_keys, config_.key_bytes, values, bits,
          [&](const roost_keys* batch, uint32_t* to, uint64_t* words) {
            const std::lock_guard lock(mutex_);
            roost_map_find(map_.get(), batch, to, words);
          });
  return ArrayPair(nb::make_tuple(values.array, bits.array()));
}

template <class Change>
ArrayObject Map::put(const ArrayObject& keys, const ArrayObject& values,
                     const ArrayObject& outcomes, Change&& change) {
  const Buffer lane_keys = keys_of(keys);
  const size_t count = lane_keys.rows();
  const Buffer lane_values = values_of(values, count);
  const Rows became(outcomes, "outcomes", count);
  const roost_keys batch = lanes(lane_keys, config_.key_bytes, 0, count);
  build([&](roost_map* map) {
    return change(map, &batch, numbers(lane_values),
                  reinterpret_cast<uint8_t*>(became.buffer.data()));
  });
  return became.array;
}

ArrayObject Map::insert(const ArrayObject& keys, const ArrayObject& values,
                        const ArrayObject& outcomes) {
  return put(keys, values, outcomes, roost_map_insert);
}

ArrayObject Map::update(const ArrayObject& keys, const ArrayObject& values,
                        const ArrayObject& outcomes) {
  return put(keys, values, outcomes, roost_map_update);
}

ArrayObject Map::erase(const ArrayObject& keys, const ArrayObject& outcomes) {
  const Buffer lane_keys = keys_of(keys);
  const Rows became(outcomes, "outcomes", lane_keys.rows());
  const roost_keys batch = lanes(lane_keys, config_.key_bytes, 0, lane_keys.rows());
  build([&](roost_map* map) {
    return roost_map_erase(map, &batch, reinterpret_cast<uint8_t*>(became.buffer.data()));
  });
  return became.array;
}

// Its builder's lock is free while the new image is built: changes go on.
void Map::rebuild(std::optional<double> load) {
  roost_map_config config = config_;
  config.load = load.value_or(0);
  char error[kErrorBytes];
  roost_map_rebuild* rebuild = nullptr;
  require(build([&](roost_map* map) {
            return roost_map_begin_rebuild(map, load ? &config : nullptr, &rebuild, error,
                                           sizeof(error));
          }),
          error);
  {
    const nb::gil_scoped_release others_run;
    roost_map_rebuild_run(rebuild);
  }
  require(build([&](roost_map* map) { return roost_map_adopt(map, error, sizeof(error)); }), error);
}

uint64_t Map::key_count() { return build(roost_map_key_count); }

roost_map_figures Map::report() {
  roost_map_figures report{};
  report.size = sizeof(report);
  const roost_status status = build([&](roost_map* map) { return roost_map_report(map, &report); });
  require(status, "no memory to report with");
  return report;
}

void Map::audit() {
  char error[kErrorBytes];
  const roost_status status =
      build([&](roost_map* map) { return roost_map_audit(map, error, sizeof(error)); });
  if (status == ROOST_BROKEN) raise(PyExc_RuntimeError, error);
  require(status, error);
}

// What another thread changes meanwhile may make it larger: then once more.
ArrayObject Map::export_image() {
  for (uint64_t bytes = build([](roost_map* map) { return roost_map_export(map, nullptr, 0); });;) {
    const Rows image({}, "image", bytes);
    const uint64_t needed =
        build([&](roost_map* map) { return roost_map_export(map, image.buffer.data(), bytes); });
    if (needed <= bytes) {
      const nb::slice filled(nb::int_(0), nb::int_(needed), nb::none());
      return nb::borrow<ArrayObject>(image.array[filled]);
    }
    bytes = needed;
  }
}

MapImage::MapImage(const std::string& path, uint32_t key_bytes, bool big_endian, bool audit)
    : key_bytes_(key_bytes) {
  roost_map_image image;
  roost_map_image_init(&image, sizeof(image));
  image.path = path.c_str();
  image.key_bytes = key_bytes;
  image.is_big_endian = big_endian;
  image.audits = audit;
  roost_map_reader* reader = nullptr;
  char error[kErrorBytes];
  roost_status status = ROOST_OK;
  {
    const nb::gil_scoped_release others_run;
    status = roost_map_reader_open(&image, &reader, error, sizeof(error));
  }
  require(status, error);
  reader_.reset(reader);
}

ArrayPair MapImage::lookup(const ArrayObject& keys, const ArrayObject& out,
                           const ArrayObject& maybe) const {
  const Buffer lane_keys = whole_keys(keys);
  lane_keys.require_row_bytes(key_bytes_);
  const Numbers values(out, "out", lane_keys.rows());
  Hits bits(maybe, "maybe", lane_keys.rows());
  look_up(lane_keys, key_bytes_, values, bits,
          [&](const roost_keys* batch, uint32_t* to, uint64_t* words) {
            roost_map_reader_lookup_unverified(reader_.get(), batch, to, words);
          });
  return ArrayPair(nb::make_tuple(values.array, bits.array()));
}

}  // namespace roost::python
