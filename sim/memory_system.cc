#include "sim/memory_system.h"

#include <bit>

namespace roost::sim {

MemorySystem::MemorySystem(EventQueue& events, const Parameters& parameters)
    : events_(events),
      parameters_(parameters),
      slice_bits_(static_cast<uint32_t>(std::countr_zero(parameters.tiles()))),
      mesh_(parameters_),
      dram_(parameters_),
      accelerators_(parameters.tiles(), nullptr) {
  ROOST_ASSERT(geometry_faults(parameters).empty());
  for (Tile tile = 0; tile < parameters_.tiles(); ++tile) {
    caches_.push_back(std::make_unique<PrivateCache>(*this, tile));
    homes_.push_back(std::make_unique<HomeSlice>(*this, tile));
  }
}

Cycle MemorySystem::send_near(Cycle leaves, Tile from, Tile to) {
  return parameters_.lines == LinesChoice::kLocal ? leaves : mesh_.send(leaves, from, to);
}

void MemorySystem::ask_home(Tile accelerator, HomeSlice::Message message, uint32_t identifier,
                            uint64_t line, Cycle leaves) {
  const Tile slice = slice_of(line);
  const Cycle arrives = send_near(leaves, accelerator, slice);
  const bool is_read = message != HomeSlice::kDropMetadata;
  const uint32_t index =
      is_read ? HomeSlice::accelerator_read(accelerator, identifier) : accelerator;
  events_.at(arrives, {&home(slice), message, index, line});
}

void MemorySystem::reply_to_accelerator(Tile slice, Tile accelerator, uint32_t identifier,
                                        uint64_t line, Cycle leaves) {
  const uint32_t number = replies_.put(bytes_.read_line(line));
  events_.at(send_near(leaves, slice, accelerator),
             {accelerators_[accelerator], AcceleratorMessage::kReply, identifier, number});
}

void MemorySystem::invalidate_metadata(Tile slice, Tile accelerator, uint64_t line, Cycle leaves) {
  events_.at(mesh_.send(leaves, slice, accelerator),
             {accelerators_[accelerator], AcceleratorMessage::kInvalidate, 1, line});
}

void MemorySystem::take_metadata(Tile accelerator, uint64_t line) {
  events_.at(events_.now() + 1,
             {accelerators_[accelerator], AcceleratorMessage::kInvalidate, 0, line});
}

std::optional<std::string> MemorySystem::audit() {
  for (const auto& home : homes_) {
    if (auto wrong = home->audit()) return wrong;
  }
  return std::nullopt;
}

}  // namespace roost::sim
