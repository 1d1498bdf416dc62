#include "lab/jobs/update_writer.h"

#include <chrono>
#include <cstddef>

#include "lab/harness/pinned_core.h"

namespace roost::lab {
namespace {

constexpr uint64_t kBurst = 32;           // changes between two looks at the clock
constexpr uint64_t kStride = 0x9E3779B1;  // neighbours do not change one after another

}  // namespace

UpdateWriter::UpdateWriter(const Setting& setting)
    : setting_(setting), next_in_(setting.shape.passing / 2) {
  for (uint64_t index = 0; index < next_in_; ++index) {
    setting_.watched->begin(setting_.shape.staying + index);
    setting_.watched->end(setting_.shape.staying + index);
  }
  thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

void UpdateWriter::run(const std::stop_token& stop) {
  using Time = std::chrono::steady_clock;
  static_cast<void>(pin_to_core(setting_.core));  // which was tried beforehand
  const auto of_burst =
      std::chrono::nanoseconds(1'000'000'000 * kBurst / setting_.updates_per_second);
  auto due = Time::now();
  while (!stop.stop_requested()) {
    if (!is_at_work_.load(std::memory_order_acquire)) {
      std::this_thread::sleep_for(std::chrono::microseconds(50));
      due = Time::now();
    } else if (Time::now() < due) {
      std::this_thread::yield();
    } else {
      for (uint64_t change = 0; change < kBurst; ++change) change_one();
      due += of_burst;
      changes_.fetch_add(kBurst, std::memory_order_relaxed);
    }
  }
}

void UpdateWriter::change_one() {
  const UpdatedKeys& shape = setting_.shape;
  switch (turn_++ % 4) {
    case 0:
      erase(shape.staying + next_out_++ % shape.passing);
      break;
    case 1:
      insert(shape.staying + next_in_++ % shape.passing);
      break;
    default:
      give_value(next_value_++ * kStride % shape.staying);
  }
}

void UpdateWriter::give_value(uint64_t index) {
  const uint8_t generation = setting_.watched->begin(index);
  if (!setting_.table->put(setting_.keys.inserted(index), generation)) ++refusals_;
  setting_.watched->end(index);
}

void UpdateWriter::insert(uint64_t index) {
  setting_.watched->begin(index);
  if (!setting_.table->put(setting_.keys.inserted(index), 0)) {
    ++refusals_;
    setting_.watched->begin(index);  // it stays away
  }
  setting_.watched->end(index);
}

void UpdateWriter::erase(uint64_t index) {
  if (setting_.watched->changes(index) % 2 == 0) return;  // it had been refused
  setting_.watched->begin(index);
  if (!setting_.table->take_out(setting_.keys.inserted(index))) ++refusals_;
  setting_.watched->end(index);
}

}  // namespace roost::lab
