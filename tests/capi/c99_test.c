// A program in C99 that does with a table what programs do: every function of roost.h, by a
// compiler that knows nothing of C++.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capi/roost.h"

// A key with bytes that are no padding, as C programs pack them.
struct flow_key {
  uint8_t bytes[13];
};

struct flow {
  uint64_t packets;
  uint64_t bytes;
};

enum { KEYS = 100 };

static int failures = 0;

static void check(bool condition, const char* what) {
  if (condition) return;
  ++failures;
  printf("FAILED: %s\n", what);
}

static struct flow_key key_of(unsigned number) {
  struct flow_key key;
  memset(&key, 0x5A, sizeof key);
  key.bytes[12] = (uint8_t)number;
  return key;
}

static void count_expired(void* context, const void* key, const void* value) {
  (void)key;
  *(uint64_t*)context += ((const struct flow*)value)->packets;
}

static roost_table* make_table(uint64_t* expired_packets) {
  roost_config config;
  roost_table* table = NULL;
  uint64_t bytes = 0;
  char error[200] = "";
  roost_config_init(&config, sizeof config);
  config.key_bytes = sizeof(struct flow_key);
  config.value_bytes = sizeof(struct flow);
  config.entries_max = 1000;
  config.expires = true;
  config.on_expiry = count_expired;
  config.on_expiry_context = expired_packets;
  check(roost_table_bytes(&config, &bytes, error, sizeof error) == ROOST_OK && bytes > 32000,
        "bytes to lend");
  check(roost_table_create(&config, &table, error, sizeof error) == ROOST_OK, error);
  return table;
}

static void look_up(roost_table* table, const struct flow_key* keys) {
  const roost_keys lanes = {.keys = keys, .count = KEYS};
  const roost_timeouts timeouts = {NULL, 50};
  struct flow flows[KEYS];
  void* places[KEYS];
  uint64_t hits[ROOST_HIT_WORDS(KEYS)];
  uint64_t hashes[KEYS];
  const void* pointers[KEYS];
  unsigned i;

  check(roost_table_lookup(table, &lanes, flows, hits) == 60, "lookup counts");
  for (i = 0; i < KEYS; ++i) check(roost_is_hit(hits, i) == (i < 60), "lookup's hits");
  check(flows[59].packets == 59, "lookup's values");
  check(roost_table_find(table, &lanes, places, hits) == 60, "find counts");
  ((struct flow*)places[7])->packets = 700;
  roost_table_refresh(table, places[7], 500);
  check(roost_table_ticks_left(table, places[7]) == 500, "ticks left");

  roost_table_hash(table, &lanes, hashes);
  for (i = 0; i < KEYS; ++i) pointers[i] = &keys[i];
  check(roost_table_lookup_refresh(
            table, &(roost_keys){.pointers = pointers, .hashes = hashes, .count = KEYS}, &timeouts,
            flows, hits) == 60,
        "lookup_refresh counts");
  check(flows[7].packets == 700, "find points into the table");
}

static void look_up_ahead(roost_table* table, const struct flow_key* keys) {
  const roost_keys lanes = {.keys = keys, .count = KEYS};
  struct flow flows[KEYS];
  uint64_t hits[ROOST_HIT_WORDS(KEYS)];
  roost_flight flight;
  roost_table_start(table, &lanes, &flight);
  check(roost_table_lookup_and_start(table, &flight, flows, hits, &lanes) == 60, "first flight");
  check(roost_table_lookup(table, &(roost_keys){.flight = &flight}, flows, hits) == 60,
        "second flight");
}

static void look_up_records(void) {
  const uint64_t keys[3] = {1, 2, 3};
  const uint32_t indices[2] = {5, 6};
  const char records[8][64] = {{0}};
  const roost_records array = {records, sizeof records[0]};
  uint32_t found[3] = {99, 99, 99};
  uint64_t hits[1];
  uint8_t outcomes[2];
  roost_config config;
  roost_table* table = NULL;
  roost_config_init(&config, sizeof config);
  config.key_bytes = sizeof keys[0];
  config.value_bytes = sizeof indices[0];
  config.capacity = 64;
  check(roost_table_create(&config, &table, NULL, 0) == ROOST_OK, "a table of indices");
  roost_table_insert(table, &(roost_keys){.keys = keys, .count = 2}, indices, NULL, outcomes);
  check(roost_table_lookup_records(table, &(roost_keys){.keys = keys, .count = 3}, &array, found,
                                   hits) == 2,
        "lookup_records counts");
  check(found[0] == 5 && found[1] == 6 && found[2] == 99, "lookup_records' indices");
  roost_table_destroy(table);
}

