// Tells the processor that a loop waits for another thread.
#pragma once

namespace roost {

inline void pause_processor() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace roost
