// What goes with a batch of keys and comes back from it: timeouts, rows and hits, in arrays of the
// caller's or in new ones.
#pragma once

#include <nanobind/nanobind.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

#include <roost.h>
#include "bindings/python/src/buffer.h"

namespace roost::python {

// Arguments as type checkers see them; what they are is found out by Buffer.
constexpr bool anything(PyObject* /*object*/) { return true; }
class ArrayObject : public nanobind::object {
  NB_OBJECT_DEFAULT(ArrayObject, object, "numpy.ndarray", anything)
};
using ArrayPair = nanobind::typed<nanobind::tuple, ArrayObject, ArrayObject>;
class TimeoutsObject : public nanobind::object {
  NB_OBJECT_DEFAULT(TimeoutsObject, object, "int | numpy.ndarray", anything)
};

// Ticks to live: nothing, a number for all lanes, or one a lane.
class Timeouts {
 public:
  Timeouts(const TimeoutsObject& given, size_t lane_count, bool table_expires);

  // Those of the lanes from `first_lane` on.
  [[nodiscard]] roost_timeouts from(size_t first_lane) const {
    if (!each_) return {.each = nullptr, .all = all_};
    return {.each = reinterpret_cast<const uint32_t*>(each_->data()) + first_lane, .all = 0};
  }

 private:
  std::optional<Buffer> each_;
  uint32_t all_ = UINT32_MAX;  // as long as can be
};

// A row a lane in the caller's array, or in a new one of uint8: of row_bytes zeros, or one byte.
struct Rows {
  Rows(const ArrayObject& given, const char* name, size_t lane_count, size_t row_bytes);
  Rows(const ArrayObject& given, const char* name, size_t lane_count);

  ArrayObject array;
  Buffer buffer;
};

// A number a lane in the caller's array, or in a new one of zeros.
struct Numbers {
  Numbers(const ArrayObject& given, const char* name, size_t lane_count);

  [[nodiscard]] uint32_t* data() const { return reinterpret_cast<uint32_t*>(buffer.data()); }

  ArrayObject array;
  Buffer buffer;
};

// Hits in the caller's array or a new one: a bool a lane, or the C interface's words.
class Hits {
 public:
  Hits(const ArrayObject& given, const char* name, size_t lane_count);

  [[nodiscard]] const ArrayObject& array() const { return array_; }

  // Fills them by call(first lane, lane count, hit words), for as many lanes at a time as fit: all,
  // or few enough for words on the stack to become bools. Needs no interpreter.
  template <class Call>
  void fill(Call&& call) {
    if (is_packed_) {
      call(size_t{0}, lane_count_, reinterpret_cast<uint64_t*>(buffer_.data()));
      return;
    }
    constexpr size_t kLanesMax = 8192;
    uint64_t words[ROOST_HIT_WORDS(kLanesMax)];
    for (size_t first = 0; first < lane_count_; first += kLanesMax) {
      const size_t count = std::min(kLanesMax, lane_count_ - first);
      call(first, count, words);
      for (size_t lane = 0; lane < count; ++lane)
        buffer_.data()[first + lane] = std::byte{roost_is_hit(words, lane)};
    }
  }

 private:
  size_t lane_count_;
  ArrayObject array_;
  Buffer buffer_;
  bool is_packed_;
};

}  // namespace roost::python
