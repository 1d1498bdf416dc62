#include "lab/switch/station_writer.h"

#include <chrono>
#include <utility>

#include "lab/harness/pinned_core.h"

namespace roost::lab {

namespace {

constexpr uint64_t kBurst = 32;  // changes between two looks at the clock

}  // namespace

StationWriter::StationWriter(int core)
    : thread_([this, core](const std::stop_token& stop) { run(core, stop); }) {}

void StationWriter::begin(Target target) {
  const std::scoped_lock lock(mutex_);
  entered_ = 0;
  erased_ = 0;
  target_ = std::move(target);
}

uint64_t StationWriter::end() {
  const std::scoped_lock lock(mutex_);
  const uint64_t changes = entered_ + erased_;
  while (erased_ < entered_) target_->erase(target_->first_station + erased_++ % kStations);
  target_.reset();
  return changes;
}

void StationWriter::run(int core, const std::stop_token& stop) {
  using Time = std::chrono::steady_clock;
  static_cast<void>(pin_to_core(core));  // which was tried beforehand
  auto due = Time::now();
  while (!stop.stop_requested()) {
    std::unique_lock lock(mutex_);
    const uint64_t rate = target_ ? target_->updates_per_second : 0;
    if (rate == 0) {
      lock.unlock();
      std::this_thread::sleep_for(std::chrono::microseconds(50));
      due = Time::now();
    } else if (Time::now() < due) {
      lock.unlock();
      std::this_thread::yield();
    } else {
      for (uint64_t change = 0; change < kBurst; ++change) change_one();
      due += std::chrono::nanoseconds(1'000'000'000 * kBurst / rate);
    }
  }
}

void StationWriter::change_one() {
  if (entered_ - erased_ < kStations / 2) {
    target_->add(target_->first_station + entered_++ % kStations);
  } else {
    target_->erase(target_->first_station + erased_++ % kStations);
  }
}

}  // namespace roost::lab
