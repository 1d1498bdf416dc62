// A value-only table as Python sees it: roost_map.h's functions on arrays.
//
// The interpreter's lock is given back while one works. Changes take turns by a lock of its own;
// lookups have a reader each, and run beside one another and beside changes.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <roost.h>
#include <roost_map.h>
#include "bindings/python/src/answers.h"

namespace roost::python {

struct MapDeleter {
  void operator()(roost_map* map) const { roost_map_destroy(map); }
  void operator()(roost_map_reader* reader) const { roost_map_reader_destroy(reader); }
};
using MapReader = std::unique_ptr<roost_map_reader, MapDeleter>;

// Readers for whoever looks keys up; those that nobody uses are paused.
class MapReaders {
 public:
  // One reader, for the thread that has this.
  class Loan {
   public:
    Loan(MapReaders* from, MapReader reader) : from_(from), reader_(std::move(reader)) {}
    Loan(const Loan&) = delete;
    Loan& operator=(const Loan&) = delete;
    ~Loan() { from_->take_back(std::move(reader_)); }

    [[nodiscard]] roost_map_reader* reader() const { return reader_.get(); }

   private:
    MapReaders* from_;
    MapReader reader_;
  };

  // Raises MemoryError; for a thread that has the interpreter's lock.
  [[nodiscard]] Loan lend(roost_map* map);

 private:
  void take_back(MapReader reader);

  std::mutex mutex_;
  std::vector<MapReader> idle_;
  size_t count_ = 0;
};

class Map {
 public:
  struct Wishes {
    std::string kind;
    uint32_t key_bits;
    uint32_t value_bits;
    uint32_t fingerprint_bits;
    std::optional<double> load;
    std::optional<double> growth;
    std::string insertion;
    bool keeps_keys;
    bool big_endian;
    std::optional<uint64_t> seed;
  };

  Map(const ArrayObject& keys, const ArrayObject& values, const Wishes& wishes);

  // Batches; module_maps.cc says what they mean.
  ArrayPair lookup(const ArrayObject& keys, const ArrayObject& out, const ArrayObject& maybe);
  ArrayPair find(const ArrayObject& keys, const ArrayObject& out, const ArrayObject& hits);
  ArrayObject insert(const ArrayObject& keys, const ArrayObject& values,
                     const ArrayObject& outcomes);
  ArrayObject update(const ArrayObject& keys, const ArrayObject& values,
                     const ArrayObject& outcomes);
  ArrayObject erase(const ArrayObject& keys, const ArrayObject& outcomes);

  void rebuild(std::optional<double> load);
  uint64_t key_count();
  roost_map_figures report();
  void audit();
  ArrayObject export_image();

  [[nodiscard]] const roost_map_config& config() const { return config_; }

 private:
  // Runs work(map) with the builder's lock and without the interpreter's.
  template <class Work>
  auto build(Work&& work);
  [[nodiscard]] Buffer keys_of(const ArrayObject& keys) const;
  // Answers outcomes, filled by change(map, keys, values, outcomes).
  template <class Change>
  ArrayObject put(const ArrayObject& keys, const ArrayObject& values, const ArrayObject& outcomes,
                  Change&& change);

  roost_map_config config_;
  std::mutex mutex_;
  std::unique_ptr<roost_map, MapDeleter> map_;
  MapReaders readers_;  // they go before their map
};

// The image of a map, from a file.
class MapImage {
 public:
  MapImage(const std::string& path, uint32_t key_bytes, bool big_endian, bool audit);

  ArrayPair lookup(const ArrayObject& keys, const ArrayObject& out, const ArrayObject& maybe) const;

 private:
  uint32_t key_bytes_;
  MapReader reader_;
};

// Adds the classes of maps to the module.
void bind_maps(nanobind::module_& module);

}  // namespace roost::python
