#include "roost/io/port.h"

#include <rte_ethdev.h>
#include <rte_mbuf.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "roost/base/assert.h"

namespace roost::io {

namespace {

constexpr uint16_t kQueue = 0;

// A capture port delivers packets above 65,535 bytes with a total that its segments do not have.
bool is_consistent(const rte_mbuf* buffer) {
  if (buffer->nb_segs == 1) return buffer->pkt_len == buffer->data_len;
  uint32_t segment_bytes = 0;
  for (const rte_mbuf* segment = buffer; segment != nullptr; segment = segment->next) {
    segment_bytes += segment->data_len;
  }
  return buffer->pkt_len == segment_bytes;
}

// The offloads this code can work with: frames longer than a buffer are chained, both ways.
rte_eth_conf port_configuration(const rte_eth_dev_info& device) {
  rte_eth_conf configuration = {};
  configuration.rxmode.offloads = device.rx_offload_capa & RTE_ETH_RX_OFFLOAD_SCATTER;
  configuration.txmode.offloads = device.tx_offload_capa & RTE_ETH_TX_OFFLOAD_MULTI_SEGS;
  return configuration;
}

// A copy of the frame, in as many chained buffers as it needs; nullptr when the pool has too few.
rte_mbuf* copy_to_buffers(std::span<const uint8_t> frame, rte_mempool* pool) {
  rte_mbuf* head = nullptr;
  while (!frame.empty()) {
    rte_mbuf* segment = rte_pktmbuf_alloc(pool);
    if (segment == nullptr) {
      rte_pktmbuf_free(head);
      return nullptr;
    }
    const size_t bytes = std::min<size_t>(frame.size(), rte_pktmbuf_tailroom(segment));
    std::ranges::copy(frame.first(bytes), rte_pktmbuf_mtod(segment, uint8_t*));
    segment->data_len = static_cast<uint16_t>(bytes);
    segment->pkt_len = static_cast<uint32_t>(bytes);
    frame = frame.subspan(bytes);
    if (head == nullptr) {
      head = segment;
    } else {
      const int code = rte_pktmbuf_chain(head, segment);
      ROOST_ASSERT(code == 0);
    }
  }
  return head;
}

}  // namespace

Result<Port> Port::create(const Config& config, const BufferPool& pool) {
  if (rte_eth_dev_is_valid_port(config.id) == 0) {
    return Error{"DPDK has no port " + std::to_string(config.id) +
                 "; give one more --vdev or bind one more network card"};
  }
  Port port(config.id, pool);
  if (auto error = port.configure(config, pool)) return *error;
  return port;
}

Port::Port(Port&& from) noexcept
    : id_(from.id_),
      pool_(from.pool_),
      is_owner_(std::exchange(from.is_owner_, false)),
      is_started_(std::exchange(from.is_started_, false)),
      device_name_(std::move(from.device_name_)),
      mac_(from.mac_),
      counters_(from.counters_) {}

Port::~Port() {
  if (!is_owner_) return;
  if (is_started_) rte_eth_dev_stop(id_);
  rte_eth_dev_close(id_);
}

Error Port::failed(const char* what, int code) const {
  return Error{"port " + std::to_string(id_) + " (" + device_name_ + "): " + what + ": " +
               rte_strerror(-code)};
}

std::optional<Error> Port::configure(const Config& config, const BufferPool& pool) {
  std::array<char, RTE_ETH_NAME_MAX_LEN> name = {};
  if (rte_eth_dev_get_name_by_port(id_, name.data()) == 0) device_name_ = name.data();
  if (auto error = set_up_queues(config, pool)) return error;
  if (auto error = set_identity(config)) return error;
  if (const int code = rte_eth_dev_start(id_); code != 0)
    return failed("the device does not start", code);
  is_started_ = true;
  if (const int code = rte_eth_stats_reset(id_); code != 0 && code != -ENOTSUP) {
    return failed("its counters cannot be reset", code);
  }
  return {};
}

std::optional<Error> Port::set_up_queues(const Config& config, const BufferPool& pool) {
  rte_eth_dev_info device = {};
  if (const int code = rte_eth_dev_info_get(id_, &device); code != 0)
    return failed("no device information", code);
  const rte_eth_conf configuration = port_configuration(device);
  uint16_t rx_descriptors = config.rx_descriptors;
  uint16_t tx_descriptors = config.tx_descriptors;
  if (const int code = rte_eth_dev_configure(id_, 1, 1, &configuration); code != 0) {
    return failed(
        "one receive and one transmit queue cannot be had; a replay device needs both sides or "
        "none "
        "named, other devices at least one queue each way",
        code);
  }
  if (const int code = rte_eth_dev_adjust_nb_rx_tx_desc(id_, &rx_descriptors, &tx_descriptors);
      code != 0) {
    return failed("no length of its queues suits it", code);
  }
  const auto socket = static_cast<unsigned>(rte_eth_dev_socket_id(id_));
  if (const int code =
          rte_eth_rx_queue_setup(id_, kQueue, rx_descriptors, socket, nullptr, pool.get());
      code != 0) {
    return failed("no receive queue (an endless capture must fit into the buffer pool)", code);
  }
  if (const int code = rte_eth_tx_queue_setup(id_, kQueue, tx_descriptors, socket, nullptr);
      code != 0) {
    return failed("no transmit queue", code);
  }
  return {};
}

std::optional<Error> Port::set_identity(const Config& config) {
  bool promiscuous = config.promiscuous;
  rte_ether_addr address = {};
  if (config.mac) {
    mac_ = *config.mac;
    std::ranges::copy(mac_.bytes, address.addr_bytes);
    const int code = rte_eth_dev_default_mac_addr_set(id_, &address);
    if (code == -ENOTSUP) {
      promiscuous = true;
    } else if (code != 0) {
      return failed("the device does not take its MAC", code);
    }
  } else if (const int code = rte_eth_macaddr_get(id_, &address); code == 0) {
    std::ranges::copy(address.addr_bytes, mac_.bytes.begin());
  } else {
    return failed("the device does not tell its MAC; configure one", code);
  }
  if (config.mtu) {
    const int code = rte_eth_dev_set_mtu(id_, *config.mtu);
    if (code != 0 && code != -ENOTSUP) return failed("the device does not take this MTU", code);
  }
  const int code = promiscuous ? rte_eth_promiscuous_enable(id_) : rte_eth_promiscuous_disable(id_);
  if (code != 0 && code != -ENOTSUP) return failed("promiscuous mode cannot be set", code);
  return {};
}

size_t Port::receive(PacketBurst& burst, size_t packet_count_max) {
  std::array<rte_mbuf*, net::kBatchLanesMax> buffers;
  const size_t room = net::kBatchLanesMax - burst.batch().lane_count();
  const size_t count = fetch(std::span(buffers).first(std::min(room, packet_count_max)));
  for (size_t i = 0; i < count; ++i) hand_over(buffers[i], burst);
  return count;
}

size_t Port::fetch(std::span<rte_mbuf*> buffers) {
  const size_t delivered =
      rte_eth_rx_burst(id_, kQueue, buffers.data(), static_cast<uint16_t>(buffers.size()));
  size_t kept = 0;
  for (size_t i = 0; i < delivered; ++i) {
    if (is_consistent(buffers[i])) {
      buffers[kept++] = buffers[i];
    } else {
      ++counters_.malformed;
      rte_pktmbuf_free(buffers[i]);
    }
  }
  return kept;
}

void Port::hand_over(rte_mbuf* buffer, PacketBurst& burst) {
  ++counters_.received;
  counters_.received_bytes += rte_pktmbuf_pkt_len(buffer);
  burst.push(buffer, id_);
}

void Port::transmit(PacketBurst& burst) {
  std::array<rte_mbuf*, net::kBatchLanesMax> buffers;
  std::array<uint32_t, net::kBatchLanesMax> bytes;  // an accepted buffer is no longer ours to ask
  uint16_t count = 0;
  const std::span<const net::LaneVerdict> verdicts = burst.batch().verdicts();
  for (size_t lane = 0; lane < verdicts.size(); ++lane) {
    if (!verdicts[lane].is_forward() || verdicts[lane].out_port() != id_) continue;
    buffers[count] = burst.take(lane);
    bytes[count] = rte_pktmbuf_pkt_len(buffers[count]);
    ++count;
  }
  if (count == 0) return;
  const uint16_t accepted = rte_eth_tx_burst(id_, kQueue, buffers.data(), count);
  counters_.sent += accepted;
  counters_.refused += static_cast<uint64_t>(count - accepted);
  for (uint16_t i = 0; i < accepted; ++i) counters_.sent_bytes += bytes[i];
  for (uint16_t i = accepted; i < count; ++i) rte_pktmbuf_free(buffers[i]);
}

void Port::send(std::span<const uint8_t> frame) {
  ROOST_ASSERT(!frame.empty() && frame.size() <= UINT16_MAX);
  rte_mbuf* buffer = copy_to_buffers(frame, pool_);
  if (buffer == nullptr) {
    ++counters_.no_buffer;
  } else if (rte_eth_tx_burst(id_, kQueue, &buffer, 1) == 1) {
    ++counters_.sent;
    counters_.sent_bytes += frame.size();
  } else {
    ++counters_.refused;
    rte_pktmbuf_free(buffer);
  }
}

DeviceCounters Port::read_device_counters() const {
  rte_eth_stats stats = {};
  if (rte_eth_stats_get(id_, &stats) != 0) return {};
  return {.receive_errors = stats.ierrors,
          .no_buffer = stats.rx_nombuf,
          .missed = stats.imissed,
          .transmit_errors = stats.oerrors};
}

}  // namespace roost::io
