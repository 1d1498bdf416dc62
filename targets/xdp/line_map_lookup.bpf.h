// The lookup of a line map in BPF: what LineMapReader does, a key at a time, while a builder may be
// changing the lines.
//
// A line's version is odd while its seeds or slots change. So the version is read before and after
// them; and the lines that sent the key further are compared once more when its value is there. The
// order of loads is that of the program, as x86 has it. Products of 128 bits are made of those of
// 32 bits: BPF has none wider than 64.
#pragma once

#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include "targets/xdp/xdp_settings.h"

struct Line {
  uint64_t words[kXdpLineWords];
};

// The image: its head is in the first elements. The loader says how many there are.
struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(map_flags, BPF_F_MMAPABLE);
  __uint(max_entries, 1);
  __type(key, uint32_t);
  __type(value, struct Line);
} roost_lines SEC(".maps");

// A section of its own, which the loader finds by its name.
const volatile struct XdpSettings settings SEC(".rodata.settings") = {};

enum Found { kFound, kCertainlyNot, kChanging };

static __always_inline uint64_t upper_product(uint64_t a, uint64_t b) {
  const uint64_t a_low = (uint32_t)a;
  const uint64_t a_high = a >> 32;
  const uint64_t b_low = (uint32_t)b;
  const uint64_t b_high = b >> 32;
  const uint64_t cross = a_low * b_high;
  const uint64_t middle = a_high * b_low + (a_low * b_low >> 32) + (uint32_t)cross;
  return a_high * b_high + (middle >> 32) + (cross >> 32);
}

static __always_inline uint64_t fold(uint64_t a, uint64_t b) { return upper_product(a, b) ^ a * b; }

static __always_inline uint64_t hash_of(const volatile struct XdpHash* words, uint64_t key) {
  const uint64_t state = fold(key ^ words->key, words->state);
  return fold(state ^ words->mixed, words->length);
}

static __always_inline uint32_t slot_of(uint32_t word, uint32_t seed) {
  const uint32_t mixed = (word ^ seed * 0x9E3779B9U) * 0x846CA68BU;
  return (uint32_t)((uint64_t)mixed * settings.slots >> 32);
}

static __always_inline uint32_t version_of(const struct Line* line) {
  return *(const volatile uint32_t*)line->words;
}

static __always_inline uint32_t seed_of(const struct Line* line, uint32_t group) {
  return *((const volatile uint8_t*)line->words + sizeof(uint32_t) + (group & 31));
}

// Whole words are read: a change within one word is one store of the builder's.
static __always_inline uint64_t slot_word_of(const struct Line* line, uint32_t slot) {
  const uint32_t bits = settings.value_bits + settings.fingerprint_bits;
  const uint32_t bit = 8 * (sizeof(uint32_t) + settings.groups) + slot * bits;
  const uint32_t shift = bit % 64;
  const volatile uint64_t* words = line->words;
  uint64_t word = words[bit / 64 & 7] >> shift;
  if (shift + bits > 64) word |= words[bit / 64 + 1 & 7] << (64 - shift);
  return word & (((uint64_t)1 << bits) - 1);
}

static __always_inline int is_unchanged(uint32_t index, uint32_t version) {
  const struct Line* const line = bpf_map_lookup_elem(&roost_lines, &index);
  return line && version_of(line) == version;
}

// One try.
static __always_inline enum Found try_to_find(uint64_t key, uint32_t* value) {
  uint32_t indices[kXdpLevelsMax];
  uint32_t versions[kXdpLevelsMax];
  const uint32_t absent = 0xffffffffU >> (32 - settings.value_bits);
  enum Found found = kCertainlyNot;
  uint32_t level = 0;
  for (; level < kXdpLevelsMax && level < settings.level_count; ++level) {
    const volatile struct XdpLevel* const at = &settings.levels[level];
    const uint64_t hash = hash_of(&at->hash, key);
    const uint64_t lines = at->line_count;
    const uint32_t index =
        at->first_line +
        (uint32_t)(((hash >> 32) * lines + ((uint64_t)(uint32_t)hash * lines >> 32)) >> 32);
    const struct Line* const line = bpf_map_lookup_elem(&roost_lines, &index);
    if (!line) return kCertainlyNot;  // an image is larger than that
    const uint32_t version = version_of(line);
    if (version & 1) return kChanging;
    const uint32_t seed = seed_of(line, (uint32_t)((hash & 0xffff) * settings.groups >> 16));
    indices[level] = index;
    versions[level] = version;
    if (seed == 255) continue;
    const uint64_t word = slot_word_of(line, slot_of((uint32_t)(hash >> 16), seed));
    if (version_of(line) != version) return kChanging;
    *value = (uint32_t)word & absent;
    if (*value != absent) found = kFound;
    if (settings.fingerprint_bits != 0 &&
        word >> settings.value_bits !=
            hash * 0x9E3779B97F4A7C15U >> (64 - settings.fingerprint_bits))
      found = kCertainlyNot;
    break;
  }
  for (uint32_t i = 0; i < kXdpLevelsMax && i < level; ++i)
    if (!is_unchanged(indices[i], versions[i])) return kChanging;
  return found;
}

static __always_inline enum Found find_value(uint64_t key, uint32_t* value) {
  for (uint32_t tried = 0; tried < kXdpTries; ++tried) {
    const enum Found found = try_to_find(key, value);
    if (found != kChanging) return found;
  }
  return kChanging;
}
