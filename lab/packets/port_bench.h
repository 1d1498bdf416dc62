// Ports whose packets come from memory, and network functions timed on them in turn.
//
// A port is DPDK's net_pcap with infinite_rx: it keeps the frames of a capture in buffers and hands
// out copies, one after the other, for ever; what is sent is dropped by the device. So a packet
// costs no system call. Of several workers each has a capture of its own at every port.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "lab/jobs/job.h"
#include "lab/packets/capture_files.h"
#include "lab/packets/packet_runner.h"
#include "roost/base/result.h"
#include "roost/io/buffer_pool.h"
#include "roost/io/clock.h"
#include "roost/io/eal.h"
#include "roost/io/port.h"
#include "roost/memory/arena.h"

namespace roost::lab {

// Pages for buffers and tables, by the names that records have.
extern const std::map<std::string, PageKind> kBenchPages;

class PortBench {
 public:
  struct Config {
    std::string experiment;
    PageKind pages = PageKind::kSmall;
    std::vector<int> cores;  // a worker each
    unsigned rounds = 1;
    uint64_t packets = 0;  // a pass, of each worker
    uint64_t seed = 1;
    size_t port_count = 1;
    uint64_t frames = 0;  // of all ports and workers
    size_t frame_bytes = 0;
  };
  // Writes a frame after the other, as many as there are; a port's and worker's file has the number
  // port * workers + worker.
  using WriteFrames = std::function<void(CaptureFiles& files)>;
  // What a row says beside what was timed.
  using Describe = std::function<void(RecordRow& row)>;

  PortBench(Config config, const Progress& progress)
      : config_(std::move(config)), progress_(progress) {}

  // Once, and first.
  [[nodiscard]] std::optional<Error> open(const WriteFrames& write);

  // `holders`: one a worker.
  template <class Holder>
  void add(std::string name, std::vector<std::unique_ptr<Holder>> holders) {
    runners_.push_back(std::make_unique<HolderRunner<Holder>>(std::move(name), std::move(holders),
                                                              ports_, *clock_));
  }
  [[nodiscard]] std::span<const std::unique_ptr<PacketRunner>> runners() const { return runners_; }
  // What is wrong with any of them; nothing if all is well.
  [[nodiscard]] std::optional<Error> wrong() const;

  // A pass of each, untimed.
  void warm_up();
  // Times all of them in each round, first on one worker, then on two, and so on.
  [[nodiscard]] Rows time_all(const Describe& describe);
  // Times one of them once, on so many workers.
  [[nodiscard]] RecordRow time_one(PacketRunner& runner, unsigned round, size_t workers);
  [[nodiscard]] unsigned rounds() const { return config_.rounds; }
  void say_round(unsigned round) const;

  [[nodiscard]] size_t worker_count() const { return config_.cores.size(); }
  [[nodiscard]] size_t port_count() const { return config_.port_count; }
  [[nodiscard]] Tick now() const { return clock_->now(); }

 private:
  [[nodiscard]] std::optional<Error> start_eal(std::span<const std::string> paths);
  [[nodiscard]] std::optional<Error> start_ports();
  [[nodiscard]] RecordRow row_of(const PacketRunner& runner, unsigned round,
                                 std::span<const PacketPass> passes) const;

  Config config_;
  const Progress& progress_;
  std::optional<io::Eal> eal_;
  std::optional<io::BufferPool> pool_;
  std::vector<io::Port> ports_;
  std::optional<io::TickClock> clock_;
  std::vector<std::unique_ptr<PacketRunner>> runners_;
};

}  // namespace roost::lab
