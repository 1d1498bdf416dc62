#include "lab/contestants/eal.h"

#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_version.h>

#include <utility>
#include <vector>

namespace roost::lab {

// No device is probed, no file is shared: the only thing wanted is DPDK's heap. EAL still makes a
// folder, in $RUNTIME_DIRECTORY if that is set.
Result<Eal> Eal::start(const Config& config) {
  std::vector<std::string> words = {"roost_lab",
                                    "--no-pci",
                                    "--no-telemetry",
                                    "--no-shconf",
                                    "--log-level=lib.eal:error",
                                    "--lcores",
                                    "0@" + std::to_string(config.core)};
  if (config.register_bits != 0)
    words.push_back("--force-max-simd-bitwidth=" + std::to_string(config.register_bits));
  if (config.pages == PageKind::kHuge2MiB) {
    words.emplace_back("--in-memory");
  } else {
    words.insert(words.end(), {"--no-huge", "-m", std::to_string((config.memory_bytes >> 20) + 1)});
  }
  std::vector<char*> arguments;
  arguments.reserve(words.size());
  for (std::string& word : words) arguments.push_back(word.data());
  if (rte_eal_init(static_cast<int>(arguments.size()), arguments.data()) < 0) {
    return Error{std::string("DPDK's environment does not start: ") + rte_strerror(rte_errno)};
  }
  return Eal();
}

Eal::Eal(Eal&& from) noexcept : is_running_(std::exchange(from.is_running_, false)) {}

Eal::~Eal() {
  if (is_running_) static_cast<void>(rte_eal_cleanup());
}

std::string Eal::version() { return rte_version(); }

}  // namespace roost::lab
