// Packet buffers taken from their pool and given back, and what a thread sanitizer cannot see of
// that, annotated for it.
//
// A buffer goes from thread to thread through DPDK's pools and devices, which order it by rings of
// their own; these are in libraries that are not instrumented. So code that gives a buffer to
// DPDK releases it here, and code that gets one acquires it. Without the sanitizer both are
// nothing.
//
// This takes DPDK on trust. What is ours to get wrong, a buffer that is touched after it was given
// away or before it is had, the sanitizer still sees. DPDK's inline functions are compiled here and
// seen; so buffers are freed by a function of the library, which may touch them after they are let
// go of.
#pragma once

#include <rte_mbuf.h>

#include <span>

namespace roost::io {

#ifdef __SANITIZE_THREAD__

extern "C" void __tsan_acquire(void* address);
extern "C" void __tsan_release(void* address);

inline void lets_go_of(rte_mbuf* buffer) {
  for (rte_mbuf* segment = buffer; segment != nullptr; segment = segment->next)
    __tsan_release(segment);
}
inline void takes_hold_of(rte_mbuf* buffer) {
  if (buffer == nullptr) return;
  __tsan_acquire(buffer);
  for (rte_mbuf* segment = buffer->next; segment != nullptr; segment = segment->next)
    __tsan_acquire(segment);
}

#else

inline void lets_go_of(rte_mbuf* /*buffer*/) {}
inline void takes_hold_of(rte_mbuf* /*buffer*/) {}

#endif

// A buffer of one segment, empty; nullptr when there is none.
inline rte_mbuf* allocate_buffer(rte_mempool* pool) {
  rte_mbuf* buffer = rte_mbuf_raw_alloc(pool);
  if (buffer == nullptr) return nullptr;
  takes_hold_of(buffer);
  rte_pktmbuf_reset(buffer);
  return buffer;
}

// Frees the buffers, whole chains; nullptr among them is nothing.
inline void free_buffers(std::span<rte_mbuf*> buffers) {
  for (rte_mbuf* buffer : buffers) lets_go_of(buffer);
  rte_pktmbuf_free_bulk(buffers.data(), static_cast<unsigned>(buffers.size()));
}
inline void free_buffer(rte_mbuf* buffer) { free_buffers(std::span(&buffer, 1)); }

}  // namespace roost::io
