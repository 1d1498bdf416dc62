// An array that Python lends: its memory, held in place and checked, never copied.
//
// It comes through the buffer protocol, which knows every fixed-size dtype that numpy has,
// structured ones included, where DLPack knows numbers only.
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace roost::python {

// Raises `type` with `text`.
[[noreturn]] void raise(PyObject* type, const std::string& text);

// What is done with an array's elements.
enum class Access { kRead, kWrite };

// The memory of an array for as long as this lives. A row is all that stands behind one first
// index. Created and destroyed with the interpreter's lock; the memory may be used without it.
class Buffer {
 public:
  // Raises TypeError for what is no array, and ValueError for one that would have to be copied or
  // may not be written; `name` is what the caller knows the array by.
  Buffer(nanobind::handle array, const char* name, Access access);

  // Raise ValueError unless it is so.
  void require_rows(size_t count) const;
  void require_row_bytes(size_t bytes) const;
  void require_no_floats() const;

  [[nodiscard]] size_t row_bytes() const;
  [[nodiscard]] size_t rows() const { return static_cast<size_t>(view_->shape[0]); }
  [[nodiscard]] std::byte* data() const { return static_cast<std::byte*>(view_->buf); }
  // Whether it is an aligned list of numbers of one of these types (letters of Python's module
  // `struct`).
  [[nodiscard]] bool is_list_of(std::string_view types, size_t item_bytes) const;

  [[noreturn]] void refuse(const std::string& why) const;

 private:
  struct Release {
    void operator()(Py_buffer* view) const {
      PyBuffer_Release(view);
      delete view;
    }
  };

  // Whether a type of `letters` is among those of the elements.
  [[nodiscard]] bool mentions(std::string_view letters) const;

  const char* name_;
  std::unique_ptr<Py_buffer, Release> view_;  // not by value: some exporters point into it
};

}  // namespace roost::python
