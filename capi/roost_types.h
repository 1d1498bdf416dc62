// The types of Roost's C interface; include roost.h, which has the functions and says how to begin.
//
// Structures that may grow begin with `size`, the caller's sizeof: an older program works with a
// newer library and the other way round. The others are final.
#pragma once

/// @file
/// Types of Roost's C interface: configuration, keys, timeouts, and what a table says of itself.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
// NOLINTBEGIN(modernize-use-using)

/// What became of a call that can fail; roost_status_text() says it in words.
typedef enum roost_status {
  ROOST_OK = 0,              ///< Done.
  ROOST_INVALID = 1,         ///< An argument or a field of the configuration is out of range.
  ROOST_NO_MEMORY = 2,       ///< Memory is unavailable, or the memory lent does not do.
  ROOST_TIME_BACKWARDS = 3,  ///< Time may not run backwards; the table kept the time it had.
  ROOST_SCAN_OVERDUE = 4,    ///< Time advanced past roost_table_scan_deadline(): entries
                             ///< that expired long ago may be found again.
  ROOST_BROKEN = 5           ///< roost_table_audit() found a broken invariant.
} roost_status;

/// What became of one lane of an insert or upsert, one byte a lane.
typedef enum roost_outcome {
  ROOST_INSERTED = 0,  ///< A new entry was created.
  ROOST_UPDATED = 1,   ///< Insert: the key was there and has the new value and timeout.
  ROOST_EXISTING = 2,  ///< Upsert: the key was there and is unchanged; its value came back.
  ROOST_FULL = 3,      ///< There is no place for the key; the table is as it was. See
                       ///< roost_config::entries_max for when this does not happen.
  ROOST_WIDE_KEY = 4   ///< The key has bits beyond roost_config::key_bits; the table is as it was.
} roost_outcome;

/// The kinds of memory pages that a table may ask for (roost_config::pages).
typedef enum roost_pages {
  ROOST_PAGES_LARGEST = 0,      ///< The largest available, tried in the order below.
  ROOST_PAGES_1GIB = 1,         ///< Reserved pages of 1 GiB, or an error.
  ROOST_PAGES_2MIB = 2,         ///< Reserved pages of 2 MiB, or an error.
  ROOST_PAGES_TRANSPARENT = 3,  ///< Huge pages asked of Linux, which may give fewer.
  ROOST_PAGES_4KIB = 4          ///< The system's ordinary pages.
} roost_pages;

/// Where a table keeps keys and values (roost_config::layout). The inline layout is for keys of 4
/// to 16 bytes which, together with the value, have at most 29 bytes (but not 9 + 20); the packed
/// one for keys of 8 to 60 bits and values of up to 2 bytes, without expiry.
typedef enum roost_layout {
  ROOST_LAYOUT_AUTOMATIC = 0,  ///< Packed where it can be, as 6 + 2 bytes; else inline where it
                               ///< can be and takes no more memory for an entry that the table
                               ///< can promise to hold, as 13 + 16, 13 + 4 and 8 + 8; else split,
                               ///< as 16 + 8 and 16 + 16.
  ROOST_LAYOUT_SPLIT = 1,      ///< Eight slots a bucket; a hit costs two cache lines.
  ROOST_LAYOUT_INLINE = 2,     ///< In the bucket's own line: three slots for up to 17 bytes of key
                               ///< and value, else two; a hit costs one cache line, nearly always.
  ROOST_LAYOUT_PACKED = 3      ///< Eight bytes an entry, eight slots a bucket: a hit costs one
                               ///< cache line, nearly always, a miss two. Keys of 48 bits need 32
                               ///< slots or more, of 60 bits 131,072.
} roost_layout;

/// Who may use a table at a time (roost_config::access).
typedef enum roost_access {
  ROOST_ACCESS_EXCLUSIVE = 0,  ///< One thread.
  ROOST_ACCESS_SHARED = 1      ///< One thread changes it while others look keys up, each with a
                               ///< roost_reader: see roost_shared.h. For packed tables.
} roost_access;

/// A table; one thread at a time may use it. Created by roost_table_create().
typedef struct roost_table roost_table;

/// The eviction callback: called once for each expired entry, while the table is in the middle of a
/// call: it must not call that table. `key` has key_bytes, `value` has value_bytes bytes; both are
/// valid only during the call.
typedef void (*roost_on_expiry)(void* context, const void* key, const void* value);

