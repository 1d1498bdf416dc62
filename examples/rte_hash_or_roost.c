// The same work on rte_hash or on Roost, by one switch: what changes for a program that moves from
// one to the other, and what stays. The two sets of functions below stand for a program's own.
//
//   rte_hash_or_roost EAL-ARGUMENTS -- --table roost|rte_hash [--keys COUNT] [--misses PERCENT]
//
// It adds the keys, changes some values, looks all up in bursts with the given share of misses,
// deletes a third, and walks over the rest, on a worker lcore if there is one. The answers must not
// depend on the table. The rates are an illustration on the machine at hand, not a record of a
// benchmark: one run, one order, no warm-up.
#include <inttypes.h>
#include <roost.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_hash.h>
#include <rte_hash_crc.h>
#include <rte_launch.h>
#include <rte_lcore.h>
#include <rte_memzone.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BURST = 32 };

struct flow_key {
  uint32_t source, destination;
  uint16_t source_port, destination_port;
  uint32_t protocol;
};

// What a walk over a table adds up: independent of its order.
struct sums {
  uint64_t entries, keys, values;
};

// The program's own interface, over either table. A value is 64 bits.
struct table_kind {
  const char* name;
  void* (*create)(size_t keys_max);
  size_t (*add)(void* table, const struct flow_key* keys, const uint64_t* values, size_t count);
  size_t (*lookup)(void* table, const struct flow_key* keys, uint64_t* values, uint64_t* hits,
                   size_t count);
  size_t (*erase)(void* table, const struct flow_key* keys, size_t count);
  struct sums (*walk)(void* table);
  void (*destroy)(void* table);
};

// --- rte_hash. ---

// An eighth of room to spare: it may refuse keys before it is full.
static void* rte_create(size_t keys_max) {
  const struct rte_hash_parameters parameters = {.name = "flows",
                                                 .entries = (uint32_t)(keys_max + keys_max / 8),
                                                 .key_len = sizeof(struct flow_key),
                                                 .hash_func = rte_hash_crc,
                                                 .socket_id = (int)rte_socket_id()};
  struct rte_hash* table = rte_hash_create(&parameters);
  if (table == NULL) fprintf(stderr, "rte_hash_create: %s\n", rte_strerror(rte_errno));
  return table;
}

static size_t rte_add(void* table, const struct flow_key* keys, const uint64_t* values,
                      size_t count) {
  size_t added = 0;
  for (size_t i = 0; i < count; ++i)
    added += rte_hash_add_key_data(table, &keys[i], (void*)(uintptr_t)values[i]) == 0;
  return added;
}

static size_t rte_lookup(void* table, const struct flow_key* keys, uint64_t* values, uint64_t* hits,
                         size_t count) {
  const void* pointers[BURST];  // at most RTE_HASH_LOOKUP_BULK_MAX
  void* data[BURST];
  for (size_t i = 0; i < count; ++i) pointers[i] = &keys[i];
  const int found = rte_hash_lookup_bulk_data(table, pointers, (uint32_t)count, hits, data);
  for (size_t i = 0; i < count; ++i)
    if (roost_is_hit(hits, i)) values[i] = (uintptr_t)data[i];
  return found < 0 ? 0 : (size_t)found;
}

static size_t rte_erase(void* table, const struct flow_key* keys, size_t count) {
  size_t erased = 0;
  for (size_t i = 0; i < count; ++i) erased += rte_hash_del_key(table, &keys[i]) >= 0;
  return erased;
}

static struct sums rte_walk(void* table) {
  struct sums sums = {0, 0, 0};
  const void* key;
  void* data;
  uint32_t next = 0;
  while (rte_hash_iterate(table, &key, &data, &next) >= 0) {
    sums.entries += 1;
    sums.keys += ((const struct flow_key*)key)->source;
    sums.values += (uintptr_t)data;
  }
  return sums;
}

static void rte_destroy(void* table) { rte_hash_free(table); }

// --- Roost. ---

