// Definitions of LineMapBuilder.
#pragma once

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "roost/compact/line_map_builder.h"

namespace roost::compact {

template <class Key>
Result<LineMapBuilder<Key>> LineMapBuilder<Key>::build(const LineMapConfig& config,
                                                       std::vector<Entry> entries) {
  // As few keys that a level of their own would cost more than a half-empty last one.
  constexpr size_t kFewKeys = 512;
  constexpr int kHashesTried = 1'000;
  auto levels = LineMapLevels::create(config, Padded::kBytes);
  if (!levels) return levels.error();
  LineMapBuilder map(config, std::move(levels).value());
  for (const Entry& entry : entries) {
    if (entry.value >= map.shape().absent()) {
      return Error{"a value of " + std::to_string(entry.value) + "; values of " +
                   std::to_string(config.value_bits) + " bits are below " +
                   std::to_string(map.shape().absent())};
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
    map.keys_.emplace_back(map.levels_.head().levels[map.keys_.size()].line_count *
                           map.shape().slots());
    map.reader_.emplace(LineMapReader<Key>::open(map.image()).value());
    std::vector<Entry> waiting = entries;
    map.fill_level(waiting);
    if (is_last && !waiting.empty()) {  // once more, by another hash
      if (tried > kHashesTried) return Error{"a key is there twice"};
      map.levels_.drop_level();
      map.keys_.pop_back();
      continue;
    }
    entries = std::move(waiting);
    if (is_last) break;
  }
  return map;
}

// A counting sort by line; then line by line.
template <class Key>
void LineMapBuilder<Key>::fill_level(std::vector<Entry>& waiting) {
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

template <class Key>
void LineMapBuilder<Key>::fill_one(size_t level, uint64_t line, std::span<const Entry> entries,
                                   std::vector<Entry>& further) {
  std::vector<LineItem> items;
  for (const Entry& entry : entries) {
    const LinePlace at = reader().place_of(entry.key, level);
    items.push_back({at.group, at.word});
  }
  const LineSeeds seeds = fill_line(shape(), items);
  for (uint32_t group = 0; group < shape().groups(); ++group)
    levels_.write_seed(level, line, group, seeds[group]);
  for (size_t i = 0; i < entries.size(); ++i) {
    const uint8_t seed = seeds[items[i].group];
    if (seed == kSeedFurther) {
      further.push_back(entries[i]);
    } else {
      write({level, line, slot_of_word(items[i].word, seed, shape().slots())}, entries[i]);
    }
  }
}

template <class Key>
ChangeOutcome LineMapBuilder<Key>::insert(const Key& key, uint32_t value) {
  if (value >= shape().absent()) return ChangeOutcome::kTooWide;
  if (find_place(key)) return ChangeOutcome::kThere;
  if (!put(0, {key, value})) return ChangeOutcome::kNoRoom;
  ++size_;
  return ChangeOutcome::kDone;
}

template <class Key>
ChangeOutcome LineMapBuilder<Key>::update(const Key& key, uint32_t value) {
  if (value >= shape().absent()) return ChangeOutcome::kTooWide;
  const auto place = find_place(key);
  if (!place) return ChangeOutcome::kNotFound;
  write(*place, {key, value});
  return ChangeOutcome::kDone;
}

template <class Key>
ChangeOutcome LineMapBuilder<Key>::erase(const Key& key) {
  const auto place = find_place(key);
  if (!place) return ChangeOutcome::kNotFound;
  clear(*place);
  --size_;
  return ChangeOutcome::kDone;
}

template <class Key>
bool LineMapBuilder<Key>::put(size_t level, const Entry& entry) {
  if (level == levels_.level_count()) return false;
  const LinePlace at = reader().place_of(entry.key, level);
  if (reader().line(level, at.line).seed(at.group) == kSeedFurther) return put(level + 1, entry);
  return reseed_group(level, at, entry) || refill_line(level, at.line, entry) ||
         send_further(level, at, entry);
}

template <class Key>
bool LineMapBuilder<Key>::reseed_group(size_t level, const LinePlace& at, const Entry& entry) {
  std::vector<Entry> group = group_of(level, at);
  if (group.size() == shape().slots()) return false;
  const MapLine line = reader().line(level, at.line);
  SlotSet taken = 0;
  for (uint32_t slot = 0; slot < shape().slots(); ++slot)
    if (!line.is_empty(slot)) taken |= SlotSet{1} << slot;
  std::vector<uint32_t> words;
  for (const Entry& other : group) {
    words.push_back(reader().place_of(other.key, level).word);
    taken &= ~(SlotSet{1} << slot_of_word(words.back(), line.seed(at.group), shape().slots()));
  }
  group.push_back(entry);
  words.push_back(at.word);
  SlotSet chosen = 0;
  const auto seed = find_group_seed(shape(), words, taken, chosen);
  if (!seed) return false;
  group.pop_back();
  clear_all(level, group);
  group.push_back(entry);
  levels_.write_seed(level, at.line, at.group, *seed);
  for (size_t i = 0; i < group.size(); ++i)
    write({level, at.line, slot_of_word(words[i], *seed, shape().slots())}, group[i]);
  return true;
}

// Only where every group that is here now finds its slots again.
template <class Key>
bool LineMapBuilder<Key>::refill_line(size_t level, uint64_t index, const Entry& entry) {
  std::vector<Entry> all = entries_of(level, index);
  if (all.size() == shape().slots()) return false;
  all.push_back(entry);
  std::vector<LineItem> items;
  for (const Entry& one : all) {
    const LinePlace at = reader().place_of(one.key, level);
    items.push_back({at.group, at.word});
  }
  LineSeeds seeds = fill_line(shape(), items);
  for (const LineItem& item : items)
    if (seeds[item.group] == kSeedFurther) return false;
  const MapLine before = reader().line(level, index);
  for (uint32_t group = 0; group < shape().groups(); ++group)
    if (before.seed(group) == kSeedFurther) seeds[group] = kSeedFurther;
  all.pop_back();
  clear_all(level, all);
  all.push_back(entry);
  for (uint32_t group = 0; group < shape().groups(); ++group)
    levels_.write_seed(level, index, group, seeds[group]);
  for (size_t i = 0; i < all.size(); ++i) {
    write({level, index, slot_of_word(items[i].word, seeds[items[i].group], shape().slots())},
          all[i]);
  }
  return true;
}

// The group's keys are one level further before their group points there.
template <class Key>
bool LineMapBuilder<Key>::send_further(size_t level, const LinePlace& at, const Entry& entry) {
  std::vector<Entry> group = group_of(level, at);
  const size_t here = group.size();
  group.push_back(entry);
  for (size_t i = 0; i < group.size(); ++i) {
    if (put(level + 1, group[i])) continue;
    clear_all(level + 1, {group.begin(), group.begin() + static_cast<ptrdiff_t>(i)});
    return false;
  }
  levels_.write_seed(level, at.line, at.group, kSeedFurther);
  group.resize(here);
  for (const Entry& one : group) {
    const uint32_t slots = shape().slots();
    for (uint32_t slot = 0; slot < slots; ++slot) {
      const Place place{level, at.line, slot};
      if (std::memcmp(&key_at(place), &one.key, sizeof one.key) == 0) clear(place);
    }
  }
  return true;
}

template <class Key>
auto LineMapBuilder<Key>::find_place(const Key& key) const -> std::optional<Place> {
  for (size_t level = 0; level < levels_.level_count(); ++level) {
    const LinePlace at = reader().place_of(key, level);
    const MapLine line = reader().line(level, at.line);
    const uint8_t seed = line.seed(at.group);
    if (seed == kSeedFurther) continue;
    const Place place{level, at.line, slot_of_word(at.word, seed, shape().slots())};
    if (line.is_empty(place.slot) || std::memcmp(&key_at(place), &key, sizeof key) != 0) return {};
    return place;
  }
  return {};
}

template <class Key>
auto LineMapBuilder<Key>::entries_of(size_t level, uint64_t index) const -> std::vector<Entry> {
  std::vector<Entry> all;
  const MapLine line = reader().line(level, index);
  for (uint32_t slot = 0; slot < shape().slots(); ++slot)
    if (!line.is_empty(slot)) all.push_back({key_at({level, index, slot}), line.value(slot)});
  return all;
}

template <class Key>
auto LineMapBuilder<Key>::group_of(size_t level, const LinePlace& at) const -> std::vector<Entry> {
  std::vector<Entry> group = entries_of(level, at.line);
  std::erase_if(group, [&](const Entry& entry) {
    return reader().place_of(entry.key, level).group != at.group;
  });
  return group;
}

template <class Key>
void LineMapBuilder<Key>::write(const Place& place, const Entry& entry) {
  key_at(place) = entry.key;
  const uint64_t word = entry.value | reader().fingerprint_of(entry.key) << shape().value_bits;
  levels_.write_slot(place.level, place.line, place.slot, word);
}

template <class Key>
void LineMapBuilder<Key>::clear(const Place& place) {
  levels_.write_slot(place.level, place.line, place.slot, shape().absent());
}

// Those that have their slots in this level, or behind it.
template <class Key>
void LineMapBuilder<Key>::clear_all(size_t level, const std::vector<Entry>& entries) {
  for (const Entry& entry : entries) {
    for (size_t at = level; at < levels_.level_count(); ++at) {
      const LinePlace in = reader().place_of(entry.key, at);
      const uint8_t seed = reader().line(at, in.line).seed(in.group);
      if (seed == kSeedFurther) continue;
      clear({at, in.line, slot_of_word(in.word, seed, shape().slots())});
      break;
    }
  }
}

template <class Key>
auto LineMapBuilder<Key>::entries() const -> std::vector<Entry> {
  std::vector<Entry> all;
  all.reserve(size_);
  for (size_t level = 0; level < levels_.level_count(); ++level) {
    for (uint64_t line = 0; line < levels_.head().levels[level].line_count; ++line)
      for (const Entry& entry : entries_of(level, line)) all.push_back(entry);
  }
  return all;
}

template <class Key>
auto LineMapBuilder<Key>::report() const -> Report {
  Report report{.keys = size_, .image_bytes = image().size()};
  for (size_t level = 0; level < levels_.level_count(); ++level) {
    uint64_t keys = 0;
    for (uint64_t line = 0; line < levels_.head().levels[level].line_count; ++line)
      keys += entries_of(level, line).size();
    report.keys_by_level.push_back(keys);
    report.builder_bytes += keys_[level].capacity() * sizeof(Key);
  }
  return report;
}

template <class Key>
std::optional<std::string> LineMapBuilder<Key>::audit() const {
  uint64_t keys = 0;
  for (size_t level = 0; level < levels_.level_count(); ++level) {
    for (uint64_t line = 0; line < levels_.head().levels[level].line_count; ++line) {
      const MapLine at = reader().line(level, line);
      for (uint32_t slot = 0; slot < shape().slots(); ++slot) {
        if (at.is_empty(slot)) continue;
        ++keys;
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
  return {};
}

}  // namespace roost::compact
