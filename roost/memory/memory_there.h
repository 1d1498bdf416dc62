// How much memory this machine could give to tables, as the kernel says.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>

namespace roost {

// Of text of the form of /proc/meminfo: what is available without swapping, and reserved huge pages
// that nobody has. Nothing when it does not say.
[[nodiscard]] std::optional<uint64_t> find_memory_there(std::istream& meminfo);

// The same of this machine, now.
[[nodiscard]] std::optional<uint64_t> read_memory_there();

}  // namespace roost
