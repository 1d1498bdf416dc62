// Value-only tables of Roost's C interface: what a data plane reads has no keys. roost.h says what
// batches are and has the words for statuses.
#pragma once

/// @file roost_map.h
/// Maps of keys to numbers of 4 to 32 bits whose readers need no keys: the builder has those.
///
///     roost_map_config config;
///     roost_map_config_init(&config, sizeof config);
///     config.key_bytes = 6;
///     const roost_keys keys = {.keys = macs, .count = mac_count};
///     roost_map *map;
///     char error[256];
///     if (roost_map_create(&config, &keys, ports, &map, error, sizeof error) != ROOST_OK) ...
///
///     roost_map_reader *reader;                                    // one a thread
///     if (roost_map_reader_create(map, &reader, error, sizeof error) != ROOST_OK) ...
///     roost_map_reader_lookup_unverified(reader, &burst, burst_ports, maybe);   // at any time
///
///     roost_map_insert(map, &learned, learned_ports, outcomes);    // the one builder's thread
///     if (outcomes[0] == ROOST_MAP_NO_ROOM) {                      // as large as its keys ask for
///       roost_map_rebuild *rebuild;
///       roost_map_begin_rebuild(map, NULL, &rebuild, error, sizeof error);
///       roost_map_rebuild_run(rebuild);                            // in any thread
///       roost_map_adopt(map, error, sizeof error);                 // readers see it from here on
///     }
///
/// **What a reader knows.** A cleared bit of its answer is certain: the map has not the key. A set
/// one means a value that nothing has verified: of a key that the map has, its value; of another
/// one, by chance, that of some key, less often with fingerprints
/// (roost_map_config::fingerprint_bits). Where keys stand beside the values
/// (roost_map_config::keeps_keys) set bits are certain too, as roost_map_find() always is.
///
/// **Which kind.** A line map (ROOST_MAP_LINE) is for any keys and costs a cache line a lookup, 26
/// bits a key with values of 16. Parrot (ROOST_MAP_PARROT) learns where keys lie: for numbers that
/// lie dense or in runs, and data planes that hash badly.
///
/// **Threads.** One builder, any number of readers. What takes a roost_map is for the thread that
/// builds, but roost_map_reader_create(), which any thread may call; a reader is one thread's, a
/// rebuild that of the thread that runs it. Readers only load, and none waits; one that looks
/// nothing up for long pauses, or images that are no longer in use stay.
///
/// **Keys** come as a roost_keys, side by side or a pointer each; its hashes and flight stay NULL.
/// Side by side and as long as they are padded to (8, 16, ... 64 bytes; for Parrot 8, aligned to
/// that and little-endian) they are read where they are, else copied some at a time. Values are
/// uint32_t, side by side; the number with all of a value's bits set is reserved.
///
/// **Memory.** Lookups take none. Changes do, a little: a process that has not even that ends,
/// rather than answer from a map that is half changed. The others return ROOST_NO_MEMORY.
///
/// **Source.** Y. Liu, S. Shi, R. Zhou, Y. Gan, C. Qian: Scalable, Fast, and Low-memory Table
/// Lookups for Network Applications with one CRC-8 (Parrot). The line map is Roost's own.

#include "roost_types.h"

