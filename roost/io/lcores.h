// The cores that EAL was given, each with a thread pinned to it, and work on several of them.
//
// The main lcore, whose thread called Eal::start, is the first worker: it would else idle beside
// the others. What controls workers runs on threads of its own, which are pinned to none of these.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>

namespace roost::io {

// How many cores there are to work on: those of -l, -c or --lcores, else all of the process.
[[nodiscard]] size_t lcore_count();

// Whether EAL arguments say which cores to use.
[[nodiscard]] bool names_lcores(std::span<const std::string> eal_arguments);

// Runs work(0) on the calling thread, which must be the main lcore's, and work(1), work(2), ... on
// a core each; returns when all have returned. What they wrote is visible then. At most
// lcore_count() workers.
void run_on_lcores(size_t worker_count, const std::function<void(size_t)>& work);

}  // namespace roost::io
