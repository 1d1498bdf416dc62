#include "bindings/python/src/buffer.h"

#include <cstdint>

namespace nb = nanobind;

namespace roost::python {

void raise(PyObject* type, const std::string& text) {
  PyErr_SetString(type, text.c_str());
  throw nb::python_error();
}

Buffer::Buffer(nb::handle array, const char* name, Access access)
    : name_(name), view_(new Py_buffer{}) {
  if (PyObject_CheckBuffer(array.ptr()) == 0) {
    raise(PyExc_TypeError, std::string(name) + ": " + Py_TYPE(array.ptr())->tp_name +
                               " is no array; give a numpy array");
  }
  if (PyObject_GetBuffer(array.ptr(), view_.get(), PyBUF_FULL_RO) != 0) {
    nb::chain_error(PyExc_ValueError,
                    "%s: numpy does not lend this dtype; give a view of it, as in %s.view('u8')",
                    name, name);
    throw nb::python_error();
  }
  if (view_->ndim == 0) refuse("a single element; give an array, if of one row");
  if (mentions("O")) refuse("Python objects, which a table cannot keep; give fixed-size elements");
  if (PyBuffer_IsContiguous(view_.get(), 'C') == 0) {
    refuse(access == Access::kWrite
               ? "not C-contiguous, so that a copy would be written; give a whole array of its own"
               : "not C-contiguous, and nothing is copied in silence; give "
                 "numpy.ascontiguousarray(...)");
  }
  if (access == Access::kWrite && view_->readonly != 0)
    refuse("read-only, and it is to be written; give an array that may be, or a copy()");
}

void Buffer::require_rows(size_t count) const {
  if (rows() == count) return;
  refuse(std::to_string(rows()) + " rows where there are " + std::to_string(count) +
         " keys; give one row a key");
}

void Buffer::require_row_bytes(size_t bytes) const {
  if (row_bytes() == bytes) return;
  const std::string wanted = std::to_string(bytes);
  refuse("rows of " + std::to_string(row_bytes()) + " bytes where the table has " + wanted +
         "; give shape (n, " + wanted + ") of uint8, or (n,) of a dtype with itemsize " + wanted);
}

void Buffer::require_no_floats() const {
  if (!mentions("efdgZ")) return;
  refuse(
      "floats, but keys are compared by their bytes, and 0.0 and -0.0 differ in theirs; "
      "give integers, or the bytes on purpose: .view('V8')");
}

bool Buffer::is_list_of(std::string_view types, size_t item_bytes) const {
  std::string_view format = view_->format;
  if (!format.empty() && std::string_view("@=<").find(format[0]) != std::string_view::npos)
    format.remove_prefix(1);
  return view_->ndim == 1 && static_cast<size_t>(view_->itemsize) == item_bytes &&
         reinterpret_cast<uintptr_t>(data()) % item_bytes == 0 && format.size() == 1 &&
         types.find(format[0]) != std::string_view::npos;
}

void Buffer::refuse(const std::string& why) const {
  raise(PyExc_ValueError, std::string(name_) + ": " + why);
}

size_t Buffer::row_bytes() const {
  auto bytes = static_cast<size_t>(view_->itemsize);
  for (int axis = 1; axis < view_->ndim; ++axis) bytes *= static_cast<size_t>(view_->shape[axis]);
  return bytes;
}

bool Buffer::mentions(std::string_view letters) const {
  bool in_name = false;  // names of fields stand between colons
  for (const char letter : std::string_view(view_->format)) {
    if (letter == ':') in_name = !in_name;
    if (!in_name && letters.find(letter) != std::string_view::npos) return true;
  }
  return false;
}

}  // namespace roost::python