/* Addresses of 6 bytes, in memory that outlives the table. */
static void adopt_again(void) {
  const unsigned char address[6] = {0x52, 0x54, 0, 1, 2, 3};
  const uint16_t port = 7;
  uint16_t found = 0;
  uint64_t bytes = 0, hits[1];
  uint8_t outcome;
  roost_config config;
  roost_table* table = NULL;
  char* memory;
  roost_config_init(&config, sizeof config);
  config.key_bytes = sizeof address;
  config.value_bytes = sizeof port;
  config.capacity = 64;
  check(roost_table_bytes(&config, &bytes, NULL, 0) == ROOST_OK, "bytes to lend");
  memory = malloc(bytes + 64);
  config.memory = memory + (64 - (uintptr_t)memory % 64);
  config.memory_bytes = bytes;
  check(roost_table_create(&config, &table, NULL, 0) == ROOST_OK, "a table in lent memory");
  roost_table_insert(table, &(roost_keys){.keys = address, .count = 1}, &port, NULL, &outcome);
  roost_table_destroy(table);
  config.capacity = 0;
  check(roost_table_adopt(&config, &table, NULL, 0) == ROOST_OK, "adopt");
  check(roost_table_lookup(table, &(roost_keys){.keys = address, .count = 1}, &found, hits) == 1 &&
            found == port,
        "what an adopted table holds");
  roost_table_destroy(table);
  free(memory);
}

static void tell(const roost_table* table) {
  roost_info info = {.size = sizeof info};
  roost_stats stats = {.size = sizeof stats};
  roost_violation violation = {.size = sizeof violation};
  uint64_t buckets[ROOST_OCCUPANCY_FIELDS];
  char text[400];
  check(roost_table_info(table, &info) == ROOST_OK && info.entries_max == 1000, "info");
  check(roost_table_stats(table, &stats) == ROOST_OK && stats.created == 60, "stats");
  roost_table_occupancy(table, buckets);
  check(buckets[8] < 60 && buckets[0] < info.bucket_count, "occupancy");
  check(roost_table_audit(table, &violation) == ROOST_OK, "audit");
  check(roost_table_dump_bucket(table, 0, text, sizeof text) > 0, "dump");
  check(roost_table_save(table, "/none/table", text, sizeof text) == ROOST_INVALID, "save");
}

static void end(roost_table* table, const uint64_t* expired_packets) {
  struct flow_key keys[16];
  struct flow flows[16];
  roost_cursor cursor = {0};
  size_t scanned = 0;
  size_t count;
  while ((count = roost_table_scan(table, &cursor, keys, flows, 16)) != 0) scanned += count;
  check(scanned == 59, "scan");
  scanned = 0;
  cursor.position = 0;
  while (roost_table_scan_part(table, &cursor, keys, flows, 16, 1, &count)) scanned += count;
  check(scanned + count == 59, "scan in parts");
  check(roost_table_advance(table, 60) == ROOST_OK, "advance");
  check(roost_table_now(table) == 60 && roost_table_scan_deadline(table) > 60, "time");
  roost_table_maintain(table, 1000);
  // All but number 3, which was erased.
  check(*expired_packets == 59 * 60 / 2 - 7 + 700 - 3, "the flows that expired");
  roost_table_clear(table);
  roost_table_destroy(table);
}

int main(void) {
  uint64_t expired_packets = 0;
  struct flow_key keys[KEYS];
  struct flow flows[KEYS];
  uint8_t outcomes[KEYS];
  uint64_t erased[1];
  unsigned i;
  roost_table* table = make_table(&expired_packets);
  if (table == NULL) return 1;
  for (i = 0; i < KEYS; ++i) {
    keys[i] = key_of(i);
    flows[i].packets = i;
    flows[i].bytes = 0;
  }
  check(strcmp(roost_version(), "0.1.0") == 0, roost_version());
  check(strcmp(roost_status_text(ROOST_OK), "done") == 0, "status text");
  check(roost_table_insert(table, &(roost_keys){.keys = keys, .count = 60}, flows, NULL,
                           outcomes) == 60 &&
            outcomes[59] == ROOST_INSERTED,
        "insert");
  check(roost_table_upsert(table, &(roost_keys){.keys = keys, .count = 1}, flows, NULL, outcomes) ==
                1 &&
            outcomes[0] == ROOST_EXISTING,
        "upsert");
  look_up(table, keys);
  look_up_ahead(table, keys);
  look_up_records();
  adopt_again();
  tell(table);
  check(roost_table_erase(table, &(roost_keys){.keys = &keys[3], .count = 1}, erased) == 1 &&
            erased[0] == 1,
        "erase");
  end(table, &expired_packets);
  return failures == 0 ? 0 : 1;
}
