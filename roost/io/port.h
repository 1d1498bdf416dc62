// One DPDK Ethernet port with one receive and one transmit queue, started, and everything it moved
// counted.
//
// One worker uses a port. A transmit that the device refuses is not tried again: the packet is
// freed and counted, so that received + originated = sent + refused + dropped + consumed can be
// checked at any time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "roost/base/result.h"
#include "roost/io/buffer_pool.h"
#include "roost/io/packet_burst.h"
#include "roost/net/address.h"

struct rte_mbuf;
struct rte_mempool;

namespace roost::io {

// What passed between the port and the worker. Exact.
struct PortCounters {
  uint64_t received = 0;  // handed over to the worker
  uint64_t received_bytes = 0;
  uint64_t sent = 0;  // accepted by the device
  uint64_t sent_bytes = 0;
  uint64_t refused = 0;    // not accepted by the device, freed
  uint64_t no_buffer = 0;  // given to send(), which found no buffer for it
  uint64_t malformed = 0;  // delivered by the device with lengths that contradict each other, freed
};

// What the device says of packets that never came as far as the worker, or were lost after it.
struct DeviceCounters {
  uint64_t receive_errors = 0;
  uint64_t no_buffer = 0;  // lost because the buffer pool was empty
  uint64_t missed = 0;     // lost because the device's queue was full
  uint64_t transmit_errors = 0;
};

class Port {
 public:
  struct Config {
    uint16_t id = 0;  // DPDK's number of the port
    uint16_t rx_descriptors = 512;
    uint16_t tx_descriptors = 512;
    std::optional<net::MacAddress> mac{};  // else the device's own
    std::optional<uint16_t> mtu{};         // else the device's own
    bool promiscuous = false;
  };

  // Configures and starts the port. A MAC that the device cannot take makes it promiscuous instead;
  // an MTU that it cannot take is left to the datapath. The pool must outlive the port.
  static Result<Port> create(const Config& config, const BufferPool& pool);

  Port(Port&& from) noexcept;
  Port& operator=(Port&&) = delete;
  ~Port();  // stops and closes the port; what a capture port wrote is complete then

  [[nodiscard]] uint16_t id() const { return id_; }
  // DPDK's name of the device: "net_pcap0".
  [[nodiscard]] const std::string& device_name() const { return device_name_; }
  [[nodiscard]] const net::MacAddress& mac() const { return mac_; }

  // Appends up to `packet_count_max` received packets to the burst, which must have room; returns
  // how many.
  size_t receive(PacketBurst& burst, size_t packet_count_max);

  // The two halves of receive, for who keeps packets before the worker sees them: fetch takes
  // buffers from the device, and the caller owns them; hand_over appends one to a burst with room
  // and counts it.
  [[nodiscard]] size_t fetch(std::span<rte_mbuf*> buffers);
  void hand_over(rte_mbuf* buffer, PacketBurst& burst);

  // Sends the lanes of the burst that are to leave by this port, in their order. They are gone from
  // the burst afterwards, sent or refused.
  void transmit(PacketBurst& burst);

  // Sends a copy of a frame of 1 to 65,535 bytes. It is sent, refused, or found no buffer, and
  // counted as that.
  void send(std::span<const uint8_t> frame);

  [[nodiscard]] const PortCounters& counters() const { return counters_; }
  // Asks the device; not for every packet.
  [[nodiscard]] DeviceCounters read_device_counters() const;

 private:
  Port(uint16_t id, const BufferPool& pool) : id_(id), pool_(pool.get()) {}
  std::optional<Error> configure(const Config& config, const BufferPool& pool);
  std::optional<Error> set_up_queues(const Config& config, const BufferPool& pool);
  std::optional<Error> set_identity(const Config& config);
  Error failed(const char* what, int code) const;

  uint16_t id_;
  rte_mempool* pool_;     // what the device receives into, and send() takes from
  bool is_owner_ = true;  // false once moved from
  bool is_started_ = false;
  std::string device_name_;
  net::MacAddress mac_;
  PortCounters counters_;
};

}  // namespace roost::io