/// What a table is to be. Begin with roost_config_init(), then set key_bytes and capacity or
/// entries_max; zero means the default everywhere else, but for numa_node, whose default is -1.
typedef struct roost_config {
  size_t size;           ///< The caller's sizeof(roost_config); set by roost_config_init().
  uint32_t key_bytes;    ///< Bytes of a key, 1 to 64; fastest are 8, 16, 24, 32, 40 and 64.
  uint32_t value_bytes;  ///< Bytes of a value, 0 (a set of keys) to 256.
  uint64_t capacity;     ///< Slots, at least two buckets of them, and rounded up to a multiple of
                      ///< that: 16 when split or packed, 4 or 6 when inline. From 4,096 on, 95 % of
                      ///< them take an entry, nearly always 99 %; inline 85 % with two slots a
                      ///< bucket, 90 % with three. 0: by entries_max.
  uint64_t entries_max;   ///< A promise: no insert is refused while the table holds fewer
                          ///< entries, at most 95 % of capacity (inline: 85 or 90 %), unless the
                          ///< keys were chosen with knowledge of the hash seed. Costs a stash
                          ///< of 16 slots, or 48 inline. 0: no promise.
  uint64_t hash_seed;     ///< For runs that must repeat; counts only with has_hash_seed.
  void* memory;           ///< Memory to use, aligned to 64 bytes, alive as long as the table; or
                          ///< NULL: the table maps its own.
  uint64_t memory_bytes;  ///< Bytes at `memory`; roost_table_bytes() gives how many are needed.
  const char* kernel;     ///< The instructions to use: "scalar", "sse4.2", "avx2", "neon"; or
                          ///< NULL: the best.
  roost_on_expiry on_expiry;  ///< The eviction callback of expired entries; or NULL.
  void* on_expiry_context;    ///< Passed to on_expiry.
  int32_t numa_node;          ///< Node that mapped memory is to come from; -1: any.
  uint32_t pages;             ///< A roost_pages, for mapped memory.
  bool expires;               ///< Whether entries live by timeouts; else until they are erased.
  bool has_hash_seed;         ///< Use hash_seed; else a random one, which defends against flooding.
  uint8_t reserved[6];        ///< Zero.
  uint32_t layout;            ///< A roost_layout: where keys and values are kept.
  uint32_t key_bits;          ///< How many of a key's bits may be set, the lowest of it as a
                              ///< little-endian number: for the packed layout, which refuses keys
                              ///< with others (ROOST_WIDE_KEY) and finds none; 0: all of them.
  const char* line_hint;      ///< Where to prefetch lines to: "T0" (every cache level), "T1" (the
                              ///< second), "NTA" (past the caches); or NULL: what lookups are
                              ///< fastest with, tried again now and then.
  uint32_t access;            ///< A roost_access: who may use the table at a time.
  uint32_t version_counters;  ///< Of a shared table: how many counters tell its readers of changes,
                              ///< a power of two. The more, the less often does a change elsewhere
                              ///< make a reader search again. 0: 8,192.
} roost_config;

/// A lookup on its way: the caller's storage, opaque, about ten cache lines. It borrows the keys
/// and hashes (not the roost_keys) until it is finished; one that is never finished costs nothing.
typedef struct roost_flight {
  uint64_t opaque[80];  ///< The table's business.
} roost_flight;

/// The keys of a batch, in one of three forms; any count, 0 too. Fields not used are NULL.
/// Side by side: `keys`, key_bytes apart. Wherever they are: `pointers`, one a key. On their way
/// since roost_table_start(): `flight`, and nothing else. Keys need no alignment and no padding.
typedef struct roost_keys {
  const void* keys;             ///< The keys side by side, or NULL.
  const void* const* pointers;  ///< One pointer a key, when `keys` is NULL.
  const uint64_t* hashes;       ///< Their hashes, or NULL. Only those that roost_table_hash() of a
                                ///< table with the same seed and key size gave: with others, such
                                ///< as a card's, keys are not found, which only audit notices.
  const roost_flight* flight;   ///< A lookup on its way; the other fields do not count. Or NULL.
  size_t count;                 ///< Number of keys: the lanes of the batch.
} roost_keys;

/// How long entries are to live, in ticks from now; more than 1,023 becomes 1,023. Ignored by
/// tables without expiry. Where a function takes timeouts, NULL stands for 1,023 for all.
typedef struct roost_timeouts {
  const uint32_t* each;  ///< One timeout a lane; or NULL: the same for all.
  uint32_t all;          ///< The timeout of all lanes when `each` is NULL.
} roost_timeouts;

