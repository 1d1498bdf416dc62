// A network function under measurement: on every worker one of it, each on its own core.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "roost/base/result.h"
#include "roost/io/clock.h"
#include "roost/io/port.h"
#include "roost/node/worker_loop.h"

namespace roost::lab {

// What a pass did, on one worker.
struct PacketPass {
  uint64_t packets = 0;
  double seconds = 0;
};

class PacketRunner {
 public:
  explicit PacketRunner(std::string name) : name_(std::move(name)) {}
  virtual ~PacketRunner() = default;
  PacketRunner(const PacketRunner&) = delete;
  PacketRunner& operator=(const PacketRunner&) = delete;

  [[nodiscard]] const std::string& name() const { return name_; }
  // Moves at least so many packets. `busy` is how many workers are at work on their own; one goes
  // on until all of them are done, so that each is timed while the others are at work.
  virtual PacketPass run(size_t worker, uint64_t packets, std::atomic<size_t>& busy) = 0;
  // What is wrong with a worker after passes; nothing if all is well.
  [[nodiscard]] virtual std::optional<Error> wrong(size_t worker) = 0;
  [[nodiscard]] virtual uint64_t memory_bytes() const { return 0; }

 private:
  std::string name_;
};

// Each worker's function, and what is known of it, is a `Holder`. It forwards every packet; one
// with `kDropsAll` none.
template <class Holder>
class HolderRunner : public PacketRunner {
 public:
  HolderRunner(std::string name, std::vector<std::unique_ptr<Holder>> holders,
               std::span<io::Port> ports, const io::TickClock& clock)
      : PacketRunner(std::move(name)), holders_(std::move(holders)), clock_(clock) {
    for (size_t worker = 0; worker < holders_.size(); ++worker)
      workers_.push_back(std::make_unique<Worker>(holders_[worker]->function(), ports,
                                                  node::WorkerConfig{.worker = worker}));
  }

  PacketPass run(size_t worker, uint64_t packets, std::atomic<size_t>& busy) override {
    Worker& loop = *workers_[worker];
    const uint64_t first = loop.counters().packets;
    const uint64_t began = io::read_cycles();
    PacketPass pass;
    const auto is_over = [&] {
      if (pass.packets == 0) {
        const uint64_t moved = loop.counters().packets - first;
        if (moved < packets) return false;
        pass = {moved, static_cast<double>(io::read_cycles() - began) /
                           static_cast<double>(io::cycles_per_second())};
        busy.fetch_sub(1);
      }
      return busy.load(std::memory_order_relaxed) == 0;
    };
    loop.run_live(clock_, is_over, [](const node::WorkerCounters&) {});
    return pass;
  }

  std::optional<Error> wrong(size_t worker) override {
    const node::WorkerCounters& counters = workers_[worker]->counters();
    const uint64_t lost = counters.consumed + counters.drops.sum();
    if constexpr (requires { Holder::kDropsAll; }) {
      if (lost != counters.packets) {
        return Error{std::to_string(counters.packets - lost) + " of " +
                     std::to_string(counters.packets) + " packets were not dropped"};
      }
    } else if (lost != 0) {
      return Error{std::to_string(lost) + " of " + std::to_string(counters.packets) +
                   " packets were not forwarded"};
    }
    return holders_[worker]->wrong();
  }

  [[nodiscard]] uint64_t memory_bytes() const override {
    uint64_t bytes = 0;
    for (const auto& holder : holders_) bytes += holder->memory_bytes();
    return bytes;
  }

 private:
  using Worker = node::Worker<typename Holder::Function>;

  std::vector<std::unique_ptr<Holder>> holders_;
  std::vector<std::unique_ptr<Worker>> workers_;
  const io::TickClock& clock_;
};

}  // namespace roost::lab
