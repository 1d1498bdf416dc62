// DPDK's environment for the contestants that live in its memory: started once a process, ended
// with it.
#pragma once

#include <cstdint>
#include <string>

#include "roost/base/result.h"
#include "roost/memory/arena.h"

namespace roost::lab {

class Eal {
 public:
  struct Config {
    int core;
    PageKind pages;         // 2 MiB: taken from the reserved ones as needed; small: a fixed heap on
                            // ordinary pages
    uint64_t memory_bytes;  // that heap's size
    unsigned register_bits = 0;  // of the widest that libraries may use; 0: as they are told
  };
  [[nodiscard]] static Result<Eal> start(const Config& config);

  Eal(Eal&& from) noexcept;
  Eal& operator=(Eal&&) = delete;
  Eal(const Eal&) = delete;
  Eal& operator=(const Eal&) = delete;
  ~Eal();

  // "DPDK 22.11.11", as the library says it.
  [[nodiscard]] static std::string version();

 private:
  Eal() = default;

  bool is_running_ = true;  // false once moved from
};

}  // namespace roost::lab
