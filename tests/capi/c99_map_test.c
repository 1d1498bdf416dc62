// A program in C99 that does with maps what programs do: every function of roost_map.h, by a
// compiler that knows nothing of C++.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capi/roost.h"
#include "capi/roost_map.h"

enum { KEYS = 1000 };

struct mac {
  uint8_t bytes[6];
};

static int failures = 0;

static void check(bool condition, const char* what) {
  if (condition) return;
  ++failures;
  printf("FAILED: %s\n", what);
}

static struct mac mac_of(unsigned number) {
  struct mac mac = {{0x02, 0, 0, 0, (uint8_t)(number >> 8), (uint8_t)number}};
  return mac;
}

static roost_map* make_map(uint32_t kind, const roost_keys* keys, const uint32_t* ports) {
  roost_map_config config;
  roost_map* map = NULL;
  char error[300] = "";
  roost_map_config_init(&config, sizeof config);
  config.kind = kind;
  config.key_bytes = sizeof(struct mac);
  config.fingerprint_bits = 8;
  config.is_big_endian = kind == ROOST_MAP_PARROT;
  check(roost_map_create(&config, keys, ports, &map, error, sizeof error) == ROOST_OK, error);
  return map;
}

static void look_up(roost_map_reader* reader, const roost_keys* keys, const uint32_t* ports) {
  uint32_t found[KEYS];
  uint64_t maybe[ROOST_HIT_WORDS(KEYS)];
  check(roost_map_reader_lookup_unverified(reader, keys, found, maybe) == keys->count, "lookup");
  check(roost_is_hit(maybe, keys->count - 1) && memcmp(found, ports, 4 * keys->count) == 0,
        "lookup's values");
}

static void change(roost_map* map, const struct mac* macs, const uint32_t* ports) {
  const roost_keys one = {.keys = &macs[KEYS - 1], .count = 1};
  uint32_t port = 0;
  uint64_t hits[1];
  uint8_t outcome;
  check(roost_map_erase(map, &one, &outcome) == 1 && outcome == ROOST_MAP_DONE, "erase");
  check(roost_map_find(map, &one, &port, hits) == 0 && hits[0] == 0, "find what is gone");
  check(roost_map_update(map, &one, &ports[0], &outcome) == 0 && outcome == ROOST_MAP_NOT_FOUND,
        "update what is gone");
  check(roost_map_insert(map, &one, &ports[0], &outcome) == 1, "insert");
  check(roost_map_update(map, &one, &ports[KEYS - 1], &outcome) == 1, "update");
  check(roost_map_find(map, &one, &port, hits) == 1 && port == ports[KEYS - 1], "find");
  check(roost_map_key_count(map) == KEYS, "key count");
}

static void rebuild(roost_map* map, roost_map_reader* reader) {
  roost_map_rebuild* work = NULL;
  char error[300] = "";
  check(roost_map_begin_rebuild(map, NULL, &work, error, sizeof error) == ROOST_OK, error);
  roost_map_give_up(map);
  check(roost_map_begin_rebuild(map, NULL, &work, error, sizeof error) == ROOST_OK, error);
  roost_map_rebuild_run(work);
  check(roost_map_adopt(map, error, sizeof error) == ROOST_OK, error);
  check(roost_map_free_retired(map) == 1, "an image that a reader may be reading");
  roost_map_reader_pause(reader);
  check(roost_map_free_retired(map) == 0, "an image that nobody reads");
  roost_map_reader_resume(reader);
}

static void export_and_open(const roost_map* map, const roost_keys* keys, const uint32_t* ports) {
  const uint64_t bytes = roost_map_export(map, NULL, 0);
  char* memory = malloc(bytes + 64);
  char* aligned = memory + (64 - (uintptr_t)memory % 64);
  roost_map_image image;
  roost_map_reader* reader = NULL;
  char error[300] = "";
  check(roost_map_export(map, aligned, bytes) == bytes, "export");
  roost_map_image_init(&image, sizeof image);
  image.memory = aligned;
  image.memory_bytes = bytes;
  image.key_bytes = sizeof(struct mac);
  image.is_big_endian = true;
  image.audits = true;
  check(roost_map_reader_open(&image, &reader, error, sizeof error) == ROOST_OK, error);
  if (reader != NULL) look_up(reader, keys, ports);
  roost_map_reader_destroy(reader);
  free(memory);
}

int main(void) {
  struct mac macs[KEYS];
  uint32_t ports[KEYS];
  const roost_keys keys = {.keys = macs, .count = KEYS};
  unsigned i;
  uint32_t kind;
  for (i = 0; i < KEYS; ++i) {
    macs[i] = mac_of(i);
    ports[i] = i % 48;
  }
  for (kind = ROOST_MAP_LINE; kind <= ROOST_MAP_PARROT; ++kind) {
    roost_map* map = make_map(kind, &keys, ports);
    roost_map_reader* reader = NULL;
    roost_map_figures report = {.size = sizeof report};
    if (map == NULL) return 1;
    check(roost_map_reader_create(map, &reader, NULL, 0) == ROOST_OK, "reader");
    look_up(reader, &keys, ports);
    change(map, macs, ports);
    rebuild(map, reader);
    look_up(reader, &keys, ports);
    export_and_open(map, &keys, ports);
    check(roost_map_report(map, &report) == ROOST_OK && report.key_count == KEYS, "report");
    check(roost_map_audit(map, NULL, 0) == ROOST_OK, "audit");
    roost_map_reader_destroy(reader);
    roost_map_destroy(map);
  }
  roost_map_destroy(NULL);
  roost_map_reader_destroy(NULL);
  return failures == 0 ? 0 : 1;
}
