// The structs of the C interface as they are for ever: sizes and places of fields on 64-bit
// machines. A struct that carries its size may get fields behind those that are here, and its size
// below grows with them; nothing else here ever changes.
#include <stddef.h>

#include "capi/roost.h"
#include "capi/roost_map.h"

// C99 has no static_assert: an array of -1 elements is what no compiler takes.
typedef char roost_config_is_as_it_was
    [sizeof(roost_config) == 120 && offsetof(roost_config, size) == 0 &&
             offsetof(roost_config, key_bytes) == 8 && offsetof(roost_config, value_bytes) == 12 &&
             offsetof(roost_config, capacity) == 16 && offsetof(roost_config, entries_max) == 24 &&
             offsetof(roost_config, hash_seed) == 32 && offsetof(roost_config, memory) == 40 &&
             offsetof(roost_config, memory_bytes) == 48 && offsetof(roost_config, kernel) == 56 &&
             offsetof(roost_config, on_expiry) == 64 &&
             offsetof(roost_config, on_expiry_context) == 72 &&
             offsetof(roost_config, numa_node) == 80 && offsetof(roost_config, pages) == 84 &&
             offsetof(roost_config, expires) == 88 && offsetof(roost_config, has_hash_seed) == 89 &&
             offsetof(roost_config, reserved) == 90 && offsetof(roost_config, layout) == 96 &&
             offsetof(roost_config, key_bits) == 100 && offsetof(roost_config, line_hint) == 104 &&
             offsetof(roost_config, access) == 112 &&
             offsetof(roost_config, version_counters) == 116
         ? 1
         : -1];

typedef char roost_flight_is_as_it_was[sizeof(roost_flight) == 640 ? 1 : -1];

typedef char roost_keys_is_as_it_was[sizeof(roost_keys) == 40 && offsetof(roost_keys, keys) == 0 &&
                                             offsetof(roost_keys, pointers) == 8 &&
                                             offsetof(roost_keys, hashes) == 16 &&
                                             offsetof(roost_keys, flight) == 24 &&
                                             offsetof(roost_keys, count) == 32
                                         ? 1
                                         : -1];

typedef char roost_timeouts_is_as_it_was[sizeof(roost_timeouts) == 16 &&
                                                 offsetof(roost_timeouts, each) == 0 &&
                                                 offsetof(roost_timeouts, all) == 8
                                             ? 1
                                             : -1];

typedef char roost_records_is_as_it_was[sizeof(roost_records) == 16 &&
                                                offsetof(roost_records, base) == 0 &&
                                                offsetof(roost_records, stride) == 8
                                            ? 1
                                            : -1];

typedef char roost_cursor_is_as_it_was[sizeof(roost_cursor) == 8 ? 1 : -1];

typedef char roost_info_is_as_it_was
    [sizeof(roost_info) == 96 && offsetof(roost_info, size) == 0 &&
             offsetof(roost_info, capacity) == 8 && offsetof(roost_info, entries_max) == 16 &&
             offsetof(roost_info, bucket_count) == 24 && offsetof(roost_info, memory_bytes) == 32 &&
             offsetof(roost_info, mapped_bytes) == 40 && offsetof(roost_info, pages) == 48 &&
             offsetof(roost_info, kernel) == 56 && offsetof(roost_info, key_bytes) == 64 &&
             offsetof(roost_info, value_bytes) == 68 && offsetof(roost_info, numa_node) == 72 &&
             offsetof(roost_info, expires) == 76 && offsetof(roost_info, layout) == 80 &&
             offsetof(roost_info, bucket_slots) == 88 && offsetof(roost_info, reserved) == 92
         ? 1
         : -1];

typedef char roost_stats_is_as_it_was
    [sizeof(roost_stats) == 352 && offsetof(roost_stats, size) == 0 &&
             offsetof(roost_stats, capacity) == 8 && offsetof(roost_stats, entry_count) == 16 &&
             offsetof(roost_stats, stash_slots) == 24 && offsetof(roost_stats, stashed) == 32 &&
             offsetof(roost_stats, created) == 40 && offsetof(roost_stats, erased) == 48 &&
             offsetof(roost_stats, expired) == 56 &&
             offsetof(roost_stats, expired_overwritten) == 64 &&
             offsetof(roost_stats, kicks) == 72 && offsetof(roost_stats, refusals) == 80 &&
             offsetof(roost_stats, path_lengths) == 88 &&
             offsetof(roost_stats, moved_histogram) == 160 &&
             offsetof(roost_stats, lookups) == 296 && offsetof(roost_stats, hits) == 304 &&
             offsetof(roost_stats, secondary_visits) == 312 &&
             offsetof(roost_stats, filter_false_positives) == 320 &&
             offsetof(roost_stats, tag_false_positives) == 328 &&
             offsetof(roost_stats, line_hint) == 336 && offsetof(roost_stats, hint_rounds) == 344
         ? 1
         : -1];

