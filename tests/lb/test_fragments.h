// Fragments for the load balancer's tests: datagrams cut at random, sent, and put together again by
// their receiver.
#pragma once

#include <algorithm>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "tests/lb/frame_bytes.h"
#include "tests/lb/test_balancer.h"

namespace roost::lb {

inline constexpr uint64_t kSeed = 20'261'121;

struct FragmentFamily {
  std::string client, virtual_address, backend;
  size_t ip_header_bytes;

  [[nodiscard]] bool is_ipv6() const { return ip_header_bytes == 40; }
};
inline const FragmentFamily kFragments4 = {"192.0.2.10", "198.51.100.53", "10.0.0.11", 20};
inline const FragmentFamily kFragments6 = {"2001:db8:1::10", "2001:db8:ffff::53", "2001:db8:2::11",
                                           40};

// The datagram with so much in it, no two parts alike, which may be cut.
inline PacketSpec filled(PacketSpec spec, size_t payload_bytes) {
  spec.may_be_cut = true;
  spec.payload.resize(payload_bytes);
  for (size_t i = 0; i < payload_bytes; ++i) spec.payload[i] = static_cast<char>(i * 7 + i / 251);
  return spec;
}

inline PacketSpec query(const FragmentFamily& f, size_t bytes) {
  return filled(udp(f.client, 40'000, f.virtual_address, 53), bytes);
}
inline PacketSpec answer(const FragmentFamily& f, size_t bytes) {
  PacketSpec spec = filled(udp(f.backend, 53, f.client, 40'000), bytes);
  spec.destination_mac = "02:00:00:00:00:02";
  spec.source_mac = "02:00:00:00:02:11";
  return spec;
}

// Bytes `begin` to `end` of what a whole, untagged frame carries behind its IP header, as a
// fragment.
inline Bytes fragment_of(const FragmentFamily& f, const Bytes& whole, size_t begin, size_t end,
                         uint16_t id) {
  const size_t carried_at = 14 + f.ip_header_bytes;
  const bool is_last = end == whole.size() - carried_at;
  Bytes frame(whole.begin(), whole.begin() + static_cast<ptrdiff_t>(carried_at));
  if (f.is_ipv6()) {
    set16(frame, 18, 8 + end - begin);
    const uint8_t protocol = std::exchange(frame[20], uint8_t{44});
    const Bytes header = {protocol, 0, 0, 0, 0, 0, 0, 0};
    frame.insert(frame.end(), header.begin(), header.end());
    set16(frame, 56, begin | (is_last ? 0U : 1U));
    set16(frame, 60, id);
  } else {
    set16(frame, 16, 20 + end - begin);
    set16(frame, 18, id);
    set16(frame, 20, begin / 8 | (is_last ? 0U : 0x2000U));
    fix_ipv4_checksum(frame);
  }
  frame.insert(frame.end(), whole.begin() + static_cast<ptrdiff_t>(carried_at + begin),
               whole.begin() + static_cast<ptrdiff_t>(carried_at + end));
  return frame;
}

// Of 8 to 600 bytes each, the first of at least 8.
inline std::vector<Bytes> fragments_of(const FragmentFamily& f, const PacketSpec& spec, uint16_t id,
                                       std::mt19937_64& random) {
  const Bytes whole = make_frame(spec);
  const size_t all = whole.size() - 14 - f.ip_header_bytes;
  std::vector<Bytes> fragments;
  for (size_t begin = 0; begin < all;) {
    size_t end = std::min(all, begin + 8 * (1 + random() % 75));
    if (begin == 0 && end == all) end = 8;
    fragments.push_back(fragment_of(f, whole, begin, end, id));
    begin = end;
  }
  return fragments;
}

// What a receiver makes of frames, in any order: the whole frame, its IP header that of the first
// fragment made whole again; empty when something is missing or twice there.
inline Bytes reassemble(const FragmentFamily& f, std::vector<Bytes> frames) {
  const size_t header_end = 14 + f.ip_header_bytes + (f.is_ipv6() ? 8 : 0);
  const auto field = [&](const Bytes& frame) {
    const size_t at = f.is_ipv6() ? 56 : 20;
    return (size_t{frame[at]} << 8) | frame[at + 1];
  };
  const auto offset = [&](const Bytes& frame) {
    return f.is_ipv6() ? field(frame) & 0xfff8 : 8 * (field(frame) & 0x1fff);
  };
  std::ranges::sort(frames, {}, offset);
  Bytes carried;
  for (const Bytes& frame : frames) {
    if (offset(frame) != carried.size()) return {};
    carried.insert(carried.end(), frame.begin() + static_cast<ptrdiff_t>(header_end), frame.end());
  }
  if (frames.empty() || (field(frames.back()) & (f.is_ipv6() ? 1U : 0x2000U)) != 0) return {};
  Bytes whole(frames[0].begin(),
              frames[0].begin() + static_cast<ptrdiff_t>(14 + f.ip_header_bytes));
  if (f.is_ipv6()) {
    set16(whole, 18, carried.size());
    whole[20] = 17;
  } else {
    set16(whole, 16, 20 + carried.size());
    set16(whole, 18, 0x1234);
    set16(whole, 20, 0);
    fix_ipv4_checksum(whole);
  }
  whole.insert(whole.end(), carried.begin(), carried.end());
  return whole;
}

// Everything that leaves after these arrivals, in batches of up to `batch` frames.
inline std::vector<Bytes> pass(TestBalancer& balancer, const std::vector<Bytes>& frames,
                               uint16_t in_port, size_t batch) {
  std::vector<Bytes> left;
  balancer.originated.clear();
  for (size_t at = 0; at < frames.size(); at += batch) {
    std::vector<Arrival> arrivals;
    for (size_t i = at; i < std::min(frames.size(), at + batch); ++i) {
      arrivals.push_back({frames[i], in_port, 128, {}});
    }
    for (const Fate& fate : balancer.send_batch(arrivals)) {
      if (!fate.cause && !fate.is_consumed) left.push_back(fate.frame);
    }
  }
  for (const Fate& fate : balancer.originated) left.push_back(fate.frame);
  return left;
}

inline PacketSpec translated(PacketSpec spec, const FragmentFamily& f, bool is_query) {
  --spec.ttl;
  (is_query ? spec.destination : spec.source) = is_query ? f.backend : f.virtual_address;
  spec.destination_mac = is_query ? "02:00:00:00:02:11" : "02:00:00:00:01:10";
  spec.source_mac = is_query ? "02:00:00:00:00:02" : "02:00:00:00:00:01";
  return spec;
}

}  // namespace roost::lb
