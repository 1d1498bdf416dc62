// DPDK, a buffer pool and started ports for one test. EAL starts once a process, so ctest runs each
// test of a program that includes this in its own process.
#pragma once

#include <gtest/gtest.h>
#include <sched.h>

#include <memory>
#include <string>
#include <vector>

#include "roost/io/buffer_pool.h"
#include "roost/io/capture_merge.h"
#include "roost/io/eal.h"
#include "roost/io/packet_burst.h"
#include "roost/io/port.h"

namespace roost::io {

// Two lcores on the first processors of this process; both on one if there is no other.
inline std::string two_lcores() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  sched_getaffinity(0, sizeof allowed, &allowed);
  std::vector<size_t> processors;
  for (size_t processor = 0; processor < CPU_SETSIZE; ++processor) {
    if (CPU_ISSET(processor, &allowed)) processors.push_back(processor);
  }
  return "--lcores=0@" + std::to_string(processors.front()) + ",1@" +
         std::to_string(processors.size() > 1 ? processors[1] : processors.front());
}

inline std::vector<std::string> eal_arguments(const std::vector<std::string>& devices) {
  std::vector<std::string> arguments = {"--no-huge", "--no-pci", "--no-telemetry"};
  for (const std::string& device : devices) arguments.push_back("--vdev=" + device);
  return arguments;
}

inline constexpr uint64_t kRingRoom =
    1023;  // packets that a net_ring device takes before it refuses

// Order of declaration is order of life.
class PortRun {
 public:
  explicit PortRun(const std::vector<std::string>& devices, const BufferPool::Config& pool = {},
                   uint16_t worker_count = 1)
      : eal_(start(devices, worker_count)), pool_(make_pool(pool)) {
    const uint16_t port_count = eal_.port_count();
    for (uint16_t id = 0; id < port_count; ++id) open(id, worker_count);
  }

  // A port that was made after DPDK started.
  void open(uint16_t id, uint16_t worker_count) {
    Result<Port> port = Port::create({.id = id, .worker_count = worker_count}, pool_);
    if (!port) ADD_FAILURE() << port.error().message << "; " << eal_.recent_log();
    ports_.push_back(std::move(port).value());
  }

  [[nodiscard]] std::vector<Port>& ports() { return ports_; }
  [[nodiscard]] const BufferPool& pool() const { return pool_; }

  // Ports 0, 1, ... replay as many packets as given here.
  CaptureMerge merge(const std::vector<uint64_t>& packet_counts, uint64_t tick_microseconds) {
    std::vector<CaptureMerge::Source> sources;
    for (size_t i = 0; i < packet_counts.size(); ++i)
      sources.push_back({&ports_[i], packet_counts[i]});
    return CaptureMerge::create(sources, tick_microseconds).value();
  }

  // Stops and closes the ports: what they wrote is complete, and all buffers are in the pool again.
  void close_ports() { ports_.clear(); }

 private:
  static Eal start(const std::vector<std::string>& devices, uint16_t worker_count) {
    std::vector<std::string> arguments = eal_arguments(devices);
    if (worker_count == 2) arguments.push_back(two_lcores());
    Result<Eal> eal = Eal::start(arguments);
    if (!eal) ADD_FAILURE() << eal.error().message;
    return std::move(eal).value();
  }
  static BufferPool make_pool(const BufferPool::Config& config) {
    Result<BufferPool> pool = BufferPool::create(config);
    if (!pool) ADD_FAILURE() << pool.error().message;
    return std::move(pool).value();
  }

  Eal eal_;
  BufferPool pool_;
  std::vector<Port> ports_;
};

// Every lane leaves by `out_port`.
inline void forward_all(PacketBurst& burst, Port& out_port) {
  for (net::LaneVerdict& verdict : burst.batch().verdicts()) {
    verdict = net::LaneVerdict::forward(out_port.id());
  }
  out_port.queue().transmit(burst);
  burst.clear();
}

}  // namespace roost::io
