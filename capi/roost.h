// Roost's C interface: exact-match tables for network dataplanes, for C99 and all that can call C.
//
// Its types are in roost_types.h, tables that threads share in roost_shared.h; the C++ headers are
// in roost/.
#pragma once

/// @file roost.h
/// The functions of Roost's C interface. The main page says how to begin.

/// @mainpage roost.h
/// Roost's C interface: exact match of flow keys in batches, with expiry inside. All of it is in
/// roost.h, roost_types.h and roost_shared.h.
///
///     roost_config config;
///     roost_config_init(&config, sizeof config);
///     config.key_bytes = sizeof(struct flow_key);
///     config.value_bytes = sizeof(struct flow);
///     config.entries_max = 1000000;
///     roost_table *table;
///     char error[256];
///     if (roost_table_create(&config, &table, error, sizeof error) != ROOST_OK) give_up(error);
///
///     const roost_keys keys = {.keys = burst_keys, .count = 32};
///     uint64_t hits[ROOST_HIT_WORDS(32)];
///     struct flow flows[32];
///     roost_table_lookup(table, &keys, flows, hits);
///
/// **Batches.** Keys come as a roost_keys, any count; a key's place in it is its lane. Hit words
/// have one bit a lane: bit i % 64 of word i / 64; they are the truth, and whole words are written.
/// Lanes that miss leave their output untouched. Values stand side by side, value_bytes apart. In
/// calls that change the table, duplicate keys act in lane order. A call costs constant time a
/// lane; the lanes of one call wait for memory together, those of several calls one after the
/// other.
///
/// **Threads.** One at a time a table, any thread, a DPDK lcore too; lookups count as use. Give
/// each worker its own table, or share one whose readers need no lock: roost_shared.h.
///
/// **Errors.** Calls that can fail return a roost_status. Nothing prints, no exception leaves, and
/// nothing allocates memory after roost_table_create() but roost_table_save(), roost_table_audit()
/// and roost_table_dump_bucket(). Pointers must be good and counts true: they are not checked.
///
/// **Source.** N. Le Scouarnec: Cuckoo++ Hash Tables, ANCS 2018. A hit costs two cache lines,
/// or one where key and value are small (roost_layout), a miss one, nearly always.

#include "roost_types.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Major version of this header: changes when programs have to.
#define ROOST_VERSION_MAJOR 0
/// Minor version of this header: changes when something is added.
#define ROOST_VERSION_MINOR 1
/// Patch version of this header.
#define ROOST_VERSION_PATCH 0

/// Number of hit words that a batch of `count` lanes needs; a constant when `count` is one.
#define ROOST_HIT_WORDS(count) (((count) + 63) / 64)

/// Whether a lane hit.
/// @param hits  Hit words that a call has filled.
/// @param lane  A lane of that call's batch.
/// @return true when its bit is set.
static inline bool roost_is_hit(const uint64_t* hits, size_t lane) {
  return ((hits[lane / 64] >> (lane % 64)) & 1) != 0;
}

/// The version of the library in use, "0.1.0": that of this header or a later one of its major.
/// @return a constant text.
const char* roost_version(void);

/// A status in words.
/// @param status  What a call returned.
/// @return a constant text; for numbers that are no status, one that says so.
const char* roost_status_text(roost_status status);

/// @name Creating and freeing a table
/// @{

/// Sets every field to its default: zero, but for `size` and numa_node.
/// @param config  To be filled.
/// @param size    sizeof(roost_config) of the caller.
void roost_config_init(roost_config* config, size_t size);

/// Gives how much memory a table takes, for callers that lend it (roost_config::memory).
/// @param config       What the table is to be; memory and memory_bytes do not count.
/// @param bytes        Gets the bytes needed.
/// @param error        Gets a text, cut to fit: what is wrong, where, what to do. Or NULL.
/// @param error_bytes  Bytes at `error`.
/// @return ROOST_OK, or ROOST_INVALID with a text.
roost_status roost_table_bytes(const roost_config* config, uint64_t* bytes, char* error,
                               size_t error_bytes);