typedef char roost_violation_is_as_it_was
    [sizeof(roost_violation) == 152 && offsetof(roost_violation, size) == 0 &&
             offsetof(roost_violation, bucket) == 8 && offsetof(roost_violation, slot) == 16 &&
             offsetof(roost_violation, invariant) == 20 && offsetof(roost_violation, text) == 24
         ? 1
         : -1];

typedef char roost_map_config_is_as_it_was
    [sizeof(roost_map_config) == 72 && offsetof(roost_map_config, size) == 0 &&
             offsetof(roost_map_config, kind) == 8 && offsetof(roost_map_config, key_bytes) == 12 &&
             offsetof(roost_map_config, key_bits) == 16 &&
             offsetof(roost_map_config, value_bits) == 20 &&
             offsetof(roost_map_config, fingerprint_bits) == 24 &&
             offsetof(roost_map_config, insertion) == 28 &&
             offsetof(roost_map_config, load) == 32 && offsetof(roost_map_config, growth) == 40 &&
             offsetof(roost_map_config, hash_seed) == 48 &&
             offsetof(roost_map_config, numa_node) == 56 &&
             offsetof(roost_map_config, pages) == 60 &&
             offsetof(roost_map_config, has_hash_seed) == 64 &&
             offsetof(roost_map_config, keeps_keys) == 65 &&
             offsetof(roost_map_config, is_big_endian) == 66 &&
             offsetof(roost_map_config, reserved) == 67
         ? 1
         : -1];

typedef char roost_map_image_is_as_it_was
    [sizeof(roost_map_image) == 48 && offsetof(roost_map_image, size) == 0 &&
             offsetof(roost_map_image, path) == 8 && offsetof(roost_map_image, memory) == 16 &&
             offsetof(roost_map_image, memory_bytes) == 24 &&
             offsetof(roost_map_image, key_bytes) == 32 && offsetof(roost_map_image, pages) == 36 &&
             offsetof(roost_map_image, numa_node) == 40 &&
             offsetof(roost_map_image, is_big_endian) == 44 &&
             offsetof(roost_map_image, audits) == 45 && offsetof(roost_map_image, reserved) == 46
         ? 1
         : -1];

typedef char
    roost_map_figures_is_as_it_was[sizeof(roost_map_figures) == 160 &&
                                           offsetof(roost_map_figures, size) == 0 &&
                                           offsetof(roost_map_figures, key_count) == 8 &&
                                           offsetof(roost_map_figures, image_bytes) == 16 &&
                                           offsetof(roost_map_figures, builder_bytes) == 24 &&
                                           offsetof(roost_map_figures, level_count) == 32 &&
                                           offsetof(roost_map_figures, keys_by_level) == 40 &&
                                           offsetof(roost_map_figures, bucket_count) == 104 &&
                                           offsetof(roost_map_figures, failed_buckets) == 112 &&
                                           offsetof(roost_map_figures, stashed) == 120 &&
                                           offsetof(roost_map_figures, longest_walk) == 128 &&
                                           offsetof(roost_map_figures, model_bytes) == 136 &&
                                           offsetof(roost_map_figures, model_size) == 144 &&
                                           offsetof(roost_map_figures, model) == 152
                                       ? 1
                                       : -1];

typedef char map_constants_are_as_they_were
    [ROOST_MAP_LINE == 0 && ROOST_MAP_PARROT == 1 && ROOST_MAP_RESEED == 0 &&
             ROOST_MAP_STASH == 1 && ROOST_MAP_DONE == 0 && ROOST_MAP_NOT_FOUND == 1 &&
             ROOST_MAP_EXISTING == 2 && ROOST_MAP_TOO_WIDE == 3 && ROOST_MAP_BUCKET_FULL == 4 &&
             ROOST_MAP_NO_ROOM == 5 && ROOST_MAP_LEVELS == 8
         ? 1
         : -1];

// Numbers that programs were compiled with.
typedef char constants_are_as_they_were
    [ROOST_OK == 0 && ROOST_INVALID == 1 && ROOST_NO_MEMORY == 2 && ROOST_TIME_BACKWARDS == 3 &&
             ROOST_SCAN_OVERDUE == 4 && ROOST_BROKEN == 5 && ROOST_INSERTED == 0 &&
             ROOST_UPDATED == 1 && ROOST_EXISTING == 2 && ROOST_FULL == 3 && ROOST_WIDE_KEY == 4 &&
             ROOST_PAGES_LARGEST == 0 && ROOST_PAGES_1GIB == 1 && ROOST_PAGES_2MIB == 2 &&
             ROOST_PAGES_TRANSPARENT == 3 && ROOST_PAGES_4KIB == 4
         ? 1
         : -1];
