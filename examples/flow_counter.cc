// Prints the flows of a capture with their packets and bytes: flow_counter.c over the C++ classes.
// The library's parser reads the packets, so IPv4 and IPv6 have a table each, and a damaged packet
// is not counted. With a second argument it saves the table of IPv4 flows there: roost-halo says
// what a lookup unit beside the cache would do for it.
#include <pcap/pcap.h>
#include <roost/net/flow_key.h>
#include <roost/net/parse.h>
#include <roost/table/flow_table.h>
#include <roost/table/save_table.h>

#include <array>
#include <cinttypes>
#include <cstdio>
#include <optional>
#include <span>
#include <utility>

namespace {

constexpr uint64_t kFlowsMax = 1'000'000;
constexpr size_t kBurstPackets = 32;

struct Traffic {
  uint64_t packets, bytes;
};

// The flows of one address family. Packets are counted a burst at a time, so that the table's cache
// misses overlap.
template <class Key>
class FlowCounter {
 public:
  static roost::Result<FlowCounter> create() {
    roost::Result<Table> table = Table::create({.capacity = kFlowsMax});
    if (!table) return table.error();
    return FlowCounter(std::move(table).value());
  }

  void add(const Key& key, uint64_t bytes) {
    keys_[packet_count_] = key;
    bytes_[packet_count_] = bytes;
    if (++packet_count_ == kBurstPackets) count_burst();
  }

  // Packets whose flow found no place in the table.
  [[nodiscard]] uint64_t refused() const { return refused_; }

  [[nodiscard]] std::optional<roost::Error> save(const char* path) {
    return roost::save_table(table_, path);
  }

  void print() {
    count_burst();
    table_.for_each([](const Key& key, const Traffic& traffic) {
      std::printf("%s %s %u > %s %u packets %" PRIu64 " bytes %" PRIu64 "\n",
                  key.protocol == roost::net::IpProtocol::kTcp ? "tcp" : "udp",
                  key.source.format().c_str(), key.source_port, key.destination.format().c_str(),
                  key.destination_port, traffic.packets, traffic.bytes);
    });
  }

 private:
  using Table = roost::FlowTable<Key, Traffic>;

  explicit FlowCounter(Table table) : table_(std::move(table)) {}

  // Creates new flows, then counts in place. A flow may have several packets in a burst.
  void count_burst() {
    const std::span<const Key> keys(keys_.data(), std::exchange(packet_count_, 0));
    std::array<Traffic, kBurstPackets> fresh{};
    std::array<roost::InsertOutcome, kBurstPackets> outcomes;
    std::array<Traffic*, kBurstPackets> found;
    roost::HitArray<kBurstPackets> hits;
    table_.upsert(keys, std::span(fresh), outcomes);
    refused_ += keys.size() - table_.find(keys, std::span(found), hits);
    for (size_t lane = 0; lane < keys.size(); ++lane) {
      if (!hits.test(lane)) continue;
      found[lane]->packets += 1;
      found[lane]->bytes += bytes_[lane];
    }
  }

  Table table_;
  std::array<Key, kBurstPackets> keys_;
  std::array<uint64_t, kBurstPackets> bytes_;
  size_t packet_count_ = 0;
  uint64_t refused_ = 0;
};

int fail(const char* what, const char* why) {
  std::fprintf(stderr, "flow_counter: %s: %s\n", what, why);
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2 && argc != 3) return fail("usage", "flow_counter CAPTURE [TABLE]");
  char error[PCAP_ERRBUF_SIZE];
  pcap_t* capture = pcap_open_offline(argv[1], error);
  if (capture == nullptr) return fail("the capture cannot be read", error);
  auto flows4 = FlowCounter<roost::net::FlowKey4>::create();
  auto flows6 = FlowCounter<roost::net::FlowKey6>::create();
  if (!flows4) return fail("no table", flows4.error().message.c_str());
  if (!flows6) return fail("no table", flows6.error().message.c_str());

  pcap_pkthdr* header;
  const u_char* bytes;
  uint64_t others = 0;
  while (pcap_next_ex(capture, &header, &bytes) == 1) {
    // The parser only reads; a packet's view is writable for rewriting.
    const roost::net::Packet packet{.data = const_cast<u_char*>(bytes),
                                    .contiguous_bytes = header->caplen,
                                    .total_bytes = header->len};
    roost::net::ParsedPacket parsed;
    if (roost::net::parse(packet, parsed) != roost::net::ParseVerdict::kOk) {
      ++others;
    } else if (parsed.is_ipv6) {
      flows6.value().add(roost::net::FlowKey6::from_packet(packet, parsed), header->len);
    } else {
      flows4.value().add(roost::net::FlowKey4::from_packet(packet, parsed), header->len);
    }
  }
  pcap_close(capture);
  flows4.value().print();
  flows6.value().print();
  std::printf("packets of no flow %" PRIu64 "\n", others);
  if (argc == 3) {
    if (const auto unsaved = flows4.value().save(argv[2])) {
      return fail(argv[2], unsaved->message.c_str());
    }
  }
  const uint64_t refused = flows4.value().refused() + flows6.value().refused();
  return refused == 0 ? 0 : fail("packets not counted", "there are too many flows for the table");
}
