// libFuzzer target: bytes as keys, as changes of both kinds of value-only table against a map, and
// as damage to an image, which is refused, found by the audit, or read without harm.
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "roost/base/assert.h"
#include "roost/base/hit_words.h"
#include "roost/compact/line_map_builder_impl.h"
#include "roost/compact/parrot_builder.h"
#include "tests/base/byte_source.h"

namespace roost::compact {
namespace {

using Model = std::map<uint64_t, uint32_t>;

// Near others, mostly.
uint64_t key_of(ByteSource& bytes) {
  return bytes.next(1) < 200 ? 0x0200'0000'0000 + bytes.next(1) * 5 : bytes.next(6);
}
uint32_t value_of(ByteSource& bytes) { return static_cast<uint32_t>(bytes.next(2)) % 65'535; }

Model first_keys(ByteSource& bytes) {
  Model model = {{1, 1}};
  for (uint64_t count = bytes.next(1); count > 0; --count) {
    const uint64_t key = key_of(bytes);
    model[key] = value_of(bytes);
  }
  return model;
}

template <class Reader>
void check_lookups(const Reader& reader, const Model& model) {
  for (const auto& [key, value] : model) {
    uint32_t got = 0;
    HitArray<1> maybe;
    const size_t found =
        reader.lookup_unverified(std::span<const uint64_t>(&key, 1), std::span(&got, 1), maybe);
    ROOST_ASSERT(found == 1 && got == value);
  }
}

// One change of the table and of the model; whether the table has no room.
template <class Table>
bool change(Table& table, Model& model, ByteSource& bytes) {
  const uint64_t key = key_of(bytes);
  const uint32_t value = value_of(bytes);
  const bool is_there = model.contains(key);
  ChangeOutcome outcome = ChangeOutcome::kDone;
  switch (bytes.next(1) % 3) {
    case 0:
      outcome = table.insert(key, value);
      ROOST_ASSERT((outcome == ChangeOutcome::kThere) == is_there);
      break;
    case 1:
      outcome = table.update(key, value);
      ROOST_ASSERT((outcome == ChangeOutcome::kNotFound) == !is_there);
      break;
    default:
      outcome = table.erase(key);
      ROOST_ASSERT((outcome == ChangeOutcome::kDone) == is_there);
      model.erase(key);
      return false;
  }
  if (outcome == ChangeOutcome::kDone) model[key] = value;
  return outcome == ChangeOutcome::kNoRoom;
}

void damage(std::span<const std::byte> image, ByteSource& bytes) {
  std::vector<std::byte> changed(image.begin(), image.end());
  for (uint64_t count = bytes.next(1) % 8; count > 0; --count)
    changed[bytes.next(2) % changed.size()] ^= static_cast<std::byte>(bytes.next(1));
  const auto reader = ParrotReader::open(changed);
  if (!reader || reader.value().audit()) return;
  const std::array<uint64_t, 4> keys = {0, 0x0200'0000'0005, bytes.next(6), ~uint64_t{0}};
  std::array<uint32_t, 4> values{};
  HitArray<4> maybe;
  static_cast<void>(reader.value().lookup_unverified(keys, values, maybe));
}

void run_parrot(ByteSource bytes) {
  const uint64_t choice = bytes.next(1);
  const ParrotBuilder::Config config{
      .fingerprint_bits = choice % 2 == 0 ? 0U : 8U,
      .keeps_keys = choice / 2 % 2 == 0,
      .growth = 2,
      .policy = choice / 4 % 2 == 0 ? InsertionPolicy::kStash : InsertionPolicy::kReseed};
  Model model = first_keys(bytes);
  std::vector<ParrotEntry> entries;
  for (const auto& [key, value] : model) entries.push_back({key, value});
  auto made = ParrotBuilder::build(config, std::move(entries));
  if (!made) return;  // no model fits
  ParrotBuilder table = std::move(made).value();
  while (bytes.size > 32) {
    if (!change(table, model, bytes)) continue;
    auto anew = table.rebuilt();
    if (!anew) return;
    table = std::move(anew).value();
  }
  ROOST_ASSERT(!table.audit() && table.size() == model.size());
  check_lookups(ParrotReader::open(table.image()).value(), model);
  damage(table.image(), bytes);
}

void run_line_map(ByteSource bytes) {
  const uint64_t choice = bytes.next(1);
  const LineMapConfig config{.fingerprint_bits = choice % 2 == 0 ? 0U : 8U,
                             .load = choice / 2 % 2 == 0 ? 0.85 : 0.97,
                             .hash_seed = choice};
  Model model = first_keys(bytes);
  std::vector<LineMapBuilder<uint64_t>::Entry> entries;
  for (const auto& [key, value] : model) entries.push_back({key, value});
  LineMapBuilder<uint64_t> table =
      LineMapBuilder<uint64_t>::build(config, std::move(entries)).value();
  while (bytes.size > 0)
    if (change(table, model, bytes)) table = table.rebuilt().value();
  ROOST_ASSERT(!table.audit() && table.size() == model.size());
  check_lookups(LineMapReader<uint64_t>::open(table.image()).value(), model);
}

}  // namespace
}  // namespace roost::compact

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace roost::compact;
  if (size == 0) return 0;
  const roost::ByteSource bytes{data + 1, size - 1};
  data[0] % 2 == 0 ? run_parrot(bytes) : run_line_map(bytes);
  return 0;
}
