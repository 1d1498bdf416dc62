#include "bindings/python/src/answers.h"

#include <string>

namespace nb = nanobind;

namespace roost::python {
namespace {

ArrayObject new_array(const char* function, const nb::tuple& shape, const char* dtype) {
  return nb::borrow<ArrayObject>(nb::module_::import_("numpy").attr(function)(shape, dtype));
}

ArrayObject new_list(size_t rows, const char* dtype) {
  return new_array("empty", nb::make_tuple(rows), dtype);
}

bool is_given(const nb::object& argument) { return argument.is_valid() && !argument.is_none(); }

}  // namespace

Timeouts::Timeouts(const TimeoutsObject& given, size_t lane_count, bool table_expires) {
  if (!is_given(given)) return;
  if (!table_expires) {
    raise(PyExc_ValueError,
          "timeouts: this table's entries do not expire; leave them out, or create the table with "
          "expiry=True");
  }
  if (const auto number = nb::steal(PyNumber_Index(given.ptr())); number.is_valid()) {
    if (!nb::try_cast(number, all_)) {
      raise(PyExc_ValueError,
            "timeouts: " + std::string(nb::str(number).c_str()) +
                " is no number of ticks; give 0 to 1023, or a uint32 array with one a key");
    }
    return;
  }
  PyErr_Clear();
  each_.emplace(given, "timeouts", Access::kRead);
  if (!each_->is_list_of("IL", sizeof(uint32_t)))
    each_->refuse("not ticks; give an int, or an array of uint32 with one a key");
  each_->require_rows(lane_count);
}

Rows::Rows(const ArrayObject& given, const char* name, size_t lane_count, size_t row_bytes)
    : array(is_given(given) ? given
                            : new_array("zeros", nb::make_tuple(lane_count, row_bytes), "uint8")),
      buffer(array, name, Access::kWrite) {
  buffer.require_row_bytes(row_bytes);
  buffer.require_rows(lane_count);
}

Rows::Rows(const ArrayObject& given, const char* name, size_t lane_count)
    : array(is_given(given) ? given : new_list(lane_count, "uint8")),
      buffer(array, name, Access::kWrite) {
  if (!buffer.is_list_of("B", 1)) buffer.refuse("no outcomes; give (n,) of uint8");
  buffer.require_rows(lane_count);
}

Numbers::Numbers(const ArrayObject& given, const char* name, size_t lane_count)
    : array(is_given(given) ? given : new_array("zeros", nb::make_tuple(lane_count), "uint32")),
      buffer(array, name, Access::kWrite) {
  if (!buffer.is_list_of("IL", sizeof(uint32_t))) buffer.refuse("no values; give (n,) of uint32");
  buffer.require_rows(lane_count);
}

Hits::Hits(const ArrayObject& given, const char* name, size_t lane_count)
    : lane_count_(lane_count),
      array_(is_given(given) ? given : new_list(lane_count, "bool")),
      buffer_(array_, name, Access::kWrite),
      is_packed_(buffer_.is_list_of("QL", sizeof(uint64_t))) {
  if (is_packed_) {
    const size_t words = ROOST_HIT_WORDS(lane_count);
    if (buffer_.rows() != words) {
      buffer_.refuse(std::to_string(buffer_.rows()) + " words for " + std::to_string(lane_count) +
                     " keys; give hit_words(n) of them, here " + std::to_string(words));
    }
  } else if (buffer_.is_list_of("?", sizeof(bool))) {
    buffer_.require_rows(lane_count);
  } else {
    buffer_.refuse("neither bools nor words; give (n,) of bool, or (hit_words(n),) of uint64");
  }
}

}  // namespace roost::python
