// A switch's program as P4-16 for the architecture v1model, and what fills its tables and
// registers, as commands of BMv2's simple_switch_CLI.
//
// NOT TESTED by a compiler or a switch: none is packaged. Statements are rendered one by one from
// the steps that run as an SWX pipeline; tests read the text by a grammar of their own, and run it.
#pragma once

#include <string>

#include "targets/switch/switch_program.h"
#include "targets/switch/switch_table.h"

namespace roost::targets {

[[nodiscard]] std::string p4_text(const SwitchProgram& program, const SwitchTable& table);
[[nodiscard]] std::string p4_commands(const SwitchProgram& program, const SwitchTable& table);

}  // namespace roost::targets
