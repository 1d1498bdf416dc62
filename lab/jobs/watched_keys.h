// What lookups may answer while a writer changes keys: how many changes of a key had ended before a
// lookup began, and how many have begun when it has ended. An answer that is none of those between
// is stale or wrong.
//
// Changes are counted modulo 256; no key changes nearly so often during a lookup.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace roost::lab {

class WatchedKeys {
  using Count = std::atomic<uint8_t>;

 public:
  explicit WatchedKeys(size_t key_count)
      : begun_(std::make_unique<Count[]>(key_count)),
        ended_(std::make_unique<Count[]>(key_count)) {}

  // --- The writer's, around each change of a key. ---

  [[nodiscard]] uint8_t changes(size_t key) const {
    return begun_[key].load(std::memory_order_relaxed);
  }
  // The number of the change. Pairs with allows().
  uint8_t begin(size_t key) {
    const auto number = static_cast<uint8_t>(changes(key) + 1);
    begun_[key].store(number, std::memory_order_release);
    return number;
  }
  // Pairs with before().
  void end(size_t key) { ended_[key].store(changes(key), std::memory_order_release); }

  // --- A reader's. ---

  // To be asked before a lookup.
  [[nodiscard]] uint8_t before(size_t key) const {
    return ended_[key].load(std::memory_order_acquire);
  }
  // Whether, after a lookup, an answer may be that of this number of changes.
  [[nodiscard]] bool allows(size_t key, uint8_t before, uint8_t number) const {
    return static_cast<uint8_t>(number - before) <= span(key, before);
  }
  // Of keys that come and go, and are there after an odd number of changes.
  [[nodiscard]] bool allows_presence(size_t key, uint8_t before, bool is_there) const {
    return span(key, before) != 0 || (before % 2 != 0) == is_there;
  }

 private:
  [[nodiscard]] uint8_t span(size_t key, uint8_t before) const {
    return static_cast<uint8_t>(begun_[key].load(std::memory_order_acquire) - before);
  }

  std::unique_ptr<Count[]> begun_;
  std::unique_ptr<Count[]> ended_;
};

}  // namespace roost::lab
