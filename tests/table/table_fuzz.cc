// Mirrored operations chosen by a fuzzer's bytes, over one configuration a first byte.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string_view>

#include "tests/table/mirror.h"

namespace roost {
namespace {

// Two bytes a choice; when they run out, the run ends.
class Bytes {
 public:
  Bytes(const uint8_t* data, size_t size) : next_(data), end_(data + size) {}
  [[nodiscard]] bool are_left() const { return next_ != end_; }
  uint64_t operator()(uint64_t count) { return (uint64_t{take()} << 8 | take()) % count; }

 private:
  uint8_t take() { return next_ == end_ ? uint8_t{0} : *next_++; }
  const uint8_t* next_;
  const uint8_t* end_;
};

void require(const std::optional<std::string_view>& wrong) {
  if (!wrong) return;
  static_cast<void>(std::fprintf(stderr, "%.*s\n", static_cast<int>(wrong->size()), wrong->data()));
  std::abort();
}

template <class MirrorType>
void run(uint64_t capacity, uint64_t key_universe, Bytes bytes) {
  MirrorType mirror(capacity, key_universe, isa_best());
  while (bytes.are_left()) require(mirror.step(bytes));
  require(mirror.settle());
}

}  // namespace
}  // namespace roost

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace roost;
  if (size == 0) return 0;
  const Bytes bytes(data + 1, size - 1);
  switch (data[0] % 6) {
    case 0:
      run<Mirror<Key16, Value<16>, SlotTimers, FilteredProbing, KeyedHash>>(64, 90, bytes);
      break;
    case 1:
      run<Mirror<Key40, Value<8>, SlotTimers, FilteredProbing, KeyedHash>>(48, 70, bytes);
      break;
    case 2:
      run<Mirror<Key16, Value<4>, NoExpiry, FilteredProbing, KeyedHash>>(64, 90, bytes);
      break;
    case 3:
      run<Mirror<Key16, Value<0>, SlotTimers, OptimisticProbing, KeyedHash>>(32, 50, bytes);
      break;
    case 4:
      run<Mirror<Key16, Value<16>, SlotTimers, FilteredProbing, ConstantHash>>(64, 40, bytes);
      break;
    default:
      run<Mirror<Key40, Value<16>, SlotTimers, FilteredProbing, OneTagHash>>(64, 90, bytes);
      break;
  }
  return 0;
}
