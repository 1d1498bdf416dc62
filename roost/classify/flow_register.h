// The flow register (HALO): about how many flows are active, by linear counting.
//
// An array of m bits; each packet sets the one that its flow's hash names. At the end of a window
// of packets, with u bits unset, about m * ln(m / u) different flows were seen. With no bit unset
// there were too many to say: the register is saturated.
//
// Here it decides whether the exact-match cache is in use. A cache of n entries saves little when
// many more flows than n take turns, and each miss costs a probe and a replacement. And a hit costs
// as much as one lookup and a half in subtables: it saves nothing where a packet takes fewer. So
// both are asked, flows and lookups. Hysteresis: it is put out of use beyond one number, into use
// again at another one, so that what varies by its error does not flip it every window. Counting
// costs, so only some windows are counted; while the cache is out of use, when hashes are computed
// for nothing else, fewer.
//
// One a worker and cache: registers that several tables share count all their flows together.
// The estimate is good up to about twice the bits. Threads: one at a time.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace roost::classify {

class FlowRegister {
 public:
  struct Config {
    uint32_t bits = 131'072;            // a power of two from 32 up
    uint32_t window_packets = 524'288;  // at least one; fewer than the flows show too few of them
    uint32_t flows_off = 131'072;       // more than these, or saturated: out of use
    uint32_t flows_on = 65'536;         // fewer than these: in use; less than flows_off
    double lookups_off = 1.35;          // fewer of a packet, in its mean: out of use
    double lookups_on = 1.6;            // as many: in use; more than lookups_off

    // For a cache of so many entries.
    [[nodiscard]] static Config of_cache(uint32_t entries);
  };
  struct Estimate {
    double flows = 0;
    bool is_saturated = false;  // as many as `flows`, or more
  };
  static constexpr uint32_t kWindowsApart = 16;  // those that are counted, out of use
  static constexpr uint32_t kWindowsApartInUse = 2;
  static constexpr uint32_t kSamples = 7;  // of a window

  // About how many flows leave so many of a register's bits unset.
  [[nodiscard]] static Estimate estimate_of(uint32_t bits, uint32_t unset);

  // Every rule of Config must hold.
  explicit FlowRegister(const Config& config);

  // Whether the cache is to be used.
  [[nodiscard]] bool is_cache_used() const { return is_used_; }
  // Whether packets of this window are to be noted.
  [[nodiscard]] bool is_counting() const {
    return window_ % (is_used_ ? kWindowsApartInUse : kWindowsApart) == 0;
  }

  // Whether the next batch is to go past the cache, which shows what packets take without it.
  [[nodiscard]] bool is_sampling() const {
    return packets_ >= (samples_ + 1) * (config_.window_packets / (kSamples + 1));
  }

  // Notes a packet of a window that is counted, by 64 bits of its flow's hash.
  void note(uint64_t hash) {
    const uint64_t bit = hash & (config_.bits - 1);
    words_[bit / 64] |= uint64_t{1} << (bit % 64);
  }
  // Ends a batch, of which so many packets were searched for without the cache, and took so many
  // lookups in subtables; at the end of a window decides. True: the cache is put in use or out of
  // it now.
  bool end_batch(uint32_t packets, uint32_t searched, uint64_t lookups);

  // Of the bits set so far. Time linear in the bits.
  [[nodiscard]] Estimate estimate() const;
  // Of the last window that was counted.
  [[nodiscard]] Estimate last_window() const { return last_; }

 private:
  void decide();

  Config config_;
  std::vector<uint64_t> words_;
  Estimate last_{};
  uint32_t packets_ = 0;   // of this window
  uint32_t samples_ = 0;   // batches of it
  uint64_t searched_ = 0;  // packets of this window
  uint64_t lookups_ = 0;   // of those
  uint32_t window_ = 0;
  bool is_used_ = true;
};

}  // namespace roost::classify
