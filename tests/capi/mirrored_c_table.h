// The C interface as the mirrored operations of tests/table see it: every form of keys, answer and
// change goes through roost.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "capi/roost.h"
#include "roost/isa/isa.h"
#include "tests/capi/c_table.h"
#include "tests/table/mirror.h"
#include "tests/table/mirrored_table.h"

namespace roost {

class MirroredCTable final : public MirroredTable {
 public:
  MirroredCTable(EntrySizes sizes, uint64_t capacity, Isa isa);

  [[nodiscard]] EntrySizes sizes() const override { return sizes_; }
  void write_key(uint64_t number, std::byte* key) const override;
  void write_value(uint64_t number, std::byte* value) const override;

  size_t lookup(KeyForm form, Keys keys, std::byte* values, HitWords hits) override;
  size_t lookup_refresh(Keys keys, TickCount timeout, std::byte* values, HitWords hits) override;
  size_t find(Keys keys, std::byte** found, HitWords hits) override;
  void refresh(const std::byte* found, TickCount timeout) override;
  [[nodiscard]] TickCount ticks_left(const std::byte* found) const override;
  void start(Keys keys) override;
  size_t lookup_and_start(std::byte* values, HitWords hits, Keys next_keys) override;
  size_t lookup_started(std::byte* values, HitWords hits) override;
  size_t insert(Keys keys, const std::byte* values, std::vector<InsertOutcome>& outcomes,
                const std::vector<TickCount>& timeouts) override;
  size_t upsert(Keys keys, std::byte* values, std::vector<InsertOutcome>& outcomes,
                const std::vector<TickCount>& timeouts) override;
  size_t erase(Keys keys, HitWords erased) override;
  void clear() override;
  void for_each(const Visit& visit) override;
  AdvanceOutcome advance(Tick now) override;
  uint64_t maintain(uint64_t bucket_budget) override;
  [[nodiscard]] Tick scan_deadline() const override;
  [[nodiscard]] uint64_t bucket_count() const override;
  [[nodiscard]] TableStats stats() const override;
  std::optional<Violation> audit() override;

 private:
  // Runs a call that writes hit words for `count` lanes, and hands its bits to `hits`.
  template <class Call>
  size_t answered(size_t count, HitWords hits, Call&& call);
  // Sets have no values.
  [[nodiscard]] std::byte* values_of(std::byte* values) const;
  [[nodiscard]] roost_info info() const;

  EntrySizes sizes_;
  CTableHandle table_;
  roost_flight flight_{};
  size_t started_count_ = 0;
  roost_violation violation_{};
};

// A table of the C interface, by the fastest kernel or a given one, between its mirror.
inline Mirror c_mirror(EntrySizes sizes, uint64_t capacity, uint64_t key_universe,
                       Isa isa = isa_best()) {
  return Mirror(std::make_unique<MirroredCTable>(sizes, capacity, isa), key_universe);
}

}  // namespace roost
