#include "tests/capi/counted_allocations.h"

#include <cstdlib>
#include <new>

namespace roost {

uint64_t allocation_count = 0;
int64_t allocations_left = -1;

namespace {

void* counted(size_t bytes) {
  ++allocation_count;
  if (allocations_left == 0) return nullptr;
  if (allocations_left > 0) --allocations_left;
  return std::malloc(bytes);
}

}  // namespace
}  // namespace roost

// None of them is inlined: GCC would see malloc() or free() beside one of the others and take it
// for a mistake.
[[gnu::noinline]] void* operator new(size_t bytes) {
  void* memory = roost::counted(bytes);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
[[gnu::noinline]] void* operator new(size_t bytes, const std::nothrow_t& /*tag*/) noexcept {
  return roost::counted(bytes);
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, size_t /*bytes*/) noexcept {
  std::free(memory);
}
