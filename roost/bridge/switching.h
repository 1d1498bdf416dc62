// What a switch does with frames: it learns from their sources where stations are, and sends them
// by what it knows.
//
// A batch is three steps: the headers of its frames, one lookup of all sources and destinations,
// and a verdict for each. Between the last two, stations that are new here are learned, so that a
// frame is forwarded by what was known before the batch. The lookup is started with the headers and
// may be finished later.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "roost/bridge/fdb.h"
#include "roost/bridge/frame_path.h"
#include "roost/bridge/learner.h"
#include "roost/expiry/tick.h"
#include "roost/net/packet_batch.h"

namespace roost::bridge {

// A worker's.
class Switching {
 public:
  // Database and rates must outlive it.
  Switching(std::shared_ptr<const SwitchRules> rules, Fdb& fdb, FloodRates& rates, size_t worker,
            size_t worker_count)
      : path_(std::move(rules), rates), learner_(fdb, worker, worker_count) {}

  // See FramePath.
  void exchange(std::shared_ptr<const SwitchRules>& rules) { path_.exchange(rules); }

  // What is kept of a batch whose lookup was started. It must stay where it is.
  struct Started {
    Frames frames;
    Learner::Flight flight;
  };

  // Reads the headers of a batch, and asks for the stations' lines.
  void start(net::PacketBatch& batch, Started& started) const {
    started.frames.count = 0;
    path_.read(batch, started.frames);
    started.flight = learner_.start(started.frames.all_keys());
  }
  // Decides every lane of it.
  void finish(net::PacketBatch& batch, Started& started, Tick now) {
    Frames& frames = started.frames;
    learner_.advance(now);
    if (frames.count == 0) return;
    learner_.look_up(started.flight, frames.values, frames.hits);
    const uint32_t not_learned = learner_.learn({.keys = frames.all_keys().first(frames.count),
                                                 .ports = frames.ports,
                                                 .values = frames.values,
                                                 .hits = frames.hits},
                                                now);
    path_.decide(batch, frames, not_learned, learner_.sixteenth(), now);
  }
  // Both at once.
  void process(net::PacketBatch& batch, Tick now) {
    Started started;
    start(batch, started);
    finish(batch, started, now);
  }
  void idle(Tick now, uint64_t bucket_budget) { learner_.reclaim(now, bucket_budget); }

  [[nodiscard]] const SwitchRules& rules() const { return path_.rules(); }
  [[nodiscard]] const SwitchCounters& counters() const { return path_.counters(); }
  [[nodiscard]] const LearnCounters& learn_counters() const { return learner_.counters(); }

 private:
  FramePath path_;
  Learner learner_;
};

}  // namespace roost::bridge