// The table lives in a memzone, as rte_hash does: on DPDK's pages, of this lcore's node.
static void* roost_create(size_t keys_max) {
  char error[256];
  roost_config config;
  roost_config_init(&config, sizeof config);
  config.key_bytes = sizeof(struct flow_key);
  config.value_bytes = sizeof(uint64_t);
  config.entries_max = keys_max;
  if (roost_table_bytes(&config, &config.memory_bytes, error, sizeof error) != ROOST_OK) {
    fprintf(stderr, "roost_table_bytes: %s\n", error);
    return NULL;
  }
  const struct rte_memzone* zone =
      rte_memzone_reserve_aligned("flows", config.memory_bytes, (int)rte_socket_id(), 0, 64);
  if (zone == NULL) {
    fprintf(stderr, "rte_memzone_reserve_aligned: %s\n", rte_strerror(rte_errno));
    return NULL;
  }
  config.memory = zone->addr;
  roost_table* table;
  if (roost_table_create(&config, &table, error, sizeof error) != ROOST_OK)
    fprintf(stderr, "roost_table_create: %s\n", error);
  return table;
}

static size_t roost_add(void* table, const struct flow_key* keys, const uint64_t* values,
                        size_t count) {
  const roost_keys burst = {.keys = keys, .count = count};
  uint8_t outcomes[BURST];
  return roost_table_insert(table, &burst, values, NULL, outcomes);
}

static size_t roost_lookup(void* table, const struct flow_key* keys, uint64_t* values,
                           uint64_t* hits, size_t count) {
  const roost_keys burst = {.keys = keys, .count = count};
  return roost_table_lookup(table, &burst, values, hits);
}

static size_t roost_erase(void* table, const struct flow_key* keys, size_t count) {
  const roost_keys burst = {.keys = keys, .count = count};
  uint64_t erased[ROOST_HIT_WORDS(BURST)];
  return roost_table_erase(table, &burst, erased);
}

static struct sums roost_walk(void* table) {
  struct sums sums = {0, 0, 0};
  struct flow_key keys[BURST];
  uint64_t values[BURST];
  roost_cursor cursor = {0};
  for (size_t count; (count = roost_table_scan(table, &cursor, keys, values, BURST)) != 0;) {
    sums.entries += count;
    for (size_t i = 0; i < count; ++i) {
      sums.keys += keys[i].source;
      sums.values += values[i];
    }
  }
  return sums;
}

// Lent memory is given back by its lender.
static void roost_destroy(void* table) {
  roost_table_destroy(table);
  rte_memzone_free(rte_memzone_lookup("flows"));
}

// --- The work, which knows neither. ---

static const struct table_kind kinds[] = {
    {"rte_hash", rte_create, rte_add, rte_lookup, rte_erase, rte_walk, rte_destroy},
    {"roost", roost_create, roost_add, roost_lookup, roost_erase, roost_walk, roost_destroy},
};

struct options {
  const struct table_kind* kind;
  size_t key_count;
  size_t miss_percent;
};

// Keys that differ for different indices.
static struct flow_key key_of(uint64_t index) {
  uint64_t bits = index * 0x9E3779B97F4A7C15;  // odd, so no two indices share a product
  bits ^= bits >> 32;
  return (struct flow_key){.source = (uint32_t)bits,
                           .destination = (uint32_t)(bits >> 32),
                           .source_port = (uint16_t)(index % 50000),
                           .destination_port = 443,
                           .protocol = 6};
}

static double seconds_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

// One step of the work: what it counted, and at which rate.
static void report(const char* step, size_t done, size_t count, double start) {
  printf("answer %s %zu\n", step, done);
  printf("rate %s %.1f million a second\n", step, (double)count / (seconds_now() - start) * 1e-6);
}

static void add_all(const struct table_kind* kind, void* table, const struct flow_key* keys,
                    size_t count, uint64_t value_step, const char* step) {
  const double start = seconds_now();
  size_t added = 0;
  for (size_t first = 0; first < count; first += BURST) {
    const size_t burst = count - first < BURST ? count - first : BURST;
    uint64_t values[BURST];
    for (size_t i = 0; i < burst; ++i) values[i] = (first + i + 1) * value_step;
    added += kind->add(table, keys + first, values, burst);
  }
  report(step, added, count, start);
}

