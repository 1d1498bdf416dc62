// The memory of the simulated machine: caches of cores, home slices, mesh and DRAM, and what
// travels between them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "roost/base/assert.h"
#include "sim/dram.h"
#include "sim/event_queue.h"
#include "sim/home_slice.h"
#include "sim/mesh.h"
#include "sim/parameters.h"
#include "sim/private_cache.h"
#include "sim/simulated_memory.h"

namespace roost::sim {

// What is under way, by numbers that are used again.
template <class T>
class InFlight {
 public:
  [[nodiscard]] uint32_t put(const T& thing) {
    if (free_.empty()) {
      things_.push_back(thing);
      return static_cast<uint32_t>(things_.size() - 1);
    }
    const uint32_t number = free_.back();
    free_.pop_back();
    things_[number] = thing;
    return number;
  }
  [[nodiscard]] T take(uint64_t number) {
    free_.push_back(static_cast<uint32_t>(number));
    return things_[number];
  }
  [[nodiscard]] T& operator[](uint64_t number) { return things_[number]; }
  [[nodiscard]] size_t size() const { return things_.size() - free_.size(); }

 private:
  std::vector<T> things_;
  std::vector<uint32_t> free_;
};

// What an accelerator's tile is to memory. Events that arrive there:
//   kReply       index: the read's identifier; argument: number of the line's bytes in flight
//   kInvalidate  index: 1 if the home waits for an answer; argument: the line
struct AcceleratorMessage {
  enum Kind : uint32_t { kReply = 100, kInvalidate };
};

class MemorySystem {
 public:
  // A snapshot that a core waits for: an event of this kind with its number as index.
  struct Snapshot {
    EventTarget* user;
    uint32_t kind;
    uint32_t tag;
    Tile core;
    uint64_t line;
    LineBytes bytes;
  };
  // A word that an accelerator writes.
  struct ResultInFlight {
    uint64_t address;
    uint64_t word;
  };

  // The parameters' geometry must be without faults.
  MemorySystem(EventQueue& events, const Parameters& parameters);
  MemorySystem(const MemorySystem&) = delete;
  MemorySystem& operator=(const MemorySystem&) = delete;
  ~MemorySystem() = default;

  [[nodiscard]] EventQueue& events() { return events_; }
  [[nodiscard]] Cycle now() const { return events_.now(); }
  [[nodiscard]] const Parameters& parameters() const { return parameters_; }
  [[nodiscard]] Mesh& mesh() { return mesh_; }
  [[nodiscard]] Dram& dram() { return dram_; }
  [[nodiscard]] SimulatedMemory& bytes() { return bytes_; }
  [[nodiscard]] PrivateCache& cache(Tile core) { return *caches_[core]; }
  [[nodiscard]] HomeSlice& home(Tile slice) { return *homes_[slice]; }
  [[nodiscard]] InFlight<Snapshot>& snapshots() { return snapshots_; }
  [[nodiscard]] InFlight<ResultInFlight>& results() { return results_; }
  [[nodiscard]] InFlight<LineBytes>& replies() { return replies_; }

  // The home of a line: the exclusive or of all parts of its number.
  [[nodiscard]] Tile slice_of(uint64_t line) const {
    uint64_t folded = 0;
    if (slice_bits_ == 0) return 0;
    for (; line != 0; line >>= slice_bits_) folded ^= line;
    return static_cast<Tile>(folded & (parameters_.tiles() - 1));
  }
  [[nodiscard]] HomeSlice& home_of(uint64_t line) { return home(slice_of(line)); }

  // Accelerators: each has a tile that gets the events above.
  void set_accelerator(Tile tile, EventTarget* target) { accelerators_[tile] = target; }
  // A message between an accelerator and a slice: without hops, if lines are local.
  [[nodiscard]] Cycle send_near(Cycle leaves, Tile from, Tile to);
  // Sends a request of an accelerator to a line's home.
  void ask_home(Tile accelerator, HomeSlice::Message message, uint32_t identifier, uint64_t line,
                Cycle leaves);
  void reply_to_accelerator(Tile slice, Tile accelerator, uint32_t identifier, uint64_t line,
                            Cycle leaves);
  // Takes a line of metadata from an accelerator, which answers; or at once, and it does not.
  void invalidate_metadata(Tile slice, Tile accelerator, uint64_t line, Cycle leaves);
  void take_metadata(Tile accelerator, uint64_t line);

  // The first broken invariant of home_slice.h, in words. Nothing may be under way.
  [[nodiscard]] std::optional<std::string> audit();

 private:
  EventQueue& events_;
  Parameters parameters_;
  uint32_t slice_bits_;
  SimulatedMemory bytes_;
  Mesh mesh_;
  Dram dram_;
  std::vector<std::unique_ptr<PrivateCache>> caches_;
  std::vector<std::unique_ptr<HomeSlice>> homes_;
  std::vector<EventTarget*> accelerators_;
  InFlight<Snapshot> snapshots_;
  InFlight<ResultInFlight> results_;
  InFlight<LineBytes> replies_;
};

}  // namespace roost::sim
