// Where a worker's time goes: cycles of the processor by stage, of batches that held a packet.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

namespace roost::node {

struct StageCycles {
  uint64_t receive = 0;   // getting the batch, from a port or from other workers
  uint64_t process = 0;   // the function decides it
  uint64_t transmit = 0;  // sending it and handing it off, and what the function sends itself
  uint64_t upkeep = 0;    // what the function does besides, a bounded piece a turn

  StageCycles& operator+=(const StageCycles& other);
};

// The stages in their order, with the names that reports give them.
inline constexpr std::array<std::pair<std::string_view, uint64_t StageCycles::*>, 4> kStages = {
    {{"receive", &StageCycles::receive},
     {"process", &StageCycles::process},
     {"transmit", &StageCycles::transmit},
     {"upkeep", &StageCycles::upkeep}}};

inline StageCycles& StageCycles::operator+=(const StageCycles& other) {
  for (const auto& [name, stage] : kStages) this->*stage += other.*stage;
  return *this;
}

}  // namespace roost::node
