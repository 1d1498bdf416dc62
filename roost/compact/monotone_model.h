// A model of where sorted keys lie: key -> bucket, never falling as keys rise (PAR-01).
//
// All kinds are straight lines between some of the keys. They differ in how the line of a key is
// found:
//
//   RMI      by one more line over all keys, so the lines' keys are evenly spaced
//   spline   by the key's first bits and a search among the lines that have them; lines begin where
//            they must, so that no key is further from its place than an error
//   steps    found as a spline's; each line is level and a bucket's, and begins at the number
//            between two keys that most zeros trail: what a switch matches by prefixes
//
// All arithmetic is in integers of 64 bits, without a division, so every target gives the same
// answer. A line never passes the begin of the next one: buckets do not fall at borders.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

namespace roost::compact {

enum class ModelKind : uint32_t { kRmi, kSpline, kSteps };

// Places of keys are buckets with so many bits behind the point.
inline constexpr unsigned kFractionBits = 16;

// A line from its key on: place = place + ((key - its key) >> key_shift) * slope >> slope_shift.
// The first factor is below 2^32.
struct ModelLine {
  uint64_t key = 0;
  uint64_t place = 0;
  uint32_t slope = 0;
  uint8_t key_shift = 0;
  uint8_t slope_shift = 0;
  uint16_t zero = 0;
};
static_assert(sizeof(ModelLine) == 24);

// What of a model is not in its arrays.
struct ModelHead {
  ModelKind kind = ModelKind::kRmi;
  uint32_t line_count = 0;    // behind them stands one more, which is the end
  uint32_t prefix_count = 0;  // but of an RMI; behind them stands one more
  uint32_t root_slope = 0;    // of an RMI: line = ((key - first) >> root_shift) * slope >> 32
  uint32_t root_shift = 0;    // of others: what is behind the first bits
  uint32_t scale_bits = 0;    // but of an RMI: see prefix_of()
  uint64_t first_key = 0;
  uint64_t last_key = 0;
};
static_assert(sizeof(ModelHead) == 40);

// The first bits of how far a key is from the first one. Where there are bits of a scale, those and
// the power of two that they stand behind, as in a number with a floating point: as many prefixes
// for each power, so that of keys that crowd at one end few lines have the same.
[[nodiscard]] constexpr uint64_t prefix_of(const ModelHead& head, uint64_t run) {
  run >>= head.root_shift;
  if (head.scale_bits == 0) return run;
  const int above = static_cast<int>(std::bit_width(run)) - static_cast<int>(head.scale_bits) - 1;
  const auto power = static_cast<unsigned>(std::max(above, 0));
  return (uint64_t{power} << head.scale_bits) + (run >> power);
}

// Borrows its arrays.
class MonotoneModel {
 public:
  // `prefixes`: but of an RMI, by first bits the last line that begins at or before them.
  MonotoneModel(const ModelHead& head, const ModelLine* lines, const uint32_t* prefixes)
      : head_(head), lines_(lines), prefixes_(prefixes) {}

  // Keys beyond the last one, or before the first one, have those's buckets.
  [[nodiscard]] uint64_t bucket_of(uint64_t key) const { return place_of(key) >> kFractionBits; }
  [[nodiscard]] uint64_t place_of(uint64_t key) const {
    key = std::clamp(key, head_.first_key, head_.last_key);
    const ModelLine& line = lines_[line_of(key)];
    if (key <= line.key) return line.place;
    const uint64_t run = (key - line.key) >> line.key_shift;
    return std::min(line.place + (run * line.slope >> line.slope_shift), (&line)[1].place);
  }

  [[nodiscard]] const ModelHead& head() const { return head_; }
  [[nodiscard]] std::span<const ModelLine> lines() const {
    return {lines_, size_t{head_.line_count} + 1};
  }
  [[nodiscard]] std::span<const uint32_t> prefixes() const {
    return {prefixes_, head_.kind == ModelKind::kRmi ? 0 : size_t{head_.prefix_count} + 1};
  }
  // Bytes of its arrays.
  [[nodiscard]] static uint64_t bytes_of(const ModelHead& head) {
    const uint64_t prefixes = head.kind == ModelKind::kRmi ? 0 : uint64_t{head.prefix_count} + 1;
    return (uint64_t{head.line_count} + 1) * sizeof(ModelLine) + prefixes * sizeof(uint32_t);
  }

 private:
  // The key lies between the first and the last one.
  [[nodiscard]] uint64_t line_of(uint64_t key) const {
    const uint64_t run = key - head_.first_key;
    if (head_.kind == ModelKind::kRmi) return (run >> head_.root_shift) * head_.root_slope >> 32;
    const uint64_t prefix = prefix_of(head_, run);
    uint64_t line = prefixes_[prefix];
    uint64_t past = prefixes_[prefix + 1] + uint64_t{1};
    while (past - line > 1) {
      const uint64_t middle = line + (past - line) / 2;
      (lines_[middle].key <= key ? line : past) = middle;
    }
    return line;
  }

  ModelHead head_;
  const ModelLine* lines_;
  const uint32_t* prefixes_;
};

}  // namespace roost::compact
