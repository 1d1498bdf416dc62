// Which instruction sets the library has kernels for, and which of them this processor can run.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace roost {

// In rising order of preference on each architecture.
enum class Isa : uint8_t { kScalar, kSse42, kAvx2, kNeon };

// The name used in reports and on command lines: "scalar", "sse4.2", "avx2", "neon".
[[nodiscard]] std::string_view isa_name(Isa isa);

// Every instruction set this build has a kernel for, scalar first.
[[nodiscard]] std::span<const Isa> isas_built();

// Whether this build has the kernel and this processor can run it.
[[nodiscard]] bool isa_is_supported(Isa isa);

// The most preferred kernel that is supported here; at least scalar.
[[nodiscard]] Isa isa_best();

}  // namespace roost