/// Creates an empty table. Fresh memory is not touched, of lent memory one line in a bucket is.
/// @param config       What it is to be.
/// @param table        Gets the table, or NULL.
/// @param error        Gets a text, cut to fit: what is wrong, where, what to do. Or NULL.
/// @param error_bytes  Bytes at `error`.
/// @return ROOST_OK; ROOST_INVALID (a field out of range, a promise that cannot be kept,
///         instructions that do not run here); or ROOST_NO_MEMORY.
roost_status roost_table_create(const roost_config* config, roost_table** table, char* error,
                                size_t error_bytes);

/// Finds the table that memory was lent to, by this process or another one, at any address; one at
/// a time may use it. Whether its last user left it whole, roost_table_audit() says.
/// @param config       What it is: sizes, expiry, layout; memory; kernel and line_hint. What the
///                     table has already (capacity, entries_max, hash_seed) stays unset.
/// @param table        Gets the table, or NULL.
/// @param error        Gets a text, cut to fit: what is wrong, where, what to do. Or NULL.
/// @param error_bytes  Bytes at `error`.
/// @return ROOST_OK; ROOST_INVALID: a field out of range, or the memory holds no such table, or not
///         all of it; or ROOST_NO_MEMORY.
roost_status roost_table_adopt(const roost_config* config, roost_table** table, char* error,
                               size_t error_bytes);

/// Saves the table as a file that says what it is: read into memory, roost_table_adopt() finds the
/// table in it. What was in the file's place stays until all is written.
/// @param table        The table.
/// @param path         Where the file is to be.
/// @param error        Gets a text, cut to fit: what is wrong. Or NULL.
/// @param error_bytes  Bytes at `error`.
/// @return ROOST_OK; ROOST_INVALID: it cannot be written; or ROOST_NO_MEMORY.
roost_status roost_table_save(const roost_table* table, const char* path, char* error,
                              size_t error_bytes);

/// Frees a table and its memory, not what was lent. on_expiry is not called for what it holds.
/// @param table  A table, or NULL: nothing happens.
void roost_table_destroy(roost_table* table);

/// @}
/// @name Lookup
/// @{

/// Looks keys up and copies their values. To change them: roost_table_find(). For values that are
/// indices of records elsewhere: roost_table_lookup_records().
/// @param table   The table.
/// @param keys    The keys, or a lookup in flight.
/// @param values  Gets the value of each lane that hits; or NULL: only the hits are wanted.
/// @param hits    Gets the hit words, ROOST_HIT_WORDS(keys->count) of them.
/// @return the number of hits.
size_t roost_table_lookup(roost_table* table, const roost_keys* keys, void* values, uint64_t* hits);

/// Looks keys up and points to their values in place, which may be written. The pointers are
/// aligned for every type whose size is value_bytes (in the split layout, to 8) and valid until the
/// next insert, upsert, erase, clear or maintain, of any key.
/// @param table   The table.
/// @param keys    The keys, or a lookup in flight.
/// @param values  Gets a pointer for each lane that hits.
/// @param hits    Gets the hit words.
/// @return the number of hits.
size_t roost_table_find(roost_table* table, const roost_keys* keys, void** values, uint64_t* hits);

/// Looks keys up, copies their values, and gives the entries found a new time to live.
/// @param table     The table.
/// @param keys      The keys, or a lookup in flight.
/// @param timeouts  How long the entries found are to live from now; or NULL.
/// @param values    Gets the value of each lane that hits; or NULL.
/// @param hits      Gets the hit words.
/// @return the number of hits.
size_t roost_table_lookup_refresh(roost_table* table, const roost_keys* keys,
                                  const roost_timeouts* timeouts, void* values, uint64_t* hits);

/// Looks up keys whose values are indices of records kept outside the table, and prefetches the
/// first line of each record found, at base + stride * index. Only for tables whose value_bytes is
/// 4 (indices are uint32_t) or 8 (uint64_t).
/// @param table    The table.
/// @param keys     The keys, or a lookup in flight.
/// @param records  Where the records are.
/// @param indices  Gets the index of each lane that hits.
/// @param hits     Gets the hit words.
/// @return the number of hits.
size_t roost_table_lookup_records(roost_table* table, const roost_keys* keys,
                                  const roost_records* records, void* indices, uint64_t* hits);

