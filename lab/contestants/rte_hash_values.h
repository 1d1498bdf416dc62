// rte_hash beside value-only tables: keys as they are, the value as 8 bytes of data.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

#include "lab/contestants/rte_hash_handle.h"
#include "lab/harness/value_contestant.h"
#include "roost/base/hit_words.h"
#include "roost/base/result.h"

namespace roost::lab {

// Needs a started Eal, on the same kind of pages.
template <class Key>
class RteHashValues : public ValueAnswers<Key> {
 public:
  static constexpr std::string_view kName = "rte_hash";
  static constexpr bool kKeepsKeys = true;

  static Result<RteHashValues> build(const ValueTableConfig& config, ValueEntries<Key> entries);

  // The library takes 64 keys a call: longer ones are cut.
  void lookup(std::span<const Key> keys, std::span<uint32_t> answers, HitWords hits) const;
  compact::ChangeOutcome insert(const Key& key, uint32_t value);
  compact::ChangeOutcome update(const Key& key, uint32_t value);
  compact::ChangeOutcome erase(const Key& key);

  [[nodiscard]] uint64_t image_bytes() const { return made_.bytes; }
  [[nodiscard]] uint64_t builder_bytes() const { return 0; }
  [[nodiscard]] const void* image_address() const { return made_.table.get(); }

 private:
  explicit RteHashValues(MadeRteHash made) : made_(std::move(made)) {}

  [[nodiscard]] bool has(const Key& key) const;
  bool put(const Key& key, uint32_t value);

  MadeRteHash made_;
};

extern template class RteHashValues<uint64_t>;
extern template class RteHashValues<traffic::Key104>;

}  // namespace roost::lab
