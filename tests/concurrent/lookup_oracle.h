// What lookups of a changing table may answer, key by key: one writer says what it does with each
// key, and every answer is held against what it had done before the lookup and had begun after it.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string_view>

namespace roost {

// Keys are numbers below a count; each value that a key gets is the next of its generations, from 1
// on, and says whose it is by its lowest bits. A 16-bit value has room for kGenerations.
class LookupOracle {
 public:
  static constexpr uint32_t kGenerations = 4'095;

  explicit LookupOracle(uint64_t key_count) : keys_(std::make_unique<Of[]>(key_count)) {}

  [[nodiscard]] static uint16_t value(uint64_t key, uint32_t generation) {
    return static_cast<uint16_t>(generation << 4 | (key & 15));
  }

  // --- The writer: a call before each change and one after it. ---

  // The value that a key gets next, or 0 when it has had them all.
  uint16_t begin_insert(uint64_t key) {
    Of& of = keys_[key];
    if (of.begun == kGenerations) return 0;
    ++of.begun;
    return value(key, of.begun);
  }
  void end_insert(uint64_t key, bool is_in) {
    Of& of = keys_[key];
    if (!is_in) {
      --of.begun;
      return;
    }
    of.done = of.begun.load();
    if (of.life == 0) of.life = of.begun.load();
  }
  void begin_erase(uint64_t key) { keys_[key].life = 0; }
  void end_erase(uint64_t key) { keys_[key].gone = keys_[key].begun.load(); }
  [[nodiscard]] bool is_in(uint64_t key) const { return keys_[key].life != 0; }

  // --- Readers. ---

  // Before a lookup.
  struct Before {
    uint32_t least;  // the oldest generation that may be found
    uint32_t life;   // the generation in which it came, if it is there
  };
  [[nodiscard]] Before before(uint64_t key) const {
    const Of& of = keys_[key];
    const uint32_t gone = of.gone;
    const uint32_t done = of.done;
    return {done > gone ? done : gone + 1, of.life};
  }
  // After it: what is wrong with the answer, or nothing.
  [[nodiscard]] std::string_view check(uint64_t key, Before before, bool is_hit,
                                       uint16_t answer) const {
    const Of& of = keys_[key];
    if (!is_hit) return before.life != 0 && of.life == before.life ? "lost" : "";
    if ((answer & 15) != (key & 15)) return "another key's value";
    const uint32_t generation = answer >> 4;
    if (generation < before.least) return "a value that was gone or replaced before";
    if (generation > of.begun) return "a value that was never written";
    return "";
  }

 private:
  // Sequentially consistent: this is no part of what is tested.
  struct Of {
    std::atomic<uint32_t> begun{0};  // the newest generation that was begun
    std::atomic<uint32_t> done{0};   // the newest that is in the table
    std::atomic<uint32_t> gone{0};   // the newest that was erased
    std::atomic<uint32_t> life{0};   // the generation in which it came, 0 from its erasure on
  };

  std::unique_ptr<Of[]> keys_;
};

}  // namespace roost