/// Starts a lookup: hashes keys and asks for their lines. Any lookup call finishes it, when given a
/// roost_keys with this flight. The table may change in between.
/// @param table   The table.
/// @param keys    The keys; not a flight.
/// @param flight  The caller's storage; becomes the lookup on its way.
void roost_table_start(const roost_table* table, const roost_keys* keys, roost_flight* flight);

/// Finishes a lookup as roost_table_lookup() does, and starts the next while its last lines arrive:
/// the best overlap of successive bursts.
/// @param table   The table.
/// @param flight  The lookup to finish; becomes the one started.
/// @param values  Gets the value of each lane of the finished lookup that hits; or NULL.
/// @param hits    Gets its hit words.
/// @param next    The keys to start with; not a flight.
/// @return the number of hits of the finished lookup.
size_t roost_table_lookup_and_start(roost_table* table, roost_flight* flight, void* values,
                                    uint64_t* hits, const roost_keys* next);

/// The hashes that roost_keys::hashes takes. They depend on the table's seed and key size, and on
/// nothing else: tables that have both in common have their hashes in common.
/// @param table   The table.
/// @param keys    The keys; not a flight.
/// @param hashes  Gets one hash a lane.
void roost_table_hash(const roost_table* table, const roost_keys* keys, uint64_t* hashes);

/// @}
/// @name Change
/// @{

/// Creates entries, or gives existing ones the new value and timeout.
/// @param table     The table.
/// @param keys      The keys; not a flight.
/// @param values    One value a lane; may be NULL when value_bytes is 0.
/// @param timeouts  How long they are to live from now; or NULL.
/// @param outcomes  Gets a roost_outcome a lane: ROOST_INSERTED, ROOST_UPDATED or ROOST_FULL.
/// @return the number of lanes that did not meet a full table.
size_t roost_table_insert(roost_table* table, const roost_keys* keys, const void* values,
                          const roost_timeouts* timeouts, uint8_t* outcomes);

/// Creates the entries that are missing. Where a key exists, the entry stays as it is, its timeout
/// too, and the lane's value becomes what the table holds. So where a new key comes twice in a
/// batch, its second lane is ROOST_EXISTING and gets the first one's value.
/// @param table     The table.
/// @param keys      The keys; not a flight.
/// @param values    One value a lane, read and written; may be NULL when value_bytes is 0.
/// @param timeouts  How long new entries are to live from now; or NULL.
/// @param outcomes  Gets a roost_outcome a lane: ROOST_INSERTED, ROOST_EXISTING or ROOST_FULL.
/// @return the number of lanes that did not meet a full table.
size_t roost_table_upsert(roost_table* table, const roost_keys* keys, void* values,
                          const roost_timeouts* timeouts, uint8_t* outcomes);

/// Removes live entries; on_expiry is not called for them.
/// @param table   The table.
/// @param keys    The keys; not a flight.
/// @param erased  Gets hit words: the lanes whose key was there.
/// @return the number of entries erased.
size_t roost_table_erase(roost_table* table, const roost_keys* keys, uint64_t* erased);

/// Gives an entry that roost_table_find() has just found a new time to live.
/// @param table    The table.
/// @param value    The pointer from roost_table_find().
/// @param timeout  Ticks from now.
void roost_table_refresh(roost_table* table, const void* value, uint32_t timeout);

/// How long an entry that roost_table_find() has just found lives on.
/// @param table  The table.
/// @param value  The pointer from roost_table_find().
/// @return ticks from now, at most 1,023; that, in a table without expiry. Zero: to the end of this
/// tick.
uint32_t roost_table_ticks_left(const roost_table* table, const void* value);

/// Drops every entry, which count as erased; on_expiry is not called. Time linear in the capacity.
/// @param table  The table.
void roost_table_clear(roost_table* table);

/// Copies out the live entries, a part a call. An entry that is there during the whole scan comes
/// exactly once, whatever is erased, refreshed or expires between calls; only inserts that move
/// other entries (roost_stats::kicks grows) may make one come twice or not at all. What came out
/// are copies: entries erased after the call are still in its arrays. A caller that erases others
/// than the entry at hand goes by the bits of roost_table_erase(), or takes a `max` of 1. Time
/// linear in the slots passed.
/// @param table   The table.
/// @param cursor  Zero to begin with; where to go on.
/// @param keys    Gets the keys, key_bytes apart; or NULL.
/// @param values  Gets the values, value_bytes apart; or NULL.
/// @param max     Room for this many entries, at least 1.
/// @return the number of entries; 0 at the end.
size_t roost_table_scan(const roost_table* table, roost_cursor* cursor, void* keys, void* values,
                        size_t max);