#ifdef __cplusplus
extern "C" {
#endif
// NOLINTBEGIN(modernize-use-using)

/// The kinds of maps (roost_map_config::kind).
typedef enum roost_map_kind {
  ROOST_MAP_LINE = 0,   ///< A line map: any keys.
  ROOST_MAP_PARROT = 1  ///< Parrot: keys are numbers of up to 64 bits, whose order is learned.
} roost_map_kind;

/// Where keys go that come to a Parrot table later (roost_map_config::insertion).
typedef enum roost_map_insertion {
  ROOST_MAP_RESEED = 0,  ///< To their bucket while it has room; new values where old ones are.
  ROOST_MAP_STASH = 1    ///< To the stash, and new values too, as in the paper.
} roost_map_insertion;

/// What became of one lane of a change, one byte a lane.
typedef enum roost_map_outcome {
  ROOST_MAP_DONE = 0,         ///< Readers see it, in lookups that begin from now on.
  ROOST_MAP_NOT_FOUND = 1,    ///< Update and erase: the map has not the key.
  ROOST_MAP_EXISTING = 2,     ///< Insert: the key has a value, and keeps it.
  ROOST_MAP_TOO_WIDE = 3,     ///< Key or value has too many bits, or the value is the reserved one.
  ROOST_MAP_BUCKET_FULL = 4,  ///< Parrot: the model no longer fits where the key belongs: rebuild.
  ROOST_MAP_NO_ROOM = 5       ///< The image is as full as it may be: rebuild.
} roost_map_outcome;

/// A map: its image, which readers read, and its keys, which the builder has.
typedef struct roost_map roost_map;

/// The lookups of one thread at a time.
typedef struct roost_map_reader roost_map_reader;

/// A new image on its way, of the keys that were there when it was begun; the map's, until
/// roost_map_adopt() or roost_map_give_up().
typedef struct roost_map_rebuild roost_map_rebuild;

/// What a map is to be. Begin with roost_map_config_init(), then set key_bytes; zero means the
/// default everywhere else, but for numa_node, whose default is -1.
typedef struct roost_map_config {
  size_t size;          ///< The caller's sizeof(roost_map_config).
  uint32_t kind;        ///< A roost_map_kind.
  uint32_t key_bytes;   ///< Bytes of a key, 1 to 64; Parrot: 1 to 8.
  uint32_t key_bits;    ///< Parrot: how many of a key's bits may be set, the lowest of it as a
                        ///< number. 0: all of them. A line map leaves it 0.
  uint32_t value_bits;  ///< Bits of a value, 4 to 32. 0: 16.
  uint32_t fingerprint_bits;  ///< 0, 8, 12 or 16: one in so many powers of two of the keys that the
                              ///< map has not gets a value all the same.
  uint32_t insertion;         ///< Parrot: a roost_map_insertion.
  double load;                ///< Keys over slots after a build, at most 0.97; Parrot: 1. 0: 0.85.
  double growth;              ///< Parrot: how large the image may grow, over what it is after a
                              ///< build, until ROOST_MAP_NO_ROOM; at least 1. 0: 1.2.
  uint64_t hash_seed;         ///< For runs that must repeat; counts only with has_hash_seed.
  int32_t numa_node;          ///< Node that the image's memory is to come from; -1: any.
  uint32_t pages;             ///< A roost_pages, for the image.
  bool has_hash_seed;         ///< Use hash_seed; else a random one, which defends against flooding.
  bool keeps_keys;            ///< Keys stand beside the values, their padded bytes a slot more: set
                              ///< bits of readers are certain too, for a line more a lookup.
  bool is_big_endian;         ///< Parrot: keys are numbers in network order, as in packets; else
                              ///< their lowest byte comes first. Their order is what is learned.
  uint8_t reserved[5];        ///< Zero.
} roost_map_config;

/// Where an image is, and how it is to be read. Begin with roost_map_image_init(), then set
/// key_bytes, and path or memory; zero means the default elsewhere, but for numa_node: -1.
typedef struct roost_map_image {
  size_t size;            ///< The caller's sizeof(roost_map_image).
  const char* path;       ///< A file that holds an image, copied into memory; or NULL: `memory`.
  const void* memory;     ///< The image, aligned to 64 bytes, alive and unchanged as long as its
                          ///< reader; or NULL: the file's.
  uint64_t memory_bytes;  ///< Bytes at `memory`.
  uint32_t key_bytes;     ///< Bytes of a key, as the map's that it was exported from.
  uint32_t pages;         ///< A roost_pages, for the copy of a file.
  int32_t numa_node;      ///< Node that the copy's memory is to come from; -1: any.
  bool is_big_endian;     ///< As the map's (roost_map_config::is_big_endian).
  bool audits;            ///< Look at every bucket too: for an image that strangers may have made,
                          ///< of which a checksum says nothing. Time linear in the image.
  uint8_t reserved[2];    ///< Zero.
} roost_map_image;

/// As many levels as a line map may have.
enum { ROOST_MAP_LEVELS = 8 };

/// How a map does. Set `size`, call roost_map_report().
typedef struct roost_map_figures {
  size_t size;         ///< In: the caller's sizeof(roost_map_figures). Out: bytes that were filled.
  uint64_t key_count;  ///< Keys that have a value.
  uint64_t image_bytes;    ///< What readers read.
  uint64_t builder_bytes;  ///< What the builder has beside it: keys, mostly.
  uint64_t level_count;    ///< Line map: levels.
  /// Line map: keys whose value stands in that level.
  uint64_t keys_by_level[ROOST_MAP_LEVELS];
  uint64_t bucket_count;    ///< Parrot: buckets of four slots.
  uint64_t failed_buckets;  ///< Parrot: of those, full ones that no seed tells apart; their keys
                            ///< are in the stash.
  uint64_t stashed;         ///< Parrot: keys in the stash.
  uint64_t longest_walk;    ///< Parrot: entries of the stash that a lookup may look at, 16 at most.
  uint64_t model_bytes;     ///< Parrot: of the image, what the model takes.
  uint64_t model_size;      ///< Parrot: the RMI's lines, or by how many buckets the spline may err.
  const char* model;        ///< Parrot: the model that was taken, "RMI" or "spline", as it made the
                            ///< smallest image of those tried; else NULL.
} roost_map_figures;

// NOLINTEND(modernize-use-using)

/// @name Building a map
/// @{

/// Sets every field to its default: zero, but for `size` and numa_node.
/// @param config  To be filled.
/// @param size    sizeof(roost_map_config) of the caller.
void roost_map_config_init(roost_map_config* config, size_t size);

/// Builds a map. Time linear in the keys; Parrot sorts those that do not rise.
/// @param config       What it is to be.
/// @param keys         Its keys, in any order; a line map may have none.
/// @param values       One value a key.
/// @param map          Gets the map, or NULL.
/// @param error        Gets a text, cut to fit: what is wrong, with which entry, what to do. Or
/// NULL.
/// @param error_bytes  Bytes at `error`.
/// @return ROOST_OK; ROOST_INVALID: a field out of range, a key or value too wide, a key that is
///         there twice, keys that no model of Parrot's fits; or ROOST_NO_MEMORY.
roost_status roost_map_create(const roost_map_config* config, const roost_keys* keys,
                              const uint32_t* values, roost_map** map, char* error,
                              size_t error_bytes);

/// Frees a map and a rebuild of it; let its readers, and whoever runs that, end first.
/// @param map  A map, or NULL: nothing happens.
void roost_map_destroy(roost_map* map);

/// @}
/// @name The builder's
/// @{

/// How many keys have a value. Constant time.
/// @param map  The map.
/// @return their number.
uint64_t roost_map_key_count(const roost_map* map);

/// Looks keys up where the keys are: every bit is certain, and a lookup costs several cache lines.
/// @param map     The map.
/// @param keys    The keys.
/// @param values  Gets the value of each lane that hits.
/// @param hits    Gets the hit words, ROOST_HIT_WORDS(keys->count) of them.
/// @return the number of hits.
size_t roost_map_find(const roost_map* map, const roost_keys* keys, uint32_t* values,
                      uint64_t* hits);

/// Gives keys a value that have none, in lane order, as all changes are made.
/// @param map       The map.
/// @param keys      The keys.
/// @param values    One value a lane.
/// @param outcomes  Gets a roost_map_outcome a lane; all but ROOST_MAP_DONE changed nothing.
/// @return the number of lanes that are done.
size_t roost_map_insert(roost_map* map, const roost_keys* keys, const uint32_t* values,
                        uint8_t* outcomes);

/// Gives keys another value; only with ROOST_MAP_STASH may there be no room for it.
/// @param map       The map.
/// @param keys      The keys.
/// @param values    One value a lane.
/// @param outcomes  Gets a roost_map_outcome a lane; all but ROOST_MAP_DONE changed nothing.
/// @return the number of lanes that are done.
size_t roost_map_update(roost_map* map, const roost_keys* keys, const uint32_t* values,
                        uint8_t* outcomes);

/// Takes keys out.
/// @param map       The map.
/// @param keys      The keys.
/// @param outcomes  Gets a roost_map_outcome a lane: ROOST_MAP_DONE or ROOST_MAP_NOT_FOUND.
/// @return the number of lanes that are done.
size_t roost_map_erase(roost_map* map, const roost_keys* keys, uint8_t* outcomes);

/// How the map does. Time linear in it.
/// @param map     The map.
/// @param report  Its `size` says how much to fill; fields this library does not know become zero.
/// @return ROOST_OK; ROOST_INVALID when `size` is too small to be any; or ROOST_NO_MEMORY.
roost_status roost_map_report(const roost_map* map, roost_map_figures* report);

/// Checks that every key has its place in the image. Time linear in it.
/// @param map          The map.
/// @param error        Gets a text, cut to fit: what is broken. Or NULL.
/// @param error_bytes  Bytes at `error`.
/// @return ROOST_OK, ROOST_BROKEN or ROOST_NO_MEMORY.
roost_status roost_map_audit(const roost_map* map, char* error, size_t error_bytes);

/// Copies the image out, with a checksum, for roost_map_reader_open() of this or another machine of
/// the same byte order. Time linear in it.
/// @param map       The map.
/// @param to        Gets the image; or NULL: only its size is wanted.
/// @param to_bytes  Bytes at `to`; nothing is written when they are fewer than the image's.
/// @return the image's bytes.
uint64_t roost_map_export(const roost_map* map, void* to, uint64_t to_bytes);

/// @}
/// @name Building it anew
/// For growth, another model or seed: a new image of the keys, while lookups and changes go on.
/// @{

/// Copies the keys, in time linear in them; changes from here on are made in both images. One
/// rebuild at a time.
/// @param map          The map.
/// @param config       What the new image is to be; its kind, key_bytes and is_big_endian are the
///                     map's. Or NULL: as it was.
/// @param rebuild      Gets the rebuild, or NULL.
/// @param error        Gets a text, cut to fit: what is wrong and what to do. Or NULL.
/// @param error_bytes  Bytes at `error`.
/// @return ROOST_OK; ROOST_INVALID: a field out of range, or a rebuild has been begun already; or
///         ROOST_NO_MEMORY.
roost_status roost_map_begin_rebuild(roost_map* map, const roost_map_config* config,
                                     roost_map_rebuild** rebuild, char* error, size_t error_bytes);

/// Builds the new image, in any thread, in the time of roost_map_create(). What comes of it,
/// roost_map_adopt() tells.
/// @param rebuild  A rebuild, not run yet.
void roost_map_rebuild_run(roost_map_rebuild* rebuild);

/// Takes the new image into use, with all that was changed meanwhile, in time linear in the
/// changes. Whatever comes of it, the rebuild is over and gone; when it is not taken, the map is as
/// if none had been begun.
/// @param map          The map, whose rebuild has been run.
/// @param error        Gets a text, cut to fit: what is wrong and what to do. Or NULL.
/// @param error_bytes  Bytes at `error`.
/// @return ROOST_OK; ROOST_INVALID: it was not begun or not run, the keys cannot be built so, or
///         what was inserted meanwhile finds no room; or ROOST_NO_MEMORY.
roost_status roost_map_adopt(roost_map* map, char* error, size_t error_bytes);

/// Drops a rebuild that is not running. Without one, nothing happens.
/// @param map  The map.
void roost_map_give_up(roost_map* map);

/// Frees images that are out of use and that no reader can be reading; so does roost_map_adopt().
/// @param map  The map.
/// @return how many are left, until each reader has looked something up or paused.
size_t roost_map_free_retired(roost_map* map);

/// @}
/// @name Reading
/// @{

/// Creates a reader of a map; any thread may, at any time.
/// @param map          The map, which outlives its readers.
/// @param reader       Gets the reader, or NULL.
/// @param error        Gets a text, cut to fit. Or NULL.
/// @param error_bytes  Bytes at `error`.
/// @return ROOST_OK or ROOST_NO_MEMORY.
roost_status roost_map_reader_create(roost_map* map, roost_map_reader** reader, char* error,
                                     size_t error_bytes);

/// Sets every field to its default.
/// @param image  To be filled.
/// @param size   sizeof(roost_map_image) of the caller.
void roost_map_image_init(roost_map_image* image, size_t size);

/// Creates a reader of an image that nobody changes; any number of threads may use it at a time. Of
/// which kind it is, the image says.
/// @param image        Where the image is.
/// @param reader       Gets the reader, or NULL.
/// @param error        Gets a text, cut to fit: what is wrong, where, what to do. Or NULL.
/// @param error_bytes  Bytes at `error`.
/// @return ROOST_OK; ROOST_INVALID: a field out of range, a file that cannot be read, an image that
///         is foreign, cut, changed or for other keys; ROOST_BROKEN: the audit found what cannot
///         be; or ROOST_NO_MEMORY.
roost_status roost_map_reader_open(const roost_map_image* image, roost_map_reader** reader,
                                   char* error, size_t error_bytes);

/// Frees a reader.
/// @param reader  A reader, or NULL: nothing happens.
void roost_map_reader_destroy(roost_map_reader* reader);

/// Looks keys up. Each lane answers what was true at some moment of the call; what set bits mean
/// stands above. About one cache line a lane; the lanes wait for theirs together.
/// @param reader  The thread's reader, not paused.
/// @param keys    The keys.
/// @param values  Gets the value of each lane whose bit is set; the others stay as they are.
/// @param maybe   Gets the words of bits, ROOST_HIT_WORDS(keys->count) of them, laid out as hits.
/// @return the number of bits that are set.
size_t roost_map_reader_lookup_unverified(roost_map_reader* reader, const roost_keys* keys,
                                          uint32_t* values, uint64_t* maybe);

/// Begins a pause, in which the reader looks nothing up and keeps no image from being freed.
/// @param reader  The thread's reader.
void roost_map_reader_pause(roost_map_reader* reader);

/// Ends a pause.
/// @param reader  The thread's reader.
void roost_map_reader_resume(roost_map_reader* reader);

/// @}

#ifdef __cplusplus
}
#endif
