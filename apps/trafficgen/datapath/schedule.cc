#include "apps/trafficgen/datapath/schedule.h"

#include <algorithm>

namespace roost::trafficgen {

Result<Schedule> Schedule::create(const traffic::ConnectionStream::Config& stream,
                                  std::span<const StepConfig> steps) {
  auto made = traffic::ConnectionStream::create(stream);
  if (!made) return made.error();
  Schedule schedule(std::move(made).value());
  while (schedule.made_ < kReady && !schedule.stream_.is_over()) schedule.make_ahead();
  for (const StepConfig& step : steps)
    schedule.add_step(step, schedule.steps_.empty() ? 0 : schedule.steps_.back().end);
  return schedule;
}

void Schedule::add_step(const StepConfig& step, uint64_t begin) {
  Step added{.begin = begin,
             .end = begin + static_cast<uint64_t>(step.seconds * 1e9),
             .next = static_cast<double>(begin),
             .burst = static_cast<uint64_t>(step.burst_microseconds * 1e3)};
  if (step.packets_per_second) added.distance = 1e9 / *step.packets_per_second;
  steps_.push_back(added);
}

void Schedule::make_ahead(uint64_t connections) {
  const size_t place = made_ % kReady;
  const size_t room = std::min(kReady - (made_ - taken_), kReady - place);
  made_ += stream_.next(std::span(packets_).subspan(place, room), connections);
}

const traffic::StreamPacket* Schedule::stream_packet() {
  while (taken_ == made_) {
    if (stream_.is_over()) return nullptr;
    make_ahead(kConnectionsAPiece);
  }
  return &at(taken_);
}

std::optional<uint64_t> Schedule::due_in(Step& step, const traffic::StreamPacket& packet) {
  uint64_t due = 0;
  if (step.distance > 0) {
    due = static_cast<uint64_t>(step.next);
  } else {
    if (!stream_begin_) stream_begin_ = packet.nanoseconds;
    due = step.begin + (packet.nanoseconds - *stream_begin_);
  }
  if (due >= step.end) return {};
  step.next += step.distance;
  return step.burst == 0 ? due : due - (due - step.begin) % step.burst;
}

bool Schedule::prepare() {
  while (step_ < steps_.size()) {
    const traffic::StreamPacket* packet = stream_packet();
    if (packet == nullptr) {
      ended_early_ = true;
      return false;
    }
    if (const auto due = due_in(steps_[step_], *packet)) {
      next_ = {*due, step_, *packet};
      has_next_ = true;
      ++taken_;
      return true;
    }
    ++step_;
    stream_begin_.reset();
  }
  return false;
}

}  // namespace roost::trafficgen
