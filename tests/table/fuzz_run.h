// One run of a fuzz target over mirrored operations.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <optional>
#include <string_view>

#include "tests/table/mirror.h"

namespace roost {

// Two bytes a choice; when they run out, the run ends.
class FuzzBytes {
 public:
  FuzzBytes(const uint8_t* data, size_t size) : next_(data), end_(data + size) {}
  [[nodiscard]] bool are_left() const { return next_ != end_; }
  uint64_t operator()(uint64_t count) { return (uint64_t{take()} << 8 | take()) % count; }

 private:
  uint8_t take() { return next_ == end_ ? uint8_t{0} : *next_++; }
  const uint8_t* next_;
  const uint8_t* end_;
};

// Ends the process when something is wrong, as libFuzzer wants it.
inline void fuzz_require(const std::optional<std::string_view>& wrong) {
  if (!wrong) return;
  static_cast<void>(std::fprintf(stderr, "%.*s\n", static_cast<int>(wrong->size()), wrong->data()));
  std::abort();
}

// `mirror` is made for this run.
inline void fuzz_run(Mirror&& mirror, FuzzBytes bytes) {
  const Choose choose = std::ref(bytes);
  while (bytes.are_left()) fuzz_require(mirror.step(choose));
  fuzz_require(mirror.settle());
}

}  // namespace roost
