// The program's exit statuses: an interface for scripts, listed in README.md.
#pragma once

namespace roost::program {

inline constexpr int kExitOk = 0;
inline constexpr int kExitBrokenSums = 1;   // the run ended, and its numbers do not add up
inline constexpr int kExitUsage = 2;        // the command line
inline constexpr int kExitBadConfig = 3;    // the configuration was refused
inline constexpr int kExitCannotStart = 4;  // captures, DPDK, ports, memory
inline constexpr int kExitNoVerdict = 5;    // the traffic generator was late too often

}  // namespace roost::program
