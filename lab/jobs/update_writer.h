// A thread that changes a table at a steady rate while others look keys up: half of the changes are
// new values, a quarter insertions, a quarter erasures, so that the table's load stays.
//
// Of the keys by index, the first ones stay and get new values; the others come and go, and at any
// time about half of them are there.
#pragma once

#include <atomic>
#include <cstdint>
#include <thread>

#include "lab/harness/any_table.h"
#include "lab/jobs/watched_keys.h"
#include "roost/traffic/key_source.h"

namespace roost::lab {

struct UpdatedKeys {
  uint64_t staying;
  uint64_t passing;  // behind them, an even number; the first half is there at the start

  [[nodiscard]] uint64_t count() const { return staying + passing; }
};

class UpdateWriter {
 public:
  // The table holds the keys that stay and half of those that pass. All of it outlives this.
  struct Setting {
    AnyTable* table;
    WatchedKeys* watched;
    traffic::KeySource keys;
    UpdatedKeys shape;
    uint64_t updates_per_second;
    int core;
  };
  explicit UpdateWriter(const Setting& setting);
  ~UpdateWriter() { thread_.request_stop(); }
  UpdateWriter(const UpdateWriter&) = delete;
  UpdateWriter& operator=(const UpdateWriter&) = delete;

  // Rests at first. Neither waits for a change that is under way.
  void start() { is_at_work_.store(true, std::memory_order_release); }
  void rest() { is_at_work_.store(false, std::memory_order_release); }

  [[nodiscard]] uint64_t changes() const { return changes_.load(std::memory_order_relaxed); }
  [[nodiscard]] uint64_t refusals() const { return refusals_.load(std::memory_order_relaxed); }

 private:
  void run(const std::stop_token& stop);
  void change_one();
  void give_value(uint64_t index);
  void insert(uint64_t index);
  void erase(uint64_t index);

  Setting setting_;
  uint64_t turn_ = 0;
  uint64_t next_value_ = 0;
  uint64_t next_in_;
  uint64_t next_out_ = 0;
  std::atomic<bool> is_at_work_ = false;
  std::atomic<uint64_t> changes_ = 0;
  std::atomic<uint64_t> refusals_ = 0;
  std::jthread thread_;  // last: it uses the others
};

}  // namespace roost::lab
