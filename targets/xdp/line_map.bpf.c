// Sends frames where a line map says: the value of a frame's destination is the index of an action.
// See docs/decisions/0050-value-maps-elsewhere.md.
#include "targets/xdp/line_map_lookup.bpf.h"

// By value: what becomes of its packets. The loader says how many there are, here and of ports.
struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(max_entries, 1);
  __type(key, uint32_t);
  __type(value, uint32_t);
} roost_actions SEC(".maps");

// By value: the device to redirect to.
struct {
  __uint(type, BPF_MAP_TYPE_DEVMAP);
  __uint(max_entries, 1);
  __type(key, uint32_t);
  __type(value, uint32_t);
} roost_ports SEC(".maps");

// By verdict.
struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __uint(max_entries, kXdpVerdicts);
  __type(key, uint32_t);
  __type(value, uint64_t);
} roost_counts SEC(".maps");

static __always_inline int counted(uint32_t verdict, int code) {
  uint64_t* const count = bpf_map_lookup_elem(&roost_counts, &verdict);
  if (count) ++*count;
  return code;
}

static __always_inline uint64_t be16_at(const uint8_t* bytes) {
  return (uint64_t)bytes[0] << 8 | bytes[1];
}
static __always_inline uint64_t be32_at(const uint8_t* bytes) {
  return be16_at(bytes) << 16 | be16_at(bytes + 2);
}

// Whether the frame has the key. IPv4 may be behind one VLAN tag.
static __always_inline int read_key(const struct xdp_md* context, uint64_t* key) {
  const uint8_t* bytes = (const uint8_t*)(long)context->data;
  const uint8_t* const end = (const uint8_t*)(long)context->data_end;
  enum { kMacs = 12, kEthernet = 14, kTag = 4, kIpv4 = 20, kIpv4Destination = 16 };
  if (bytes + kEthernet > end) return 0;
  if (settings.key == kXdpDestinationMac) {
    *key = be16_at(bytes) << 32 | be32_at(bytes + 2);
    return 1;
  }
  uint64_t type = be16_at(bytes + kMacs);
  if (type == 0x8100 || type == 0x88a8) {
    bytes += kTag;
    if (bytes + kEthernet > end) return 0;
    type = be16_at(bytes + kMacs);
  }
  bytes += kEthernet;
  if (type != 0x0800 || bytes + kIpv4 > end || bytes[0] >> 4 != 4) return 0;
  *key = be32_at(bytes + kIpv4Destination);
  return 1;
}

// `verdict`: what a redirect is counted as; the other actions are counted as it, too, if it is not
// the key's value that they are of.
static __always_inline int act(uint32_t action, uint32_t port, uint32_t verdict) {
  const int is_value = verdict == kXdpRedirected;
  switch (action) {
    case kXdpRedirect:
      if (bpf_redirect_map(&roost_ports, port, XDP_DROP) != XDP_REDIRECT)
        return counted(kXdpPortGone, XDP_DROP);
      return counted(verdict, XDP_REDIRECT);
    case kXdpPass:
      return counted(is_value ? kXdpPassed : verdict, XDP_PASS);
    case kXdpSendBack:
      return counted(is_value ? kXdpSentBack : verdict, XDP_TX);
    default:
      return counted(is_value ? kXdpDropped : verdict, XDP_DROP);
  }
}

SEC("xdp")
int roost_line_map(struct xdp_md* context) {
  uint64_t key = 0;
  if (!read_key(context, &key)) return counted(kXdpForeign, XDP_PASS);
  uint32_t value = 0;
  const enum Found found = find_value(key, &value);
  if (found == kChanging) return counted(kXdpBusy, XDP_DROP);
  if (found == kCertainlyNot)
    return act(settings.stranger_action, settings.stranger_port, kXdpStranger);
  const uint32_t* const action = bpf_map_lookup_elem(&roost_actions, &value);
  if (!action || *action == kXdpUnassigned)
    return act(settings.unassigned_action, 0, kXdpValueUnassigned);
  return act(*action, value, kXdpRedirected);
}

char terms[] SEC("license") = "Apache-2.0";
