// Numbers of a few addresses, for functions that ask of nearly every packet whether its ends are
// among them: mostly they are not, and one access says so.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "roost/net/address.h"

namespace roost::net {

// Does not change; any thread may ask. The addresses are the operator's: who sends packets cannot
// choose them, and so cannot make an answer slow.
template <class Address>
class AddressNumbers {
 public:
  using Numbered = std::pair<Address, uint16_t>;

  AddressNumbers() : AddressNumbers(std::span<const Numbered>()) {}
  // Of an address that is there more than once the first one counts.
  explicit AddressNumbers(std::span<const Numbered> numbered)
      : slots_(std::bit_ceil(4 * numbered.size() + 2)),
        shift_(64 - std::countr_zero(slots_.size())) {
    for (const auto& [address, number] : numbered) {
      Slot& slot = slots_[place_of(address)];
      if (!slot.is_taken) slot = {address, true, number};
    }
  }

  // Nothing if it is none of them.
  [[nodiscard]] std::optional<uint16_t> find(const Address& address) const {
    const Slot& slot = slots_[place_of(address)];
    if (!slot.is_taken) return {};
    return slot.number;
  }

 private:
  struct Slot {
    Address address{};
    bool is_taken = false;
    uint16_t number = 0;
  };

  // Of the address, or of the free slot where its search ends: at once, mostly, as few slots
  // are taken.
  [[nodiscard]] size_t place_of(const Address& address) const {
    size_t place = hash(address) >> shift_;
    while (slots_[place].is_taken && slots_[place].address != address)
      place = (place + 1) & (slots_.size() - 1);
    return place;
  }
  static uint64_t hash(const Address& address) {
    constexpr uint64_t kGoldenRatio = 0x9E3779B97F4A7C15U;
    const auto bytes = std::bit_cast<std::array<std::byte, sizeof(Address)>>(address);
    std::array<uint64_t, 2> words{};
    std::memcpy(words.data(), bytes.data(), std::min(sizeof words, bytes.size()));
    return (words[0] * kGoldenRatio ^ words[1]) * kGoldenRatio;
  }

  std::vector<Slot> slots_;
  int shift_;
};

}  // namespace roost::net
