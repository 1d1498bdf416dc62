#include "roost/io/port.h"

#include <rte_ethdev.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>
#include <utility>

#include "roost/io/rss_configuration.h"

namespace roost::io {

namespace {

// Devices that spread what they receive over all queues they were made with, configured or not.
constexpr std::array<std::string_view, 2> kDriversOfAllQueues = {"net_af_packet", "net_pcap"};

// The offloads this code can work with: frames longer than a buffer are chained, both ways.
rte_eth_conf port_configuration(const rte_eth_dev_info& device) {
  rte_eth_conf configuration = {};
  configuration.rxmode.offloads = device.rx_offload_capa & RTE_ETH_RX_OFFLOAD_SCATTER;
  configuration.txmode.offloads = device.tx_offload_capa & RTE_ETH_TX_OFFLOAD_MULTI_SEGS;
  return configuration;
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
      is_steered_(from.is_steered_),
      rss_key_(std::move(from.rss_key_)),
      device_name_(std::move(from.device_name_)),
      mac_(from.mac_),
      receive_queue_count_(from.receive_queue_count_),
      transmit_queue_count_(from.transmit_queue_count_),
      queues_(std::move(from.queues_)) {}

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
  if (!set_rss_table(std::max<uint16_t>(1, config.worker_count))) is_steered_ = false;
  if (const int code = rte_eth_stats_reset(id_); code != 0 && code != -ENOTSUP) {
    return failed("its counters cannot be reset", code);
  }
  return {};
}

// Configures as many queues as the device has, one of each kind at least, so that a device without
// any refuses with its own reason.
std::optional<Error> Port::configure_device(const Config& config) {
  rte_eth_dev_info device = {};
  if (const int code = rte_eth_dev_info_get(id_, &device); code != 0)
    return failed("no device information", code);
  const uint16_t wanted = std::max<uint16_t>(1, config.worker_count);
  const auto granted = [](uint16_t most, uint16_t count) {
    return std::max<uint16_t>(1, std::min(most, count));
  };
  const bool takes_all =
      std::ranges::find(kDriversOfAllQueues, device.driver_name) != kDriversOfAllQueues.end();
  receive_queue_count_ = granted(device.max_rx_queues, takes_all ? UINT16_MAX : wanted);
  transmit_queue_count_ = granted(device.max_tx_queues, wanted);
  rte_eth_conf configuration = port_configuration(device);
  const uint64_t types = rss_types(device, config.rss_input);
  if (receive_queue_count_ > 1 && types != 0) {
    *rss_key_ = config.rss_key;
    add_rss(device, types, *rss_key_, configuration);
    is_steered_ = receive_queue_count_ == wanted && is_repeatable(device, types);
    rss_entries_ = device.reta_size;
  }
  const int code =
      rte_eth_dev_configure(id_, receive_queue_count_, transmit_queue_count_, &configuration);
  if (code == 0) return {};
  return failed(
      "its queues cannot be set up; a replay device needs both sides or none named, other devices "
      "at least one queue each way",
      code);
}

std::optional<Error> Port::set_up_queues(const Config& config, const BufferPool& pool) {
  if (auto error = configure_device(config)) return error;
  uint16_t rx_descriptors = config.rx_descriptors;
  uint16_t tx_descriptors = config.tx_descriptors;
  if (const int code = rte_eth_dev_adjust_nb_rx_tx_desc(id_, &rx_descriptors, &tx_descriptors);
      code != 0) {
    return failed("no length of its queues suits it", code);
  }
  const auto socket = static_cast<unsigned>(rte_eth_dev_socket_id(id_));
  for (uint16_t queue = 0; queue < receive_queue_count_; ++queue) {
    const int code =
        rte_eth_rx_queue_setup(id_, queue, rx_descriptors, socket, nullptr, pool.get());
    if (code == 0) continue;
    return failed(
        "no receive queue (an endless capture must fit into the buffers; give more of them)", code);
  }
  for (uint16_t queue = 0; queue < transmit_queue_count_; ++queue) {
    const int code = rte_eth_tx_queue_setup(id_, queue, tx_descriptors, socket, nullptr);
    if (code != 0) return failed("no transmit queue", code);
  }
  share_queues(std::max<uint16_t>(1, config.worker_count));
  return {};
}

// Receive queue q of port p is worker (p + q) % worker_count's, so that ports with one queue each
// are not all the first worker's. A worker sends by the queue of the number it receives by: a
// device that learns from what is sent by which queue a flow's answers come (taps do, and some
// network cards) then brings them to the worker whose flow it is.
void Port::share_queues(uint16_t worker_count) {
  std::vector<std::shared_ptr<TransmitLock>> locks(transmit_queue_count_);
  if (transmit_queue_count_ < worker_count) std::ranges::generate(locks, make_transmit_lock);
  queues_.reserve(worker_count);
  for (uint16_t worker = 0; worker < worker_count; ++worker) {
    const uint16_t first = first_queue(worker, worker_count);
    const auto transmit = static_cast<uint16_t>(first % transmit_queue_count_);
    queues_.emplace_back(PortQueue::Config{
        .port = id_,
        .receive = {.first = first, .stride = worker_count, .count = receive_queue_count_},
        .transmit = transmit,
        .transmit_lock = locks[transmit],
        .pool = pool_});
  }
}

uint16_t Port::first_queue(size_t worker, uint16_t worker_count) const {
  return static_cast<uint16_t>((worker + worker_count - id_ % worker_count) % worker_count);
}

// Each entry of the device's table names the queue of the worker that it stands for. A device
// without a table, or that keeps its own, spreads in its own way.
bool Port::set_rss_table(uint16_t worker_count) const {
  if (rss_entries_ == 0) return false;
  constexpr size_t kGroupSize = RTE_ETH_RETA_GROUP_SIZE;
  std::vector<rte_eth_rss_reta_entry64> table((rss_entries_ + kGroupSize - 1) / kGroupSize);
  for (size_t entry = 0; entry < rss_entries_; ++entry) {
    auto& group = table[entry / kGroupSize];
    const size_t place = entry % kGroupSize;
    group.mask |= uint64_t{1} << place;
    const uint16_t queue = first_queue(net::rss_worker(entry, worker_count), worker_count);
    group.reta[place] = static_cast<uint16_t>(queue % receive_queue_count_);
  }
  return rte_eth_dev_rss_reta_update(id_, table.data(), rss_entries_) == 0;
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
  // IPv6's neighbour discovery is multicast, to groups made of addresses. A device that
  // cannot be configured takes them all, or filters in its own way.
  if (const int code = rte_eth_allmulticast_enable(id_); code != 0 && code != -ENOTSUP)
    return failed("multicast frames cannot be enabled", code);
  const int code = promiscuous ? rte_eth_promiscuous_enable(id_) : rte_eth_promiscuous_disable(id_);
  if (code != 0 && code != -ENOTSUP) return failed("promiscuous mode cannot be set", code);
  return {};
}

void Port::discard_received() const {
  // As many as come while they are thrown away would be without end.
  constexpr size_t kBurstsMax = 4'096;
  std::array<rte_mbuf*, 32> buffers;
  for (uint16_t queue = 0; queue < receive_queue_count_; ++queue) {
    for (size_t burst = 0; burst < kBurstsMax; ++burst) {
      const uint16_t count = rte_eth_rx_burst(id_, queue, buffers.data(), buffers.size());
      if (count == 0) break;
      rte_pktmbuf_free_bulk(buffers.data(), count);
    }
  }
}

PortCounters Port::counters() const {
  PortCounters sum;
  for (const PortQueue& queue : queues_) {
    add_counters<PortCounters>(kPortCounters, queue.counters(), sum);
  }
  return sum;
}

bool Port::is_link_up() const {
  rte_eth_link link = {};
  return rte_eth_link_get_nowait(id_, &link) != 0 || link.link_status == RTE_ETH_LINK_UP;
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
