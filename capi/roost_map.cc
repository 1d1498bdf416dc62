// The functions of roost_map.h: each turns C's arguments into the map's and calls its operation.
#include "capi/roost_map.h"

#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <string_view>

#include "capi/config_fields.h"
#include "capi/error_text.h"
#include "capi/image_file.h"
#include "capi/map.h"
#include "capi/map_class.h"
#include "capi/map_plan.h"
#include "capi/sized_struct.h"
#include "roost/compact/image_head.h"

namespace roost::capi {
namespace {

constexpr const char* kNoMemoryForReader = "no memory for a reader; free some";

roost_status create(const roost_map_config& config, const roost_keys& keys, const uint32_t* values,
                    roost_map** map, const ErrorText& fail) {
  const auto plan = plan_of(config);
  if (!plan) return fail(ROOST_INVALID, plan.error().message);
  if (keys.hashes != nullptr || keys.flight != nullptr) {
    return fail(ROOST_INVALID,
                "roost_keys: hashes or flight is set, which a map has no use for; leave both NULL");
  }
  const MapKeyForm& form = plan.value().key_form;
  std::unique_ptr<roost_map> created;
  const Failed failed =
      map_class_of(form.kind, form.key_bytes).create(plan.value(), keys, values, created);
  if (failed) return fail(failed->status, failed->text);
  *map = created.release();
  return ROOST_OK;
}

// The kind that an image says it is; what is none is refused by the class that opens it.
compact::ImageKind kind_of(std::span<const std::byte> image) {
  compact::ImageHead head;
  if (image.size() < sizeof head) return compact::ImageKind::kLineMap;
  std::memcpy(&head, image.data(), sizeof head);
  return head.kind;
}

roost_status open(const roost_map_image& wanted, roost_map_reader** reader, const ErrorText& fail) {
  const auto plan = plan_of(wanted);
  if (!plan) return fail(ROOST_INVALID, plan.error().message);
  const std::string& path = plan.value().path;
  ImageBytes image{.bytes = plan.value().memory};
  if (!path.empty()) {
    if (const Failed failed = read_image(path, plan.value().copy, image))
      return fail(failed->status, failed->text);
  }
  std::unique_ptr<roost_map_reader> opened;
  const MapClass map_class = map_class_of(kind_of(image.bytes), plan.value().key_bytes);
  const Failed failed = map_class.open(plan.value(), std::move(image), opened);
  if (failed) return fail(failed->status, (path.empty() ? "" : path + ": ") + failed->text);
  *reader = opened.release();
  return ROOST_OK;
}

roost_status begin_rebuild(roost_map& map, const roost_map_config* config,
                           roost_map_rebuild** rebuild, const ErrorText& fail) {
  if (map.is_rebuilding()) {
    return fail(ROOST_INVALID,
                "a rebuild has been begun already; adopt it, or give it up, before the next one");
  }
  if (config == nullptr) {
    *rebuild = map.begin_rebuild(nullptr);
    return ROOST_OK;
  }
  const auto plan = plan_of(*config);
  if (!plan) return fail(ROOST_INVALID, plan.error().message);
  if (plan.value().key_form != map.key_form) {
    return fail(ROOST_INVALID,
                "roost_map_config: kind, key_bytes or is_big_endian is not the map's, and a "
                "rebuild keeps them; create another map");
  }
  *rebuild = map.begin_rebuild(&plan.value());
  return ROOST_OK;
}

}  // namespace
}  // namespace roost::capi

using namespace roost;
using namespace roost::capi;

void roost_map_config_init(roost_map_config* config, size_t size) { set_defaults(config, size); }

roost_status roost_map_create(const roost_map_config* config, const roost_keys* keys,
                              const uint32_t* values, roost_map** map, char* error,
                              size_t error_bytes) try {
  *map = nullptr;
  return create(*config, *keys, values, map, {error, error_bytes});
} catch (const std::bad_alloc&) {
  return ErrorText{error, error_bytes}(ROOST_NO_MEMORY, kNoMemoryForKeys);
}

void roost_map_destroy(roost_map* map) { delete map; }

