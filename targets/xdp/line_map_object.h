// The compiled program, as a file of ELF in memory; cmake/bpf_object.cmake makes its source.
#pragma once

#include <cstddef>
#include <span>

namespace roost::xdp {

[[nodiscard]] std::span<const std::byte> line_map_object();

}  // namespace roost::xdp
