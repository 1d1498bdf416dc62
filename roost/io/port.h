// One DPDK Ethernet port, started, with a queue of each kind a worker as far as the device has
// them, and everything it moved counted.
//
// Each worker uses its own PortQueue; everything else here is for the thread that made the port,
// before the workers start and after they have ended.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "roost/base/result.h"
#include "roost/io/buffer_pool.h"
#include "roost/io/port_queue.h"
#include "roost/net/address.h"
#include "roost/net/rss.h"

struct rte_mempool;

namespace roost::io {

// The device's counters of packets that were lost before they reached a worker, or after it.
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
    uint16_t worker_count = 1;
    uint16_t rx_descriptors = 512;  // of each queue
    uint16_t tx_descriptors = 512;
    std::optional<net::MacAddress> mac{};  // else the device's own
    std::optional<uint16_t> mtu{};         // else the device's own
    bool promiscuous = false;
    net::RssInput rss_input = net::RssInput::kBoth;
    net::RssKey rss_key{};
  };

  // Configures and starts the port. A MAC that the device cannot take makes it promiscuous instead;
  // an MTU that it cannot take is left to the datapath. The pool must outlive the port.
  //
  // A worker gets a transmit queue of its own, and a receive queue, unless the device has fewer. A
  // device whose queues each carry their share whether they are wanted or not (net_af_packet with
  // qpairs, net_pcap with several captures) has all of them polled, several by one worker if need
  // be. A network card is configured to spread by `rss_input` if it can, else by both addresses.
  static Result<Port> create(const Config& config, const BufferPool& pool);

  Port(Port&& from) noexcept;
  Port& operator=(Port&&) = delete;
  ~Port();  // stops and closes the port; what a capture port wrote is complete then

  [[nodiscard]] uint16_t id() const { return id_; }
  // DPDK's name of the device: "net_pcap0".
  [[nodiscard]] const std::string& device_name() const { return device_name_; }
  [[nodiscard]] const net::MacAddress& mac() const { return mac_; }

  [[nodiscard]] uint16_t receive_queue_count() const { return receive_queue_count_; }
  // Whether each worker receives the packets that `rss_worker` assigns to it, by the hash of the
  // one address that `rss_input` names.
  [[nodiscard]] bool is_steered() const { return is_steered_; }
  [[nodiscard]] uint16_t transmit_queue_count() const { return transmit_queue_count_; }

  // A worker's way into and out of the port; it stays where it is while the port lives.
  [[nodiscard]] PortQueue& queue(size_t worker = 0) { return queues_[worker]; }
  [[nodiscard]] const PortQueue& queue(size_t worker = 0) const { return queues_[worker]; }

  // Of all workers.
  [[nodiscard]] PortCounters counters() const;
  // What the device has received until now is thrown away, uncounted; before any worker receives.
  void discard_received() const;
  // Reads them from the device; not for every packet.
  [[nodiscard]] DeviceCounters read_device_counters() const;
  // The link's state as the device reports it now; up, if it reports none. Any thread.
  [[nodiscard]] bool is_link_up() const;

 private:
  Port(uint16_t id, const BufferPool& pool) : id_(id), pool_(pool.get()) {}
  std::optional<Error> configure(const Config& config, const BufferPool& pool);
  std::optional<Error> configure_device(const Config& config);
  std::optional<Error> set_up_queues(const Config& config, const BufferPool& pool);
  void share_queues(uint16_t worker_count);
  [[nodiscard]] uint16_t first_queue(size_t worker, uint16_t worker_count) const;
  [[nodiscard]] bool set_rss_table(uint16_t worker_count) const;
  std::optional<Error> set_identity(const Config& config);
  Error failed(const char* what, int code) const;

  uint16_t id_;
  rte_mempool* pool_;     // what the device receives into, and send() takes from
  bool is_owner_ = true;  // false once moved from
  bool is_started_ = false;
  bool is_steered_ = false;
  // DPDK keeps its address, and drivers read it when the device starts.
  std::unique_ptr<net::RssKey> rss_key_ = std::make_unique<net::RssKey>();
  std::string device_name_;
  net::MacAddress mac_;
  uint16_t rss_entries_ = 0;  // of the device's table
  uint16_t receive_queue_count_ = 0;
  uint16_t transmit_queue_count_ = 0;
  std::vector<PortQueue> queues_;  // by worker
};

}  // namespace roost::io