/// As roost_table_scan(), but looks at a bounded number of buckets, so that a call on a large table
/// with few entries does not take long: 67 million empty slots are 136 ms away from each other.
/// @param table          The table.
/// @param cursor         Zero to begin with; where to go on.
/// @param keys           Gets the keys, key_bytes apart; or NULL.
/// @param values         Gets the values, value_bytes apart; or NULL.
/// @param max            Room for this many entries, at least 1.
/// @param bucket_budget  Buckets to look at, at least 1; roost_info::bucket_count is all of them.
/// @param count          Gets the number of entries, which may be 0.
/// @return nonzero while the scan is not at its end.
int roost_table_scan_part(const roost_table* table, roost_cursor* cursor, void* keys, void* values,
                          size_t max, uint64_t bucket_budget, size_t* count);

/// @}
/// @name Time
/// A tick is as long as the caller says. An entry given n ticks lives at least n and less than
/// n + 1 of them.
/// @{

/// Moves the table's time. Constant time: an expired entry simply stops being found.
/// @param table  The table.
/// @param now    The time in ticks, not in the past.
/// @return ROOST_OK, ROOST_TIME_BACKWARDS or ROOST_SCAN_OVERDUE.
roost_status roost_table_advance(roost_table* table, uint64_t now);

/// The table's time.
/// @param table  The table.
/// @return ticks, as given to roost_table_advance(); 0 before.
uint64_t roost_table_now(const roost_table* table);

/// Looks at the next buckets for expired entries, hands them to on_expiry and frees their slots. It
/// goes on where it stopped, and must get through all buckets by roost_table_scan_deadline().
/// @param table          The table.
/// @param bucket_budget  How many buckets to look at.
/// @return the number of entries reclaimed.
uint64_t roost_table_maintain(roost_table* table, uint64_t bucket_budget);

/// The time by which roost_table_maintain() must have seen every bucket.
/// @param table  The table.
/// @return ticks.
uint64_t roost_table_scan_deadline(const roost_table* table);

/// @}
/// @name What a table is and how it does
/// @{

/// What the table is. Constant time.
/// @param table  The table.
/// @param info   Its `size` says how much to fill; fields this library does not know become zero.
/// @return ROOST_OK, or ROOST_INVALID when `size` is too small to be any.
roost_status roost_table_info(const roost_table* table, roost_info* info);

/// How the table does. Constant time. `roost_stats stats = {.size = sizeof stats};` comes before.
/// @param table  The table.
/// @param stats  Its `size` says how much to fill; fields this library does not know become zero.
/// @return ROOST_OK, or ROOST_INVALID when `size` is too small to be any.
roost_status roost_table_stats(const roost_table* table, roost_stats* stats);

/// How full the buckets are. Time linear in the capacity.
/// @param table    The table.
/// @param buckets  Gets ROOST_OCCUPANCY_FIELDS numbers: field n counts the buckets, the stash's
///                 included, that hold n entries, expired ones not yet reclaimed included.
void roost_table_occupancy(const roost_table* table, uint64_t* buckets);

/// Checks every invariant. Time linear in the capacity; allocates 24 bytes a bucket meanwhile, but
/// of a packed table nothing.
/// @param table      The table.
/// @param violation  Gets the first broken invariant, by its `size`; or NULL.
/// @return ROOST_OK, ROOST_BROKEN, ROOST_NO_MEMORY, or ROOST_INVALID when `size` is too small.
roost_status roost_table_audit(const roost_table* table, roost_violation* violation);

/// A bucket in words, for people. Allocates meanwhile.
/// @param table       The table.
/// @param bucket      Less than roost_info::bucket_count.
/// @param text        Gets the text, cut to fit and closed by a zero; or NULL.
/// @param text_bytes  Bytes at `text`.
/// @return the length of the whole text, like snprintf; 0 when there is no memory for it.
size_t roost_table_dump_bucket(const roost_table* table, uint64_t bucket, char* text,
                               size_t text_bytes);

/// @}

#ifdef __cplusplus
}
#endif