uint64_t roost_map_key_count(const roost_map* map) { return map->key_count(); }

size_t roost_map_find(const roost_map* map, const roost_keys* keys, uint32_t* values,
                      uint64_t* hits) {
  return map->find(*keys, values, hits);
}

size_t roost_map_insert(roost_map* map, const roost_keys* keys, const uint32_t* values,
                        uint8_t* outcomes) {
  return map->insert(*keys, values, outcomes);
}

size_t roost_map_update(roost_map* map, const roost_keys* keys, const uint32_t* values,
                        uint8_t* outcomes) {
  return map->update(*keys, values, outcomes);
}

size_t roost_map_erase(roost_map* map, const roost_keys* keys, uint8_t* outcomes) {
  return map->erase(*keys, outcomes);
}

roost_status roost_map_report(const roost_map* map, roost_map_figures* report) try {
  if (!is_struct_size(report->size)) return ROOST_INVALID;
  fill(report, map->report());
  return ROOST_OK;
} catch (const std::bad_alloc&) {
  return ROOST_NO_MEMORY;
}

roost_status roost_map_audit(const roost_map* map, char* error, size_t error_bytes) try {
  const auto wrong = map->audit();
  return wrong ? ErrorText{error, error_bytes}(ROOST_BROKEN, *wrong) : ROOST_OK;
} catch (const std::bad_alloc&) {
  return ErrorText{error, error_bytes}(ROOST_NO_MEMORY, "no memory to audit with; free some");
}

uint64_t roost_map_export(const roost_map* map, void* to, uint64_t to_bytes) {
  return map->export_to(static_cast<std::byte*>(to), to_bytes);
}

roost_status roost_map_begin_rebuild(roost_map* map, const roost_map_config* config,
                                     roost_map_rebuild** rebuild, char* error,
                                     size_t error_bytes) try {
  *rebuild = nullptr;
  return begin_rebuild(*map, config, rebuild, {error, error_bytes});
} catch (const std::bad_alloc&) {
  return ErrorText{error, error_bytes}(ROOST_NO_MEMORY, kNoMemoryForKeys);
}

void roost_map_rebuild_run(roost_map_rebuild* rebuild) { rebuild->run(); }

roost_status roost_map_adopt(roost_map* map, char* error, size_t error_bytes) try {
  const Failed failed = map->adopt();
  return failed ? ErrorText{error, error_bytes}(failed->status, failed->text) : ROOST_OK;
} catch (const std::bad_alloc&) {
  return ErrorText{error, error_bytes}(ROOST_NO_MEMORY, kNoMemoryForKeys);
}

void roost_map_give_up(roost_map* map) { map->give_up(); }

size_t roost_map_free_retired(roost_map* map) { return map->free_retired(); }

roost_status roost_map_reader_create(roost_map* map, roost_map_reader** reader, char* error,
                                     size_t error_bytes) try {
  *reader = nullptr;
  *reader = map->reader().release();
  return ROOST_OK;
} catch (const std::bad_alloc&) {
  return ErrorText{error, error_bytes}(ROOST_NO_MEMORY, kNoMemoryForReader);
}

void roost_map_image_init(roost_map_image* image, size_t size) { set_defaults(image, size); }

roost_status roost_map_reader_open(const roost_map_image* image, roost_map_reader** reader,
                                   char* error, size_t error_bytes) try {
  *reader = nullptr;
  return capi::open(*image, reader, {error, error_bytes});
} catch (const std::bad_alloc&) {
  return ErrorText{error, error_bytes}(ROOST_NO_MEMORY, kNoMemoryForReader);
}

void roost_map_reader_destroy(roost_map_reader* reader) { delete reader; }

size_t roost_map_reader_lookup_unverified(roost_map_reader* reader, const roost_keys* keys,
                                          uint32_t* values, uint64_t* maybe) {
  return reader->lookup_unverified(*keys, values, maybe);
}

void roost_map_reader_pause(roost_map_reader* reader) { reader->pause(); }

void roost_map_reader_resume(roost_map_reader* reader) { reader->resume(); }