/// Records kept outside the table, whose values are indices of them (roost_table_lookup_records()).
typedef struct roost_records {
  const void* base;  ///< Record 0.
  size_t stride;     ///< Bytes from a record to the next.
} roost_records;

/// Where a scan of the table stands; begin with zero. See roost_table_scan().
typedef struct roost_cursor {
  uint64_t position;  ///< The table's business.
} roost_cursor;

/// What a table is. Set `size`, call roost_table_info().
typedef struct roost_info {
  size_t size;            ///< In: the caller's sizeof(roost_info). Out: bytes that were filled.
  uint64_t capacity;      ///< Slots.
  uint64_t entries_max;   ///< The number of entries promised, or 0.
  uint64_t bucket_count;  ///< Buckets, the stash's included, for maintain and dump.
  uint64_t memory_bytes;  ///< Bytes of memory that buckets, entries and fixed parts take.
  uint64_t mapped_bytes;  ///< Bytes taken from the system, or lent: whole pages.
  const char* pages;      ///< What the memory is on: "1 GiB", "2 MiB", "transparent huge", "4 KiB",
                          ///< "caller's".
  const char* kernel;     ///< The instructions in use: "scalar", "sse4.2", "avx2", "neon".
  uint32_t key_bytes;     ///< As configured.
  uint32_t value_bytes;   ///< As configured.
  int32_t numa_node;      ///< As configured.
  uint32_t expires;       ///< 1 when entries live by timeouts, else 0.
  const char* layout;     ///< Where keys and values are kept: "split", "inline" or "packed".
  uint32_t bucket_slots;  ///< Slots of a bucket: 8, or 2 or 3 when inline.
  uint32_t reserved;      ///< Zero.
} roost_info;

/// Fields of roost_stats::path_lengths, of roost_stats::moved_histogram, and of what
/// roost_table_occupancy() fills.
enum { ROOST_PATH_LENGTHS = 9, ROOST_MOVED_FIELDS = 17, ROOST_OCCUPANCY_FIELDS = 9 };

/// How a table does: counts since its creation. Set `size`, call roost_table_stats().
/// Always created == entry_count + erased + expired.
typedef struct roost_stats {
  size_t size;                   ///< In: the caller's sizeof(roost_stats). Out: bytes filled.
  uint64_t capacity;             ///< Slots.
  uint64_t entry_count;          ///< Entries held: live, and expired ones not yet reclaimed.
  uint64_t stash_slots;          ///< Slots of the stash that a promise (entries_max) takes;
                                 ///< the capacity does not count them.
  uint64_t stashed;              ///< Entries in it.
  uint64_t created;              ///< Entries created.
  uint64_t erased;               ///< Entries erased or cleared.
  uint64_t expired;              ///< Entries reclaimed after expiry: calls of on_expiry.
  uint64_t expired_overwritten;  ///< Of those, found by an insert that wanted the slot or the key.
  uint64_t kicks;                ///< Entries moved to their other bucket.
  uint64_t refusals;             ///< Lanes that met a full table.
  /// Field n counts the inserts that moved n entries.
  uint64_t path_lengths[ROOST_PATH_LENGTHS];
  /// Field n counts the buckets with n entries in their secondary or the stash, the last also
  /// those with more. The stash's buckets count.
  uint64_t moved_histogram[ROOST_MOVED_FIELDS];
  uint64_t lookups;                 ///< Keys looked up.
  uint64_t hits;                    ///< Of those, found.
  uint64_t secondary_visits;        ///< Second buckets touched by lookups.
  uint64_t filter_false_positives;  ///< Of those, in vain.
  uint64_t tag_false_positives;     ///< Entries that lookups compared in vain.
  const char* line_hint;            ///< Where lookups prefetch lines to: "T0", "T1" or "NTA".
  uint64_t hint_rounds;             ///< How often all hints were tried for that.
} roost_stats;

/// A broken invariant and where. Set `size`, call roost_table_audit().
typedef struct roost_violation {
  size_t size;        ///< In: the caller's sizeof(roost_violation). Out: bytes that were filled.
  uint64_t bucket;    ///< The bucket, or 0 when it concerns the whole table.
  uint32_t slot;      ///< The slot, where it concerns one, else 0.
  int32_t invariant;  ///< The number of the invariant in roost/table/engine.h.
  char text[128];     ///< What is wrong.
} roost_violation;

// NOLINTEND(modernize-use-using)
#ifdef __cplusplus
}
#endif
