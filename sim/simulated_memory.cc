#include "sim/simulated_memory.h"

#include <algorithm>
#include <string>
#include <utility>

namespace roost::sim {

namespace {

constexpr uint64_t kAddressEnd = uint64_t{1} << 52;

}  // namespace

Result<std::span<std::byte>> SimulatedMemory::put(uint64_t address,
                                                  std::span<const std::byte> bytes) {
  Result<std::span<std::byte>> place = put_zeroes(address, bytes.size());
  if (place) std::ranges::copy(bytes, place.value().begin());
  return place;
}

Result<std::span<std::byte>> SimulatedMemory::put_zeroes(uint64_t address, uint64_t bytes) {
  if (address % kLineBytes != 0 || address >= kAddressEnd || bytes > kAddressEnd - address) {
    return Error{"simulated memory has no " + std::to_string(bytes) + " bytes at address " +
                 std::to_string(address) + "; give a multiple of 64 below 2^52"};
  }
  const auto next = std::ranges::upper_bound(regions_, address, {}, &Region::address);
  const bool meets_next = next != regions_.end() && next->address - address < bytes;
  const bool meets_last = next != regions_.begin() && std::prev(next)->holds(address);
  if (meets_next || meets_last) {
    return Error{"address " + std::to_string(address) +
                 " of simulated memory is taken already; put every part at a place of its own"};
  }
  // Whole lines, so that no line is in two regions.
  const uint64_t whole = (bytes + kLineBytes - 1) / kLineBytes * kLineBytes;
  const auto at = regions_.insert(next, Region{address, std::vector<std::byte>(whole)});
  last_ = static_cast<size_t>(at - regions_.begin());
  return std::span<std::byte>(at->bytes);
}

const SimulatedMemory::Region* SimulatedMemory::region_at(uint64_t address) const {
  if (last_ < regions_.size() && regions_[last_].holds(address)) return &regions_[last_];
  auto next = std::ranges::upper_bound(regions_, address, {}, &Region::address);
  if (next == regions_.begin() || !std::prev(next)->holds(address)) return nullptr;
  --next;
  last_ = static_cast<size_t>(next - regions_.begin());
  return &*next;
}

template <class Use>
void SimulatedMemory::for_each_part(uint64_t address, uint64_t bytes, Use&& use) const {
  for (uint64_t offset = 0; offset < bytes;) {
    const uint64_t at = address + offset;
    const uint64_t in_line = std::min(bytes - offset, kLineBytes - at % kLineBytes);
    const Region* region = region_at(at);
    const uint64_t part =
        region == nullptr ? in_line
                          : std::min(bytes - offset, region->address + region->bytes.size() - at);
    if (region == nullptr) {
      bytes_outside_ += part;
    } else {
      use(*region, at - region->address, part, offset);
    }
    offset += part;
  }
}

void SimulatedMemory::read(uint64_t address, std::span<std::byte> to) const {
  const Region* region = region_at(address);
  if (region == nullptr || region->address + region->bytes.size() - address < to.size()) {
    std::ranges::fill(to, std::byte{0});
  }
  for_each_part(address, to.size(),
                [to](const Region& from, uint64_t at, uint64_t bytes, uint64_t offset) {
                  std::memcpy(to.data() + offset, from.bytes.data() + at, bytes);
                });
}

void SimulatedMemory::write(uint64_t address, std::span<const std::byte> from) {
  for_each_part(address, from.size(),
                [from](const Region& to, uint64_t at, uint64_t bytes, uint64_t offset) {
                  auto& region = const_cast<Region&>(to);
                  std::memcpy(region.bytes.data() + at, from.data() + offset, bytes);
                });
}

}  // namespace roost::sim
