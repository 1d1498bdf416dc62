// The bytes of the simulated machine's memory: regions of bytes that were put at addresses. Where
// no region is, zeroes are read and nothing is written.
//
// The bytes are those that a core or an accelerator would get now, caches included: whoever has the
// right to a line reads and writes here (docs/decisions/0052). One thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "roost/base/result.h"

namespace roost::sim {

inline constexpr uint64_t kLineBytes = 64;

// An address without its place in the line.
[[nodiscard]] constexpr uint64_t line_of(uint64_t address) { return address / kLineBytes; }
[[nodiscard]] constexpr uint64_t address_of(uint64_t line) { return line * kLineBytes; }

using LineBytes = std::array<std::byte, kLineBytes>;

class SimulatedMemory {
 public:
  // Puts bytes at an address that is a multiple of 64, as a copy or as zeroes. Errors: it is not;
  // something is there already; beyond 2^52.
  [[nodiscard]] Result<std::span<std::byte>> put(uint64_t address,
                                                 std::span<const std::byte> bytes);
  [[nodiscard]] Result<std::span<std::byte>> put_zeroes(uint64_t address, uint64_t bytes);

  void read(uint64_t address, std::span<std::byte> to) const;
  void write(uint64_t address, std::span<const std::byte> from);
  [[nodiscard]] LineBytes read_line(uint64_t line) const {
    LineBytes bytes;
    read(address_of(line), bytes);
    return bytes;
  }
  [[nodiscard]] uint64_t read_word(uint64_t address) const {
    uint64_t word = 0;
    std::array<std::byte, sizeof(word)> bytes;
    read(address, bytes);
    std::memcpy(&word, bytes.data(), sizeof(word));
    return word;
  }
  void write_word(uint64_t address, uint64_t word) {
    write(address, std::as_bytes(std::span<const uint64_t, 1>(&word, 1)));
  }

  // How many bytes were read or written where nothing is.
  [[nodiscard]] uint64_t bytes_outside() const { return bytes_outside_; }

 private:
  struct Region {
    uint64_t address;
    std::vector<std::byte> bytes;
    [[nodiscard]] bool holds(uint64_t at) const {
      return at >= address && at - address < bytes.size();
    }
  };
  // Calls use(bytes of a region, offset in the request) for each part that is in a region.
  template <class Use>
  void for_each_part(uint64_t address, uint64_t bytes, Use&& use) const;
  [[nodiscard]] const Region* region_at(uint64_t address) const;

  std::vector<Region> regions_;  // in the order of their addresses
  mutable size_t last_ = 0;      // the region that was found last
  mutable uint64_t bytes_outside_ = 0;
};

}  // namespace roost::sim
