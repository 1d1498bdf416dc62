// Runs one batch with the kernel of one instruction set.
//
// The choice is made once a batch, never once a key. Each instruction set has one trampoline; its
// target and flatten attributes let the compiler inline the whole batch loop into it, so that no
// source file has to be compiled for an instruction set that some processors lack (its inline
// functions would reach them through the linker).
#pragma once

#include <type_traits>
#include <utility>

#include "roost/isa/avx2.h"
#include "roost/isa/isa.h"
#include "roost/isa/neon.h"
#include "roost/isa/scalar.h"
#include "roost/isa/sse42.h"

namespace roost {

// Batches that AVX2 makes faster say so; the others run by SSE4.2 where AVX2 is asked for, which
// saves their compilation.
template <class Batch>
concept GainsFromAvx2 = requires { requires std::remove_cvref_t<Batch>::kGainsFromAvx2; };

template <class Batch>
[[gnu::noinline, gnu::flatten]] auto run_scalar(Batch& batch) {
  return batch.template run<ScalarKernel>();
}

#if defined(__x86_64__)
template <class Batch>
[[gnu::noinline, gnu::target("sse4.2"), gnu::flatten]] auto run_sse42(Batch& batch) {
  return batch.template run<Sse42Kernel>();
}
template <class Batch>
[[gnu::noinline, gnu::target("avx2,bmi,bmi2"), gnu::flatten]] auto run_avx2(Batch& batch) {
  return batch.template run<Avx2Kernel>();
}
#endif

#if defined(__aarch64__)
template <class Batch>
[[gnu::noinline, gnu::flatten]] auto run_neon(Batch& batch) {
  return batch.template run<NeonKernel>();
}
#endif

// Calls batch.run<K>() with the kernel K of `isa`, which must be supported here.
template <class Batch>
auto dispatch([[maybe_unused]] Isa isa, Batch&& batch) {
#if defined(__x86_64__)
  if constexpr (GainsFromAvx2<Batch>) {
    if (isa == Isa::kAvx2) return run_avx2(batch);
  }
  if (isa == Isa::kSse42 || isa == Isa::kAvx2) return run_sse42(batch);
#endif
#if defined(__aarch64__)
  if (isa == Isa::kNeon) return run_neon(batch);
#endif
  return run_scalar(batch);
}

}  // namespace roost
