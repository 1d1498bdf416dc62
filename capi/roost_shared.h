// Tables of Roost's C interface that one thread changes while others look keys up.
#pragma once

/// @file roost_shared.h
/// Shared tables: a reader a thread, and the right to write.
///
///     config.access = ROOST_ACCESS_SHARED;               // a packed table, as of 6 + 2 bytes
///     ...                                                // created by roost_table_create()
///     roost_reader *reader;                              // one a thread
///     if (roost_reader_create(table, &reader, error, sizeof error) != ROOST_OK) give_up(error);
///     roost_reader_lookup(reader, &keys, ports, hits);   // at any time
///
///     if (roost_table_try_write(table)) {                // or roost_table_write(), which waits
///       roost_table_insert(table, &keys, ports, NULL, outcomes);
///       roost_table_end_write(table);
///     }
///
/// Readers only load: none waits for another one. All functions of roost.h that take the table, but
/// roost_table_hash(), are for the thread that has the right to write. No pointers into the table
/// are handed out: not for roost_table_find(). To destroy it, let the readers end first.
///
/// **Source.** D. Zhou et al.: Scalable, High Performance Ethernet Forwarding with CuckooSwitch,
/// CoNEXT 2013.

#include "roost_types.h"

#ifdef __cplusplus
extern "C" {
#endif
// NOLINTBEGIN(modernize-use-using)

/// The lookups of one thread at a time in a table that others use meanwhile.
typedef struct roost_reader roost_reader;

// NOLINTEND(modernize-use-using)

/// Creates a reader; needs no right to write. Allocates.
/// @param table        A shared table, which outlives its readers.
/// @param reader       Gets the reader, or NULL.
/// @param error        Gets a text, cut to fit: what is wrong and what to do. Or NULL.
/// @param error_bytes  Bytes at `error`.
/// @return ROOST_OK; ROOST_INVALID: the table is one thread's (roost_config::access); or
///         ROOST_NO_MEMORY.
roost_status roost_reader_create(const roost_table* table, roost_reader** reader, char* error,
                                 size_t error_bytes);

/// Frees a reader.
/// @param reader  A reader, or NULL: nothing happens.
void roost_reader_destroy(roost_reader* reader);

/// Looks keys up and copies their values, as roost_table_lookup() does. Each lane answers what was
/// true at some moment of the call.
/// @param reader  The thread's reader.
/// @param keys    The keys, or a lookup in flight that this reader has started.
/// @param values  Gets the value of each lane that hits; or NULL: only the hits are wanted.
/// @param hits    Gets the hit words, ROOST_HIT_WORDS(keys->count) of them.
/// @return the number of hits.
size_t roost_reader_lookup(roost_reader* reader, const roost_keys* keys, void* values,
                           uint64_t* hits);

/// Starts a lookup, as roost_table_start() does.
/// @param reader  The thread's reader.
/// @param keys    The keys; not a flight.
/// @param flight  Becomes the lookup on its way.
void roost_reader_start(const roost_reader* reader, const roost_keys* keys, roost_flight* flight);

/// Finishes a lookup, and starts the next while its last lines arrive, as
/// roost_table_lookup_and_start() does.
/// @param reader  The thread's reader.
/// @param flight  The lookup to finish; becomes the one started.
/// @param values  Gets the value of each lane of the finished lookup that hits; or NULL.
/// @param hits    Gets its hit words.
/// @param next    The keys to start with; not a flight.
/// @return the number of hits of the finished lookup.
size_t roost_reader_lookup_and_start(roost_reader* reader, roost_flight* flight, void* values,
                                     uint64_t* hits, const roost_keys* next);

/// The right to change a shared table: at once, or not at all. Constant time. Exclusive tables have
/// it too, for threads that use one by turns.
/// @param table  The table.
/// @return true when the calling thread has it now, until its roost_table_end_write().
bool roost_table_try_write(roost_table* table);

/// The same, waiting for whoever has it; not for a thread that has it already.
/// @param table  The table.
void roost_table_write(roost_table* table);

/// Gives the right back. All that was changed is seen by lookups that begin from now on.
/// @param table  The table, which the calling thread has the right to change.
void roost_table_end_write(roost_table* table);

#ifdef __cplusplus
}
#endif
