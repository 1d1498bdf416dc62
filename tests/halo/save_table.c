// Saves a table as a program in C does: the keys of a file, one behind the other, and their numbers
// as values; in the inline layout if keys have fewer than 16 bytes.
//
//   halo_save_table KEY_BYTES VALUE_BYTES EXPIRES KEYS TABLE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capi/roost.h"

static int fail(const char* what) {
  fprintf(stderr, "%s\n", what);
  return 1;
}

int main(int count, char** arguments) {
  static unsigned char key[64];
  static unsigned char value[64];
  char error[300] = "";
  roost_config config;
  roost_table* table;
  unsigned long number = 0;
  FILE* file;
  if (count != 6) return fail("halo_save_table KEY_BYTES VALUE_BYTES EXPIRES KEYS TABLE");
  roost_config_init(&config, sizeof config);
  config.key_bytes = (uint32_t)atoi(arguments[1]);
  config.value_bytes = (uint32_t)atoi(arguments[2]);
  config.expires = atoi(arguments[3]) != 0;
  config.entries_max = 100000;
  config.layout = config.key_bytes < 16 ? ROOST_LAYOUT_INLINE : ROOST_LAYOUT_SPLIT;
  config.hash_seed = 7;
  config.has_hash_seed = true;
  if (roost_table_create(&config, &table, error, sizeof error) != ROOST_OK) return fail(error);
  file = fopen(arguments[4], "rb");
  if (file == NULL) return fail("no keys");
  while (fread(key, config.key_bytes, 1, file) == 1) {
    roost_keys keys = {.keys = key, .count = 1};
    roost_timeouts timeouts = {.all = 1000};
    uint8_t outcome;
    memcpy(value, &number, sizeof number);
    ++number;
    roost_table_insert(table, &keys, value, &timeouts, &outcome);
  }
  fclose(file);
  if (roost_table_save(table, arguments[5], error, sizeof error) != ROOST_OK) return fail(error);
  roost_table_destroy(table);
  return 0;
}
