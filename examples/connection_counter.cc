// Prints how many connections of a capture are in which state at its end, and how the others ended:
// a monitor on roost/conntrack, which translates no addresses. Time is the packets'.
#include <pcap/pcap.h>
#include <roost/conntrack/connection_table_impl.h>
#include <roost/conntrack/timeouts.h>

#include <cstdio>

namespace {

using namespace roost;
using namespace roost::conntrack;

const StateTimeouts kTimeouts = default_timeouts(1);  // a tick is a second

// The connections of one address family.
template <class Address>
class Monitor {
 public:
  void see(const net::Packet& packet, const net::ParsedPacket& parsed, Tick now) {
    table_.advance(now);
    const auto key = net::FlowKey<Address>::from_packet(packet, parsed);
    const net::TcpSegment segment = net::read_tcp_segment(packet, parsed);
    const auto [connection, sender, client] = table_.find(key);
    if (connection == nullptr) {
      if (segment.has(net::tcp::kRst)) return;
      Connection begun;
      begun.begin(key.protocol, segment, false);
      static_cast<void>(table_.create_connection(key, begun, kTimeouts));
    } else if (sender == Sender::kClient && begins_anew(connection->state, segment.flags)) {
      table_.begin_anew(*connection, key.protocol, segment, kTimeouts);
    } else {
      table_.update(*connection, sender, segment, kTimeouts);
    }
  }
  void print(const char* family, Tick end) {
    table_.advance(end);
    std::array<unsigned long, kConnectionStateCount> by_state{};
    typename decltype(table_)::WalkCursor cursor{};
    table_.settle();
    table_.walk(cursor, UINT64_MAX, [&](const auto&, const Connection& connection) {
      ++by_state[static_cast<size_t>(connection.state)];
      return false;  // it stays
    });
    for (size_t i = 0; i < by_state.size(); ++i)
      if (by_state[i] != 0)
        std::printf("%s %s %lu\n", family, kConnectionStateNames[i].data(), by_state[i]);
    const FlowCounts& counts = table_.counts();
    std::printf("%s created %lu ended %lu expired %lu\n", family, counts.created, counts.ended,
                counts.expired);
  }

 private:
  ConnectionTable<SameEnds<Address>> table_ =
      ConnectionTable<SameEnds<Address>>::create({.connections = 100'000}, {}).value();
};

}  // namespace

int main(int argc, char** argv) {
  char error[PCAP_ERRBUF_SIZE] = "usage";
  pcap_t* capture = argc == 2 ? pcap_open_offline(argv[1], error) : nullptr;
  if (capture == nullptr) return std::fprintf(stderr, "connection_counter CAPTURE: %s\n", error), 1;
  Monitor<net::Ipv4Address> ipv4;
  Monitor<net::Ipv6Address> ipv6;
  pcap_pkthdr* header;
  const u_char* bytes;
  Tick now{};  // a packet stamped earlier than the one before comes at its time
  while (pcap_next_ex(capture, &header, &bytes) == 1) {
    now = std::max(now, Tick{static_cast<uint64_t>(header->ts.tv_sec)});
    const net::Packet packet{.data = const_cast<u_char*>(bytes),
                             .contiguous_bytes = header->caplen,
                             .total_bytes = header->len};
    net::ParsedPacket parsed;
    if (net::parse(packet, parsed) != net::ParseVerdict::kOk) continue;
    parsed.is_ipv6 ? ipv6.see(packet, parsed, now) : ipv4.see(packet, parsed, now);
  }
  ipv4.print("ipv4", now);
  ipv6.print("ipv6", now);
}
