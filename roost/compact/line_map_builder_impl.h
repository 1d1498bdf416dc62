// Definitions of LineMapBuilder. How keys find room: line_map_moves_impl.h.
#pragma once

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "roost/compact/line_map_builder.h"
#include "roost/compact/line_map_moves_impl.h"

namespace roost::compact {

template <class Key, class Words>
Result<LineMapBuilder<Key, Words>> LineMapBuilder<Key, Words>::build(const LineMapConfig& config,
                                                                     std::vector<Entry> entries) {
  // As few keys that a level of their own would cost more than an almost empty last one.
  constexpr size_t kFewKeys = 64;
  constexpr int kHashesTried = 1'000;
  auto levels = LineMapLevels::create(config, Padded::kBytes);
  if (!levels) return levels.error();
  LineMapBuilder map(config, std::move(levels).value());
  const LineShape shape = map.levels_.head().shape;
  for (const Entry& entry : entries) {
    if (entry.value >= shape.absent()) {
      return Error{"a value of " + std::to_string(entry.value) + "; values of " +
                   std::to_string(config.value_bits) + " bits are below " +
                   std::to_string(shape.absent())};
    }
  }
  if (entries.size() >= std::numeric_limits<uint32_t>::max())
    return Error{"a map has fewer than 2^32 - 1 keys"};
  map.size_ = entries.size();
  for (int tried = 0; map.keys_.size() < kLevelsMax || !entries.empty(); ++tried) {
    const bool is_first = map.keys_.empty();
    const bool is_last =
        map.keys_.size() + 1 == kLevelsMax || (!is_first && entries.size() <= kFewKeys);
    if (auto error = map.levels_.add_level(entries.size(), is_last)) return *error;
    map.keys_.emplace_back(map.levels_.head().levels[map.keys_.size()].line_count * shape.slots());
    map.reader_.emplace(Reader::open(map.image()).value());
    std::vector<Entry> waiting = entries;
    map.fill_level(waiting);
    if (is_last && !waiting.empty()) {  // once more, by another hash
      if (has_twins(waiting)) return Error{"a key is there twice"};
      if (tried > kHashesTried)
        return Error{"no hash gives the last keys room; build anew with another seed"};
      map.levels_.drop_level();
      map.keys_.pop_back();
      continue;
    }
    for (const Entry& entry : waiting) map.note_further(map.keys_.size() - 1, entry.key);
    entries = std::move(waiting);
    if (is_last) break;
  }
  if (config.keeps_keys)
    if (auto error = map.keep_keys()) return *error;
  return map;
}

template <class Key, class Words>
std::optional<Error> LineMapBuilder<Key, Words>::keep_keys() {
  if (auto error = levels_.add_keys()) return error;
  reader_.emplace(Reader::open(image()).value());
  for (size_t level = 0; level < levels_.level_count(); ++level) {
    for (uint64_t line = 0; line < levels_.head().levels[level].line_count; ++line) {
      for (uint32_t slot = 0; slot < geometry().slots; ++slot) {
        const Padded padded(key_at({level, line, slot}));
        std::memcpy(levels_.key_at(level, line, slot), padded.words.data(), Padded::kBytes);
      }
    }
  }
  return {};
}

// Keys that are there twice find no room under any hash.
template <class Key, class Words>
bool LineMapBuilder<Key, Words>::has_twins(std::vector<Entry>& entries) {
  const auto compared = [](const Entry& a, const Entry& b) {
    return std::memcmp(&a.key, &b.key, sizeof a.key);
  };
  std::ranges::sort(entries, [&](const auto& a, const auto& b) { return compared(a, b) < 0; });
  return std::ranges::adjacent_find(entries, [&](const auto& a, const auto& b) {
           return compared(a, b) == 0;
         }) != entries.end();
}

// A counting sort by line; then line by line.
template <class Key, class Words>
void LineMapBuilder<Key, Words>::fill_level(std::vector<Entry>& waiting) {
  const size_t level = levels_.level_count() - 1;
  const uint64_t line_count = levels_.head().levels[level].line_count;
  std::vector<uint32_t> ends(line_count + 1);
  for (const Entry& entry : waiting) ++ends[reader().place_of(entry.key, level).line + 1];
  for (uint64_t line = 0; line < line_count; ++line) ends[line + 1] += ends[line];
  std::vector<Entry> sorted(waiting.size());
  for (const Entry& entry : waiting)
    sorted[ends[reader().place_of(entry.key, level).line]++] = entry;
  waiting.clear();
  uint32_t first = 0;
  for (uint64_t line = 0; line < line_count; ++line) {
    fill_one(level, line, std::span(sorted).subspan(first, ends[line] - first), waiting);
    first = ends[line];
  }
}

template <class Key, class Words>
void LineMapBuilder<Key, Words>::fill_one(size_t level, uint64_t line,
                                          std::span<const Entry> entries,
                                          std::vector<Entry>& further) {
  std::vector<LineItem> items;
  items.reserve(entries.size());
  for (const Entry& entry : entries) {
    const LinePlace at = reader().place_of(entry.key, level);
    items.push_back({geometry().group_of(at), at.word()});
  }
  const LineSeeds seeds = fill_line(levels_.head().shape, items);
  LineDraft draft(geometry());
  for (uint32_t group = 0; group < geometry().groups; ++group) draft.set_seed(group, seeds[group]);
  for (size_t i = 0; i < entries.size(); ++i) {
    const uint8_t seed = seeds[items[i].group];
    if (seed == kSeedFurther) {
      further.push_back(entries[i]);
    } else {
      write(draft, {level, line, slot_of_word(items[i].word, seed, geometry().slots)}, entries[i]);
    }
  }
  draft.write(levels_.line_at(level, line));
}

template <class Key, class Words>
ChangeOutcome LineMapBuilder<Key, Words>::insert(const Key& key, uint32_t value) {
  if (value >= geometry().absent) return ChangeOutcome::kTooWide;
  if (find_place(key)) return ChangeOutcome::kThere;
  if (!put(0, {key, value})) return ChangeOutcome::kNoRoom;
  ++size_;
  return ChangeOutcome::kDone;
}

template <class Key, class Words>
ChangeOutcome LineMapBuilder<Key, Words>::update(const Key& key, uint32_t value) {
  if (value >= geometry().absent) return ChangeOutcome::kTooWide;
  const auto place = find_place(key);
  if (!place) return ChangeOutcome::kNotFound;
  LineDraft draft = draft_of(place->level, place->line);
  write(draft, *place, {key, value});
  store(place->level, place->line, draft);
  return ChangeOutcome::kDone;
}

template <class Key, class Words>
ChangeOutcome LineMapBuilder<Key, Words>::erase(const Key& key) {
  if (!find_place(key)) return ChangeOutcome::kNotFound;
  const Place place = take_out(0, key);
  --size_;
  bring_back(place.level, place.line);
  return ChangeOutcome::kDone;
}

template <class Key, class Words>
auto LineMapBuilder<Key, Words>::find_place(const Key& key, size_t level) const
    -> std::optional<Place> {
  for (; level < levels_.level_count(); ++level) {
    const LinePlace at = reader().place_of(key, level);
    const Line line = reader().line(level, at.line);
    const uint8_t seed = line.seed(geometry().group_of(at));
    if (seed == kSeedFurther) continue;
    const Place place{level, at.line, slot_of_word(at.word(), seed, geometry().slots)};
    if (line.is_empty(place.slot) || std::memcmp(&key_at(place), &key, sizeof key) != 0) return {};
    return place;
  }
  return {};
}

template <class Key, class Words>
template <class Visit>
void LineMapBuilder<Key, Words>::for_each_entry(size_t level, uint64_t index, Visit&& visit) const {
  const Line line = reader().line(level, index);
  for (uint32_t slot = 0; slot < geometry().slots; ++slot)
    if (!line.is_empty(slot)) visit(Entry{key_at({level, index, slot}), line.value(slot)});
}

template <class Key, class Words>
auto LineMapBuilder<Key, Words>::entries_of(size_t level, uint64_t index) const
    -> std::vector<Entry> {
  std::vector<Entry> all;
  all.reserve(geometry().slots + 1);  // and one that comes
  for_each_entry(level, index, [&](const Entry& entry) { all.push_back(entry); });
  return all;
}

template <class Key, class Words>
auto LineMapBuilder<Key, Words>::group_of(size_t level, uint64_t line, uint32_t group) const
    -> std::vector<Entry> {
  std::vector<Entry> entries;
  for_each_entry(level, line, [&](const Entry& entry) {
    if (geometry().group_of(reader().place_of(entry.key, level)) == group) entries.push_back(entry);
  });
  return entries;
}

template <class Key, class Words>
SlotSet LineMapBuilder<Key, Words>::taken_slots(size_t level, uint64_t index) const {
  const Line line = reader().line(level, index);
  SlotSet taken = 0;
  for (uint32_t slot = 0; slot < geometry().slots; ++slot)
    if (!line.is_empty(slot)) taken |= SlotSet{1} << slot;
  return taken;
}

template <class Key, class Words>
void LineMapBuilder<Key, Words>::write(LineDraft& draft, const Place& place, const Entry& entry) {
  if (levels_.has_keys() && std::memcmp(&key_at(place), &entry.key, sizeof entry.key) != 0)
    new_keys_.push_back(place.slot);
  key_at(place) = entry.key;
  const uint64_t fingerprint =
      geometry().fingerprint_bits == 0
          ? 0
          : geometry().fingerprint_of(reader().place_of(entry.key, place.level));
  draft.set_slot(place.slot, entry.value | fingerprint << geometry().value_bits);
}

template <class Key, class Words>
auto LineMapBuilder<Key, Words>::entries() const -> std::vector<Entry> {
  std::vector<Entry> all;
  all.reserve(size_);
  for (size_t level = 0; level < levels_.level_count(); ++level) {
    for (uint64_t line = 0; line < levels_.head().levels[level].line_count; ++line)
      for_each_entry(level, line, [&](const Entry& entry) { all.push_back(entry); });
  }
  return all;
}

template <class Key, class Words>
auto LineMapBuilder<Key, Words>::report() const -> Report {
  Report report{.keys = size_, .image_bytes = image().size()};
  for (size_t level = 0; level < levels_.level_count(); ++level) {
    uint64_t keys = 0;
    for (uint64_t line = 0; line < levels_.head().levels[level].line_count; ++line)
      for_each_entry(level, line, [&](const Entry&) { ++keys; });
    report.keys_by_level.push_back(keys);
    report.builder_bytes += keys_[level].capacity() * sizeof(Key);
  }
  report.builder_bytes += further_.size() * sizeof(typename decltype(further_)::value_type) +
                          further_.bucket_count() * sizeof(void*);
  return report;
}

template <class Key, class Words>
std::optional<std::string> LineMapBuilder<Key, Words>::audit() const {
  uint64_t keys = 0;
  uint64_t passed = 0;  // groups that went further, by key
  for (size_t level = 0; level < levels_.level_count(); ++level) {
    for (uint64_t line = 0; line < levels_.head().levels[level].line_count; ++line) {
      const Line at = reader().line(level, line);
      for (uint32_t slot = 0; slot < geometry().slots; ++slot) {
        if (at.is_empty(slot)) continue;
        ++keys;
        passed += level;
        const auto place = find_place(key_at({level, line, slot}));
        if (!place || place->level != level || place->line != line || place->slot != slot) {
          return "line " + std::to_string(line) + " of level " + std::to_string(level) +
                 " has a slot that its key does not lead to";
        }
      }
    }
  }
  if (keys != size_) {
    return "there are " + std::to_string(keys) + " keys in the image and " + std::to_string(size_) +
           " were put there";
  }
  if (passed != further_.size()) {
    return std::to_string(further_.size()) + " keys are noted as further on, not " +
           std::to_string(passed);
  }
  return {};
}

}  // namespace roost::compact
