// Maps of the C interface as C++ tests hold them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "capi/roost.h"
#include "capi/roost_map.h"
#include "roost/base/result.h"
#include "roost/traffic/draw.h"

namespace roost {

struct CMapDeleter {
  void operator()(roost_map* map) const { roost_map_destroy(map); }
  void operator()(roost_map_reader* reader) const { roost_map_reader_destroy(reader); }
};
using CMapHandle = std::unique_ptr<roost_map, CMapDeleter>;
using CMapReaderHandle = std::unique_ptr<roost_map_reader, CMapDeleter>;

inline roost_map_config c_map_config(uint32_t kind, uint32_t key_bytes) {
  roost_map_config config;
  roost_map_config_init(&config, sizeof(config));
  config.kind = kind;
  config.key_bytes = key_bytes;
  config.pages = ROOST_PAGES_4KIB;
  config.has_hash_seed = true;
  config.hash_seed = 1;
  return config;
}

// Keys side by side and values; what a batch of them answers.
struct CEntries {
  size_t key_bytes;
  std::vector<std::byte> keys{};
  std::vector<uint32_t> values{};

  [[nodiscard]] size_t count() const { return keys.size() / key_bytes; }
  [[nodiscard]] roost_keys lanes() const {
    roost_keys lanes{};
    lanes.keys = keys.data();
    lanes.count = count();
    return lanes;
  }
  [[nodiscard]] roost_keys lanes(size_t first, size_t number) const {
    roost_keys lanes{};
    lanes.keys = keys.data() + first * key_bytes;
    lanes.count = number;
    return lanes;
  }
};

// Different keys: their first bytes are a number, the others drawn by it; for Parrot, numbers that
// lie dense. Values tell keys apart mostly.
inline CEntries c_entries(size_t key_bytes, size_t count, uint32_t value_bits = 16,
                          uint64_t first = 0) {
  CEntries entries{.key_bytes = key_bytes};
  entries.keys.resize(count * key_bytes);
  for (size_t i = 0; i < count; ++i) {
    const uint64_t number = first + i;
    for (size_t byte = 0; byte < key_bytes; ++byte) {
      const uint64_t word = byte < 8 ? number : traffic::mix(number * 64 + byte / 8);
      entries.keys[i * key_bytes + byte] = static_cast<std::byte>(word >> (8 * (byte % 8)));
    }
    const uint32_t reserved = UINT32_MAX >> (32 - value_bits);
    entries.values.push_back(static_cast<uint32_t>(traffic::mix(number + 7) % reserved));
  }
  return entries;
}

struct CMapRefusal {
  roost_status status = ROOST_OK;
  std::string text{};
};

inline CMapRefusal c_create_map(const roost_map_config& config, const CEntries& entries,
                                CMapHandle& map) {
  auto* created = reinterpret_cast<roost_map*>(1);
  std::array<char, 400> error{};
  const roost_keys lanes = entries.lanes();
  const roost_status status = roost_map_create(&config, &lanes, entries.values.data(), &created,
                                               error.data(), error.size());
  map.reset(created);
  return {status, error.data()};
}

inline Result<CMapHandle> c_map(const roost_map_config& config, const CEntries& entries) {
  CMapHandle map;
  const CMapRefusal refusal = c_create_map(config, entries, map);
  if (refusal.status != ROOST_OK) return Error{refusal.text};
  return map;
}

inline CMapReaderHandle c_reader(const CMapHandle& map) {
  roost_map_reader* reader = nullptr;
  if (roost_map_reader_create(map.get(), &reader, nullptr, 0) != ROOST_OK) return {};
  return CMapReaderHandle(reader);
}

// What a lookup says: a bit and a value a lane, 0 where there is none.
struct CAnswer {
  explicit CAnswer(size_t lane_count)
      : values(lane_count), bits(ROOST_HIT_WORDS(lane_count), ~uint64_t{0}) {}

  [[nodiscard]] bool is_set(size_t lane) const { return roost_is_hit(bits.data(), lane); }

  std::vector<uint32_t> values;
  std::vector<uint64_t> bits;
  size_t count = 0;
};

inline CAnswer c_look_up(roost_map_reader* reader, const roost_keys& keys) {
  CAnswer answer(keys.count);
  answer.count =
      roost_map_reader_lookup_unverified(reader, &keys, answer.values.data(), answer.bits.data());
  return answer;
}
inline CAnswer c_find(const roost_map* map, const roost_keys& keys) {
  CAnswer answer(keys.count);
  answer.count = roost_map_find(map, &keys, answer.values.data(), answer.bits.data());
  return answer;
}

}  // namespace roost
