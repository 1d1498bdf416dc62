// Mirrored operations: whatever is done to a table is done to the naive model, and every answer is
// compared.
//
// The choices come from outside, from a generator in the oracle tests or from a fuzzer's bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "roost/base/hit_words.h"
#include "tests/table/flow_model.h"
#include "tests/table/mirrored_table.h"

namespace roost {

// Returns a number below the one it is given.
using Choose = std::function<uint64_t(uint64_t)>;

class Mirror {
 public:
  // Keys are made from the numbers below `key_universe`.
  Mirror(std::unique_ptr<MirroredTable> table, uint64_t key_universe);
  Mirror(const Mirror&) = delete;  // the table calls this object for expired entries
  Mirror& operator=(const Mirror&) = delete;
  ~Mirror() = default;

  // Does one operation; returns what is wrong, or nothing.
  std::optional<std::string_view> step(const Choose& choose);

  // Compares everything: contents, accounts and invariants.
  std::optional<std::string_view> compare_all();

  // Reclaims what has expired and compares the account: created = live + erased + expired.
  std::optional<std::string_view> settle();

  MirroredTable& table() { return *table_; }

 private:
  static constexpr size_t kLanesMax = 150;

  // The keys of a batch, as numbers and as the table gets them.
  struct Batch {
    std::vector<uint64_t> numbers;
    std::vector<std::byte> bytes;
    [[nodiscard]] MirroredTable::Keys keys() const { return {bytes.data(), numbers.size()}; }
  };

  Batch batch_of(std::vector<uint64_t> numbers) const;
  Batch choose_keys(const Choose& choose) const;
  // As many values as lanes, each made from a number that no operation chooses.
  [[nodiscard]] std::vector<std::byte> untouched_values(const Batch& batch) const;
  [[nodiscard]] std::string text_of(const std::byte* key) const;
  [[nodiscard]] bool is_value(const std::byte* value, uint64_t number) const;

  void insert(const Choose& choose, IfExisting if_existing);
  void expect_inserted(uint64_t key, uint64_t value, TickCount timeout, IfExisting if_existing,
                       InsertOutcome outcome, const std::byte* in_out);
  void erase(const Choose& choose);
  void lookup(const Choose& choose);
  void lookup_refresh(const Choose& choose);
  void find(const Choose& choose);
  void refresh(const Choose& choose);
  void split_phase(const Choose& choose);
  void advance(const Choose& choose);
  void clear();
  void check_hits(const Batch& batch, const std::vector<std::byte>& values,
                  const HitArray<kLanesMax>& hits, size_t count);

  std::unique_ptr<MirroredTable> table_;
  EntrySizes sizes_;
  FlowModel model_;
  uint64_t key_universe_;
  std::map<std::string, uint64_t> number_of_key_;
  uint64_t refusals_ = 0;
  bool was_owed_ = true;
  std::optional<std::string_view> wrong_;
};

}  // namespace roost
