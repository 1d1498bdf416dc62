// Drives the flow table of docs/migrating-from-rte_hash.md, either one: what it prints must not
// depend on which.
#include <errno.h>
#include <flows.h>
#include <rte_eal.h>
#include <stdio.h>

static struct flow_key key_of(uint32_t number) {
  return (struct flow_key){.source = number, .destination = ~number, .protocol = 17};
}

int main(int argc, char** argv) {
  struct flow_key keys[BURST_MAX];
  const void* pointers[BURST_MAX];
  uint32_t bytes[BURST_MAX];
  struct flow sum;
  if (rte_eal_init(argc, argv) < 0 || flows_open() != 0) return 1;
  for (uint32_t i = 0; i < 1000; ++i) {
    const struct flow_key key = key_of(i);
    const uint32_t now = i < 500 ? 1 : 2;
    if (flows_count(&key, i, now) != 0 || flows_count(&key, 1, now) != 0) return 1;
  }
  for (uint32_t i = 0; i < BURST_MAX; ++i) {  // each comes twice, and half of them exist
    keys[i] = key_of(i / 2 * 62);
    pointers[i] = &keys[i];
    bytes[i] = 7;
  }
  printf("burst %u\n", flows_count_burst(pointers, bytes, BURST_MAX, 3));
  printf("total %u", flows_total(&sum));
  printf(" packets %u bytes %u\n", (unsigned)sum.packets, (unsigned)sum.bytes);
  const struct flow_key first = key_of(0), second = key_of(1), absent = key_of(5000);
  printf("has %d %d %d\n", flows_has(&first), flows_has(&second), flows_has(&absent));
  const unsigned aged = flows_age(2);
  printf("age %u again %u\n", aged, flows_age(2));
  printf("has %d %d total %u\n", flows_has(&first), flows_has(&second), flows_total(&sum));
  const int ended = flows_end(&first);
  printf("end %d %d\n", ended, flows_end(&first) == -ENOENT);
  printf("has %d total %u\n", flows_has(&first), flows_total(&sum));
  flows_close();
  return 0;
}
