// A map as the C interface sees it: one set of operations, of which each kind and padded key size
// has its own (sized_map.h). The set is chosen once, at creation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "capi/map_plan.h"
#include "capi/roost_map.h"
#include "roost/base/hit_words.h"

namespace roost::capi {

// Why a call does not do what it was asked for.
struct Failure {
  roost_status status;
  std::string text;
};
using Failed = std::optional<Failure>;

inline constexpr const char* kNoMemoryForKeys = "no memory for a map and its keys; free some";

}  // namespace roost::capi

// Global, because C knows these by their names.
struct roost_map_reader {
  roost_map_reader() = default;
  roost_map_reader(const roost_map_reader&) = delete;
  roost_map_reader& operator=(const roost_map_reader&) = delete;
  virtual ~roost_map_reader() = default;

  virtual size_t lookup_unverified(const roost_keys& keys, uint32_t* values, uint64_t* maybe) = 0;
  virtual void pause() {}
  virtual void resume() {}
};

struct roost_map_rebuild {
  roost_map_rebuild() = default;
  roost_map_rebuild(const roost_map_rebuild&) = delete;
  roost_map_rebuild& operator=(const roost_map_rebuild&) = delete;
  virtual ~roost_map_rebuild() = default;

  virtual void run() = 0;
};

struct roost_map {
  explicit roost_map(roost::capi::MapKeyForm form) : key_form(form) {}
  roost_map(const roost_map&) = delete;
  roost_map& operator=(const roost_map&) = delete;
  virtual ~roost_map() = default;

  [[nodiscard]] virtual uint64_t key_count() const = 0;
  virtual size_t find(const roost_keys& keys, uint32_t* values, uint64_t* hits) const = 0;
  // A change that finds no memory would be half made: none of them may throw.
  virtual size_t insert(const roost_keys& keys, const uint32_t* values,
                        uint8_t* outcomes) noexcept = 0;
  virtual size_t update(const roost_keys& keys, const uint32_t* values,
                        uint8_t* outcomes) noexcept = 0;
  virtual size_t erase(const roost_keys& keys, uint8_t* outcomes) noexcept = 0;
  [[nodiscard]] virtual roost_map_figures report() const = 0;
  [[nodiscard]] virtual std::optional<std::string> audit() const = 0;
  virtual uint64_t export_to(std::byte* to, uint64_t to_bytes) const = 0;

  [[nodiscard]] virtual bool is_rebuilding() const = 0;
  // The same kind of keys; without a plan, as the map was built.
  virtual roost_map_rebuild* begin_rebuild(const roost::capi::MapPlan* plan) = 0;
  virtual roost::capi::Failed adopt() = 0;
  virtual void give_up() = 0;
  virtual size_t free_retired() = 0;

  [[nodiscard]] virtual std::unique_ptr<roost_map_reader> reader() = 0;

  const roost::capi::MapKeyForm key_form;
};
