// A Parrot image as files for switches: what `roost map export` writes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "roost/base/result.h"
#include "targets/switch/switch_program.h"
#include "targets/switch/switch_table.h"

namespace roost::targets {

struct ExportOptions {
  uint32_t stash_reads = kStashReadsMax;
  Answer answer = Answer::kPort;
  uint32_t port_count = 16;
};
struct ExportedFile {
  std::string name{};
  std::string text{};
};

// For DPDK's SWX pipeline: parrot.spec; ranges.txt and overflow.txt, entries of the tables;
// registers.cli, commands that write the registers, and commit.
// For P4-16: parrot.p4 and parrot.commands, of which no compiler and no switch has read a line.
// The report: tofino.txt, analytic.
// Errors: those of SwitchTable::of_image() and SwitchProgram::create().
[[nodiscard]] Result<std::vector<ExportedFile>> export_swx(std::span<const std::byte> image,
                                                           const ExportOptions& options);
[[nodiscard]] Result<std::vector<ExportedFile>> export_p4(std::span<const std::byte> image,
                                                          const ExportOptions& options);
[[nodiscard]] Result<std::vector<ExportedFile>> export_report(std::span<const std::byte> image,
                                                              const ExportOptions& options);

}  // namespace roost::targets
