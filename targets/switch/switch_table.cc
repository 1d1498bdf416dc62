#include "targets/switch/switch_table.h"

#include <algorithm>
#include <optional>
#include <string>

#include "roost/base/assert.h"
#include "roost/compact/crc8.h"
#include "roost/compact/parrot_reader.h"

namespace roost::targets {
namespace {

using compact::kBucketSlots;
using compact::MonotoneModel;
using compact::ParrotReader;

constexpr uint64_t kBucketCountMax = (uint64_t{1} << 30) - 1;
// Of a model without steps.
constexpr size_t kExactRangesMax = 100'000;

// Reads an image into a table.
class TableOfImage {
 public:
  TableOfImage(const ParrotReader& reader, uint32_t stash_reads) : reader_(reader) {
    table_.shape = reader.head().shape;
    table_.stash_reads = stash_reads;
    table_.bucket_count = reader.head().bucket_count;
  }

  Result<SwitchTable> table() && {
    if (auto wrong = match_ranges()) return *wrong;
    cells(Register::kStashKeys).push_back(0);  // entry 0 is none
    cells(Register::kStashValues).push_back(0);
    for (uint64_t bucket = 0; bucket < table_.bucket_count; ++bucket) {
      add_slots(bucket);
      add_stash(bucket);
    }
    // The last entry once more, for who looks at the one behind it.
    cells(Register::kStashKeys).push_back(cells(Register::kStashKeys).back());
    cells(Register::kStashValues).push_back(cells(Register::kStashValues).back());
    for (unsigned byte = 0; byte <= UINT8_MAX; ++byte)
      cells(Register::kCrc8).push_back(compact::crc8_append(0, static_cast<uint8_t>(byte)));
    return std::move(table_);
  }

 private:
  std::vector<uint64_t>& cells(Register which) {
    return table_.registers[static_cast<size_t>(which)];
  }

  // Buckets never fall, so where each begins can be searched for. Addresses beside the model's keys
  // have the first bucket or the last one.
  std::optional<Error> match_ranges() {
    const MonotoneModel model = reader_.model();
    const bool has_steps = model.head().kind == compact::ModelKind::kSteps;
    std::vector<Range> ranges = {{.first = 0, .bucket = static_cast<uint32_t>(model.bucket_of(0))}};
    while (true) {
      const Range& range = ranges.back();
      const uint64_t last = last_of(model, range.bucket, range.first);
      if (last == kSwitchKeyMask) break;
      const uint64_t next = model.bucket_of(last + 1);
      if (next <= range.bucket || next >= table_.bucket_count)
        return Error{"the image is damaged: its model falls at key " + std::to_string(last + 1)};
      if (!has_steps && ranges.size() == kExactRangesMax) {
        return Error{"the image has more than " + std::to_string(kExactRangesMax) +
                     " buckets, whose borders take many prefixes each; build it with steps"};
      }
      ranges.push_back({.first = last + 1, .bucket = static_cast<uint32_t>(next)});
    }
    table_.ranges = longest_prefixes(ranges);
    return {};
  }
  // The last address that has the bucket which `first` has.
  static uint64_t last_of(const MonotoneModel& model, uint64_t bucket, uint64_t first) {
    uint64_t last = kSwitchKeyMask;
    if (model.bucket_of(last) == bucket) return last;
    while (last - first > 1) {
      const uint64_t middle = first + (last - first) / 2;
      (model.bucket_of(middle) == bucket ? first : last) = middle;
    }
    return first;
  }

  void add_slots(uint64_t index) {
    const ParrotReader::Bucket bucket = reader_.bucket(index);
    cells(Register::kSeeds).push_back(bucket.seed());
    for (size_t slot = 0; slot < kBucketSlots; ++slot) {
      cells(Register::kValues).push_back(bucket.value(slot));
      cells(Register::kSlotKeys)
          .push_back(table_.shape.has_keys != 0 ? reader_.key_of_slot(index, slot) : 0);
    }
  }

  void add_stash(uint64_t index) {
    const compact::StashWord word = reader_.bucket(index).stash();
    const size_t reached = std::min<size_t>(word.count(), table_.stash_reads);
    cells(Register::kStashFirst).push_back(reached == 0 ? 0 : cells(Register::kStashKeys).size());
    for (size_t i = 0; i < word.count(); ++i) {
      const ParrotReader::StashEntry entry = reader_.stash_entry(word.first() + i);
      if (i >= reached) {
        table_.overflow.push_back({.key = entry.key, .value = entry.value});
        continue;
      }
      cells(Register::kStashKeys).push_back(entry.key);
      cells(Register::kStashValues).push_back(entry.value);
      ++table_.stashed;
    }
  }

  const ParrotReader& reader_;
  SwitchTable table_;
};

}  // namespace

std::string_view name_of(Register which) {
  constexpr std::array<std::string_view, kRegisterCount> kNames = {
      "seeds", "values", "slot_keys", "stash_first", "stash_keys", "stash_values", "crc8"};
  return kNames[static_cast<size_t>(which)];
}

Result<SwitchTable> SwitchTable::of_image(std::span<const std::byte> image, uint32_t stash_reads) {
  if (stash_reads > kStashReadsMax) {
    return Error{"a packet can look at " + std::to_string(kStashReadsMax) +
                 " entries of the stash in a switch, not at " + std::to_string(stash_reads)};
  }
  const auto reader = ParrotReader::open(image);
  if (!reader) return reader.error();
  if (const auto wrong = reader.value().audit())
    return Error{"the image is damaged: " + *wrong + "; build it anew"};
  const compact::ParrotShape& shape = reader.value().head().shape;
  if (shape.key_bits > kSwitchKeyBits) {
    return Error{"the image has keys of " + std::to_string(shape.key_bits) +
                 " bits; a switch takes them from the destination address, which has " +
                 std::to_string(kSwitchKeyBits)};
  }
  if (shape.fingerprint_bits != 0) {
    return Error{
        "the image has fingerprints, whose hash a switch cannot compute; build it without, or with "
        "whole keys"};
  }
  if (reader.value().head().bucket_count > kBucketCountMax)
    return Error{"the image has 2^30 buckets or more; a slot's index has 32 bits in a switch"};
  return TableOfImage(reader.value(), stash_reads).table();
}

}  // namespace roost::targets
