// Puts the VLAN tag 100 on what leaves an interface, and takes the tag off what arrives: for
// kernels without VLAN devices.
#include <linux/bpf.h>
#include <linux/pkt_cls.h>

enum { kTagProtocol = 0x8100, kIdentifier = 100 };

static long (*const vlan_push)(struct __sk_buff*, __be16, __u16) = (void*)BPF_FUNC_skb_vlan_push;
static long (*const vlan_pop)(struct __sk_buff*) = (void*)BPF_FUNC_skb_vlan_pop;

__attribute__((section("push"), used)) int push_tag(struct __sk_buff* skb) {
  return vlan_push(skb, __builtin_bswap16(kTagProtocol), kIdentifier) == 0 ? TC_ACT_OK
                                                                           : TC_ACT_SHOT;
}

__attribute__((section("pop"), used)) int pop_tag(struct __sk_buff* skb) {
  return vlan_pop(skb) == 0 ? TC_ACT_OK : TC_ACT_SHOT;
}

__attribute__((section("license"), used)) char terms[] = "GPL";
