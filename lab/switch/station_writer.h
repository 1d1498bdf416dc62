// A thread that enters and erases stations of a switch at a steady rate: those from a number on,
// which no frame is for, each entered once and erased some hundred changes later.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>

namespace roost::lab {

class StationWriter {
 public:
  struct Target {
    std::function<void(uint64_t station)> add;
    std::function<void(uint64_t station)> erase;
    uint64_t first_station = 0;
    uint64_t updates_per_second = 0;
  };
  static constexpr uint64_t kStations = 1'024;  // that it needs room for

  // Rests at first.
  explicit StationWriter(int core);
  ~StationWriter() { thread_.request_stop(); }
  StationWriter(const StationWriter&) = delete;
  StationWriter& operator=(const StationWriter&) = delete;

  // From now on it changes this one, which must outlive it.
  void begin(Target target);
  // It rests; what it entered is erased. How many changes there were.
  uint64_t end();

 private:
  void run(int core, const std::stop_token& stop);
  void change_one();

  std::mutex mutex_;  // held while a burst of changes is under way
  std::optional<Target> target_;
  uint64_t entered_ = 0;
  uint64_t erased_ = 0;
  std::jthread thread_;  // last: it uses the others
};

}  // namespace roost::lab
