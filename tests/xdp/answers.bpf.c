// Asks the program's own lookup for many keys in one call, and tells the values, which no packet
// shows.
#include "targets/xdp/line_map_lookup.bpf.h"

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(map_flags, BPF_F_MMAPABLE);
  __uint(max_entries, 1);
  __type(key, uint32_t);
  __type(value, uint64_t);
} keys SEC(".maps");

// The value; what was found above it.
struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(map_flags, BPF_F_MMAPABLE);
  __uint(max_entries, 1);
  __type(key, uint32_t);
  __type(value, uint64_t);
} answers SEC(".maps");

static long answer_one(uint32_t index, void* context) {
  (void)context;
  const uint64_t* const key = bpf_map_lookup_elem(&keys, &index);
  uint64_t* const answer = bpf_map_lookup_elem(&answers, &index);
  if (!key || !answer) return 1;
  uint32_t value = 0;
  const enum Found found = find_value(*key, &value);
  *answer = (uint64_t)found << 32 | value;
  return 0;
}

struct Asked {
  uint32_t count;
};

SEC("syscall")
int answer_all(struct Asked* asked) { return (int)bpf_loop(asked->count, answer_one, 0, 0); }

// A program of somebody else's.
SEC("xdp")
int passes_all(struct xdp_md* context) {
  (void)context;
  return XDP_PASS;
}

char terms[] SEC("license") = "Apache-2.0";