static void look_up_all(const struct table_kind* kind, void* table, const struct flow_key* keys,
                        size_t count, const char* step) {
  const double start = seconds_now();
  size_t found = 0;
  uint64_t sum = 0;
  for (size_t first = 0; first < count; first += BURST) {
    const size_t burst = count - first < BURST ? count - first : BURST;
    uint64_t values[BURST], hits[ROOST_HIT_WORDS(BURST)];
    found += kind->lookup(table, keys + first, values, hits, burst);
    for (size_t i = 0; i < burst; ++i)
      if (roost_is_hit(hits, i)) sum += values[i];
  }
  report(step, found, count, start);
  printf("answer %s-sum %" PRIu64 "\n", step, sum);
}

static void erase_all(const struct table_kind* kind, void* table, const struct flow_key* keys,
                      size_t count) {
  const double start = seconds_now();
  size_t erased = 0;
  for (size_t first = 0; first < count; first += BURST)
    erased += kind->erase(table, keys + first, count - first < BURST ? count - first : BURST);
  report("erase", erased, count, start);
}

static int work(void* argument) {
  const struct options* options = argument;
  const struct table_kind* kind = options->kind;
  const size_t count = options->key_count;
  struct flow_key* keys = calloc(count, sizeof *keys);
  struct flow_key* queries = calloc(count, sizeof *queries);
  void* table = kind->create(count);
  if (keys == NULL || queries == NULL || table == NULL) return 1;
  for (size_t i = 0; i < count; ++i) {
    const size_t asked = i * 7919 % count;  // not the order in which they were added
    keys[i] = key_of(i);
    queries[i] = key_of(i % 100 < options->miss_percent ? count + asked : asked);
  }
  printf("%s: %zu keys, %zu %% misses, on lcore %u\n", kind->name, count, options->miss_percent,
         rte_lcore_id());
  add_all(kind, table, keys, count, 1, "add");
  add_all(kind, table, keys, count / 10, 2, "update");
  look_up_all(kind, table, queries, count, "lookup");
  erase_all(kind, table, keys, count / 3);
  look_up_all(kind, table, queries, count, "lookup-after-erase");

  const double start = seconds_now();
  const struct sums sums = kind->walk(table);
  report("walk", sums.entries, sums.entries, start);
  printf("answer walk-keys %" PRIu64 "\nanswer walk-values %" PRIu64 "\n", sums.keys, sums.values);
  kind->destroy(table);
  free(queries);
  free(keys);
  return 0;
}

static bool parse(int argc, char** argv, struct options* options) {
  *options = (struct options){.kind = NULL, .key_count = 1500000, .miss_percent = 20};
  for (int i = 1; i + 1 < argc; i += 2) {
    if (strcmp(argv[i], "--keys") == 0) {
      options->key_count = strtoul(argv[i + 1], NULL, 10);
    } else if (strcmp(argv[i], "--misses") == 0) {
      options->miss_percent = strtoul(argv[i + 1], NULL, 10);
    } else if (strcmp(argv[i], "--table") == 0) {
      for (size_t kind = 0; kind < sizeof kinds / sizeof *kinds; ++kind)
        if (strcmp(argv[i + 1], kinds[kind].name) == 0) options->kind = &kinds[kind];
    } else {
      return false;
    }
  }
  return argc % 2 == 1 && options->kind != NULL && options->key_count >= 10 &&
         options->miss_percent <= 100;
}

int main(int argc, char** argv) {
  const int eal_words = rte_eal_init(argc, argv);
  if (eal_words < 0) {
    fprintf(stderr, "rte_eal_init: %s\n", rte_strerror(rte_errno));
    return 1;
  }
  struct options options;
  if (!parse(argc - eal_words, argv + eal_words, &options)) {
    fprintf(stderr, "after --: --table roost|rte_hash [--keys COUNT] [--misses PERCENT]\n");
    return 2;
  }
  const unsigned lcore = rte_get_next_lcore(rte_lcore_id(), 1, 0);
  int status = 0;
  if (lcore == RTE_MAX_LCORE) {
    status = work(&options);
  } else {
    rte_eal_remote_launch(work, &options, lcore);
    status = rte_eal_wait_lcore(lcore);
  }
  rte_eal_cleanup();
  return status;
}
