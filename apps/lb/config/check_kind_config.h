// What a service's `check` asks backends for: its `kind`, and the keys that this kind has.
#pragma once

#include <toml++/toml.h>

#include "roost/config/toml_table.h"
#include "roost/control/check_kind.h"

namespace roost::lb {

// `toml` is what `table` reads. Keys of other kinds are faults.
[[nodiscard]] control::CheckKind read_check_kind(const toml::table& toml, config::TomlTable& table);

}  // namespace roost::lb
