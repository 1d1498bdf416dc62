// A program in C that only says which version of Roost it was compiled for and which it runs with.
#include <roost.h>
#include <stdio.h>

int main(void) {
  roost_config config;
  roost_config_init(&config, sizeof config);
  config.key_bytes = 4;
  config.capacity = 16;
  roost_table* table;  // made and freed, so that C++'s runtime is really needed
  if (roost_table_create(&config, &table, NULL, 0) != ROOST_OK) return 1;
  roost_table_destroy(table);
  printf("%d.%d.%d %s\n", ROOST_VERSION_MAJOR, ROOST_VERSION_MINOR, ROOST_VERSION_PATCH,
         roost_version());
  return 0;
}
