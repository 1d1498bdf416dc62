// A switch's program as DPDK's SWX pipeline has it: structs, registers, actions, tables and
// instructions in words. SwxPipeline registers them one by one; text() is the same as a
// specification file, as the program dpdk-pipeline of DPDK's sources reads it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "targets/switch/switch_program.h"
#include "targets/switch/switch_table.h"

namespace roost::targets {

struct SwxField {
  std::string name{};
  uint32_t bits = 0;
};
struct SwxStruct {
  std::string name{};
  std::vector<SwxField> fields{};
};
struct SwxRegister {
  Register which{};
  std::string name{};
  uint32_t size = 0;
};
struct SwxAction {
  std::string name{};
  std::string arguments{};  // the name of their struct, or nothing
  std::vector<std::string> instructions{};
};
struct SwxTable {
  Table which{};
  std::string name{};
  std::string key{};
  bool is_exact = false;  // else by mask
  std::string action{};   // of entries; kSwxKeep is that of no match
  uint32_t argument_bytes = 0;
  uint32_t size = 0;  // entries
};

// Does nothing.
inline constexpr const char* kSwxKeep = "keep";
inline constexpr const char* kSwxHeader = "ethernet";

struct SwxSpec {
  SwxStruct header{};
  SwxStruct metadata{};
  std::vector<SwxStruct> arguments{};
  std::vector<SwxRegister> registers{};
  std::vector<SwxAction> actions{};
  std::vector<SwxTable> tables{};
  std::vector<std::string> instructions{};

  static SwxSpec of(const SwitchProgram& program, const SwitchTable& table);

  [[nodiscard]] std::string text() const;
};

// A table's entries, a line each, as rte_swx_ctl_pipeline_table_entry_read() reads them.
[[nodiscard]] std::vector<std::string> swx_entries(const SwitchTable& table, Table which);

}  // namespace roost::targets
