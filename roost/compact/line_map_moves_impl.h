// Definitions of LineMapBuilder: how a key finds room in its line, how groups go further and come
// back.
#pragma once

#include <algorithm>
#include <cstring>

#include "roost/compact/line_map_builder.h"

namespace roost::compact {

template <class Key, class Words>
bool LineMapBuilder<Key, Words>::put(size_t level, const Entry& entry) {
  if (level == levels_.level_count()) return false;
  const LinePlace at = reader().place_of(entry.key, level);
  if (reader().line(level, at.line).seed(geometry().group_of(at)) == kSeedFurther) {
    if (!put(level + 1, entry)) return false;
    note_further(level, entry.key);
    return true;
  }
  return reseed_group(level, at, entry) || refill_line(level, at.line, entry);
}

template <class Key, class Words>
bool LineMapBuilder<Key, Words>::reseed_group(size_t level, const LinePlace& at,
                                              const Entry& entry) {
  std::vector<Entry> group = group_of(level, at.line, geometry().group_of(at));
  if (group.size() == geometry().slots) return false;
  LineDraft draft = draft_of(level, at.line);
  SlotSet taken = taken_slots(level, at.line);
  const uint8_t before = reader().line(level, at.line).seed(geometry().group_of(at));
  for (const Entry& other : group) {
    const uint32_t word = reader().place_of(other.key, level).word();
    const uint32_t slot = slot_of_word(word, before, geometry().slots);
    taken &= ~(SlotSet{1} << slot);
    draft.clear_slot(slot);
  }
  group.push_back(entry);
  if (!seed_group(draft, level, at.line, geometry().group_of(at), group, taken)) return false;
  store(level, at.line, draft);
  return true;
}

template <class Key, class Words>
bool LineMapBuilder<Key, Words>::seed_group(LineDraft& draft, size_t level, uint64_t line,
                                            uint32_t group, std::span<const Entry> entries,
                                            SlotSet taken) {
  std::vector<uint32_t> words;
  for (const Entry& entry : entries) words.push_back(reader().place_of(entry.key, level).word());
  SlotSet chosen = 0;
  const auto seed = find_group_seed(geometry().slots, words, taken, chosen);
  if (!seed) return false;
  draft.set_seed(group, *seed);
  for (size_t i = 0; i < entries.size(); ++i)
    write(draft, {level, line, slot_of_word(words[i], *seed, geometry().slots)}, entries[i]);
  return true;
}

// The largest groups first, so that few keys go further; these are one level further before their
// groups point there.
template <class Key, class Words>
bool LineMapBuilder<Key, Words>::refill_line(size_t level, uint64_t index, const Entry& entry) {
  std::vector<Entry> all = entries_of(level, index);
  all.push_back(entry);
  std::vector<LineItem> items;
  for (const Entry& one : all) {
    const LinePlace at = reader().place_of(one.key, level);
    items.push_back({geometry().group_of(at), at.word()});
  }
  const LineSeeds seeds = fill_line(levels_.head().shape, items);
  std::vector<Entry> further;
  for (size_t i = 0; i < all.size(); ++i)
    if (seeds[items[i].group] == kSeedFurther) further.push_back(all[i]);
  if (!put_all(level + 1, further)) return false;
  for (const Entry& one : further) note_further(level, one.key);
  const Line before = reader().line(level, index);
  LineDraft draft = draft_of(level, index);
  for (uint32_t slot = 0; slot < geometry().slots; ++slot) draft.clear_slot(slot);
  for (uint32_t group = 0; group < geometry().groups; ++group)
    draft.set_seed(group, before.seed(group) == kSeedFurther ? kSeedFurther : seeds[group]);
  for (size_t i = 0; i < all.size(); ++i) {
    const uint8_t seed = seeds[items[i].group];
    if (seed == kSeedFurther) continue;
    write(draft, {level, index, slot_of_word(items[i].word, seed, geometry().slots)}, all[i]);
  }
  store(level, index, draft);
  return true;
}

template <class Key, class Words>
bool LineMapBuilder<Key, Words>::put_all(size_t level, std::span<const Entry> entries) {
  for (size_t i = 0; i < entries.size(); ++i) {
    if (put(level, entries[i])) continue;
    for (const Entry& before : entries.first(i)) take_out(level, before.key);
    return false;
  }
  return true;
}

// Kept keys change in the step of their slots.
template <class Key, class Words>
void LineMapBuilder<Key, Words>::store(size_t level, uint64_t line, const LineDraft& draft) {
  draft.template store<Words>(levels_.line_at(level, line), !new_keys_.empty(), [&] {
    for (const uint32_t slot : new_keys_) {
      const Padded padded(key_at({level, line, slot}));
      write_words<Words>(levels_.key_at(level, line, slot),
                         reinterpret_cast<const std::byte*>(padded.words.data()), Padded::kBytes);
    }
  });
  new_keys_.clear();
}

template <class Key, class Words>
auto LineMapBuilder<Key, Words>::take_out(size_t level, const Key& key) -> Place {
  const auto place = find_place(key, level);
  ROOST_ASSERT(place.has_value());
  LineDraft draft = draft_of(place->level, place->line);
  draft.clear_slot(place->slot);
  store(place->level, place->line, draft);
  for (size_t passed = level; passed < place->level; ++passed) forget_further(passed, key);
  return *place;
}

template <class Key, class Words>
void LineMapBuilder<Key, Words>::bring_back(size_t level, uint64_t line) {
  for (uint32_t group = 0; group < geometry().groups; ++group)
    if (reader().line(level, line).seed(group) == kSeedFurther)
      bring_group_back(level, line, group);
}

// Its keys are here before they are gone further on: who reads there meanwhile finds that this line
// has changed.
template <class Key, class Words>
void LineMapBuilder<Key, Words>::bring_group_back(size_t level, uint64_t line, uint32_t group) {
  std::vector<Entry> entries;
  for (const Key& key : further_of(level, line, group)) {
    const auto place = find_place(key, level + 1);
    ROOST_ASSERT(place.has_value());
    entries.push_back({key, reader().line(place->level, place->line).value(place->slot)});
  }
  LineDraft draft = draft_of(level, line);
  if (!seed_group(draft, level, line, group, entries, taken_slots(level, line))) return;
  store(level, line, draft);
  for (const Entry& entry : entries) {
    take_out(level + 1, entry.key);
    forget_further(level, entry.key);
  }
}

template <class Key, class Words>
void LineMapBuilder<Key, Words>::note_further(size_t level, const Key& key) {
  const LinePlace at = reader().place_of(key, level);
  further_.emplace(group_number(level, at.line, geometry().group_of(at)), key);
}

template <class Key, class Words>
void LineMapBuilder<Key, Words>::forget_further(size_t level, const Key& key) {
  const LinePlace at = reader().place_of(key, level);
  auto [first, end] = further_.equal_range(group_number(level, at.line, geometry().group_of(at)));
  const auto found = std::find_if(first, end, [&](const auto& noted) {
    return std::memcmp(&noted.second, &key, sizeof key) == 0;
  });
  ROOST_ASSERT(found != end);
  further_.erase(found);
}

template <class Key, class Words>
auto LineMapBuilder<Key, Words>::further_of(size_t level, uint64_t line, uint32_t group) const
    -> std::vector<Key> {
  std::vector<Key> keys;
  const auto [first, end] = further_.equal_range(group_number(level, line, group));
  for (auto noted = first; noted != end; ++noted) keys.push_back(noted->second);
  return keys;
}

}  // namespace roost::compact
