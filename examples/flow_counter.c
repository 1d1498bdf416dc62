// Prints the flows over IPv4 in a capture (TCP, UDP, SCTP) with their packets and bytes.
#include <arpa/inet.h>
#include <inttypes.h>
#include <pcap/pcap.h>
#include <roost.h>
#include <stdio.h>
#include <string.h>

struct flow_key {
  struct in_addr addresses[2];  // source, destination
  uint16_t ports[2];
  uint8_t protocol, zero[3];
};
enum { BURST = 32, PACKETS = 0, BYTES = 1, IP = 14 };

int main(int argc, char** argv) {
  char error[PCAP_ERRBUF_SIZE] = "it takes a capture";
  pcap_t* capture = argc == 2 ? pcap_open_offline(argv[1], error) : NULL;
  struct bpf_program filter;  // no fragments, and whole headers up to the ports
  roost_table* table = NULL;
  roost_config config;
  roost_config_init(&config, sizeof config);
  config.key_bytes = sizeof(struct flow_key);
  config.value_bytes = sizeof(uint64_t[2]);  // packets, bytes
  config.entries_max = 1000000;
  if (capture == NULL || pcap_compile(capture, &filter, "ip and portrange 1-65535", 1, 0) != 0 ||
      pcap_setfilter(capture, &filter) != 0 ||
      roost_table_create(&config, &table, error, sizeof error) != ROOST_OK)
    return fprintf(stderr, "flow_counter: %s\n", error), 1;
  for (size_t count = BURST; count == BURST;) {
    struct pcap_pkthdr* header;
    const uint8_t* frame;
    struct flow_key keys[BURST];
    uint64_t bytes[BURST], flows[BURST][2] = {{0}}, hits[ROOST_HIT_WORDS(BURST)];
    uint8_t outcomes[BURST];
    void* found[BURST];
    for (count = 0; count < BURST && pcap_next_ex(capture, &header, &frame) == 1; ++count) {
      keys[count] = (struct flow_key){.protocol = frame[IP + 9]};
      memcpy(keys[count].addresses, frame + IP + 12, sizeof keys[count].addresses);
      memcpy(keys[count].ports, frame + IP + 4 * (frame[IP] & 15), sizeof keys[count].ports);
      bytes[count] = header->len;
    }
    const roost_keys burst = {.keys = keys, .count = count};
    roost_table_upsert(table, &burst, flows, NULL, outcomes);  // creates those that are new
    roost_table_find(table, &burst, found, hits);
    for (size_t lane = 0; lane < count; ++lane) {
      uint64_t* flow = roost_is_hit(hits, lane) ? found[lane] : flows[lane];  // a full table
      flow[PACKETS] += 1;
      flow[BYTES] += bytes[lane];
    }
  }
  struct flow_key key;
  uint64_t flow[2];
  for (roost_cursor cursor = {0}; roost_table_scan(table, &cursor, &key, flow, 1) == 1;) {
    printf("%d %s %d > ", key.protocol, inet_ntoa(key.addresses[0]), ntohs(key.ports[0]));
    printf("%s %d packets %" PRIu64 " bytes %" PRIu64 "\n", inet_ntoa(key.addresses[1]),
           ntohs(key.ports[1]), flow[PACKETS], flow[BYTES]);
  }
  roost_table_destroy(table);
}
