// The functions of roost_shared.h.
#include "capi/roost_shared.h"

#include <memory>
#include <new>

#include "capi/error_text.h"
#include "capi/table.h"
#include "roost/concurrent/one_writer.h"

using namespace roost;
using namespace roost::capi;

roost_status roost_reader_create(const roost_table* table, roost_reader** reader, char* error,
                                 size_t error_bytes) try {
  const ErrorText fail{error, error_bytes};
  *reader = table->reader().release();
  if (*reader != nullptr) return ROOST_OK;
  return fail(ROOST_INVALID,
              "the table is one thread's; set roost_config::access to ROOST_ACCESS_SHARED before "
              "it is created");
} catch (const std::bad_alloc&) {
  *reader = nullptr;
  return ErrorText{error, error_bytes}(ROOST_NO_MEMORY, "no memory for a reader; free some");
}

void roost_reader_destroy(roost_reader* reader) { delete reader; }

size_t roost_reader_lookup(roost_reader* reader, const roost_keys* keys, void* values,
                           uint64_t* hits) {
  return reader->lookup(*keys, copied_to(values), hits, nullptr, nullptr);
}

void roost_reader_start(const roost_reader* reader, const roost_keys* keys, roost_flight* flight) {
  reader->start(*keys, *flight);
}

size_t roost_reader_lookup_and_start(roost_reader* reader, roost_flight* flight, void* values,
                                     uint64_t* hits, const roost_keys* next) {
  roost_keys keys{};
  keys.flight = flight;
  return reader->lookup(keys, copied_to(values), hits, next, flight);
}

bool roost_table_try_write(roost_table* table) { return table->write_lock.try_lock(); }

void roost_table_write(roost_table* table) { table->write_lock.lock(OneWriterManyReaders::wait); }

void roost_table_end_write(roost_table* table) { table->write_lock.unlock(); }
