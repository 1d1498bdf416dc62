// Our packed table, beside value-only ones: 48-bit keys and 16-bit values, whole keys compared.
//
// It has keys and values of its own types, so a call copies 32 keys at a time and widens answers.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

#include "lab/contestants/roost_flow_table.h"
#include "lab/harness/value_contestant.h"
#include "roost/base/hit_words.h"
#include "roost/base/result.h"

namespace roost::lab {

class PackedValues : public ValueAnswers<uint64_t> {
 public:
  static constexpr std::string_view kName = "roost_packed";
  static constexpr bool kKeepsKeys = true;

  static Result<PackedValues> build(const ValueTableConfig& config,
                                    ValueEntries<uint64_t> entries) {
    if (config.key_bits > traffic::Key48::kSignificantBits) return Error{"its keys have 48 bits"};
    if (config.value_bits > 16) return Error{"its values have 16 bits"};
    const double slots = static_cast<double>(entries.size()) / config.load;
    auto table = RoostPacked::create(static_cast<uint64_t>(slots), config.pages);
    if (!table) return table.error();
    PackedValues built(std::move(table).value());
    for (const ValueEntry<uint64_t>& entry : entries)
      if (!built.put(entry.key, entry.value)) return Error{"it refused a key"};
    return built;
  }

  void lookup(std::span<const uint64_t> keys, std::span<uint32_t> answers, HitWords hits) {
    std::array<traffic::Key48, kLanesMax> own_keys;
    std::array<traffic::Value16, kLanesMax> values{};
    for (size_t lane = 0; lane < keys.size(); ++lane) own_keys[lane].word = keys[lane];
    table_.lookup(std::span<const traffic::Key48>(own_keys.data(), keys.size()), values, hits);
    for (size_t lane = 0; lane < keys.size(); ++lane) answers[lane] = values[lane].word;
  }

  compact::ChangeOutcome insert(uint64_t key, uint32_t value) {
    if (has(key)) return compact::ChangeOutcome::kThere;
    return put(key, value) ? compact::ChangeOutcome::kDone : compact::ChangeOutcome::kNoRoom;
  }
  compact::ChangeOutcome update(uint64_t key, uint32_t value) {
    if (!has(key)) return compact::ChangeOutcome::kNotFound;
    return put(key, value) ? compact::ChangeOutcome::kDone : compact::ChangeOutcome::kNoRoom;
  }
  compact::ChangeOutcome erase(uint64_t key) {
    return table_.erase({key}) ? compact::ChangeOutcome::kDone : compact::ChangeOutcome::kNotFound;
  }

  [[nodiscard]] uint64_t image_bytes() const { return table_.memory_bytes(); }
  [[nodiscard]] uint64_t builder_bytes() const { return 0; }
  [[nodiscard]] const void* image_address() const { return table_.memory().bytes.data(); }

 private:
  explicit PackedValues(RoostPacked table) : table_(std::move(table)) {}

  bool has(uint64_t key) { return table_.entry_address({key}) != nullptr; }
  bool put(uint64_t key, uint32_t value) {
    return table_.insert(traffic::Key48{key}, traffic::Value16{static_cast<uint16_t>(value)});
  }

  RoostPacked table_;
};

}  // namespace roost::lab
