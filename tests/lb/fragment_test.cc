// Fragments through the load balancer: in any order, both ways, put together again by their
// receiver; and those that nobody honest sends.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "tests/lb/frame_bytes.h"
#include "tests/lb/test_balancer.h"
#include "tests/lb/test_icmp.h"

namespace roost::lb {
namespace {

constexpr uint64_t kSeed = 20'261'121;

struct Family {
  std::string client, virtual_address, backend;
  size_t ip_header_bytes;

  [[nodiscard]] bool is_ipv6() const { return ip_header_bytes == 40; }
};
const Family kIpv4 = {"192.0.2.10", "198.51.100.53", "10.0.0.11", 20};
const Family kIpv6 = {"2001:db8:1::10", "2001:db8:ffff::53", "2001:db8:2::11", 40};

PacketSpec udp(const std::string& source, uint16_t source_port, const std::string& destination,
               uint16_t destination_port, size_t payload_bytes) {
  PacketSpec spec;
  spec.source = source;
  spec.source_port = source_port;
  spec.destination = destination;
  spec.destination_port = destination_port;
  spec.protocol = net::IpProtocol::kUdp;
  spec.may_be_cut = true;
  spec.payload.resize(payload_bytes);
  for (size_t i = 0; i < payload_bytes; ++i) spec.payload[i] = static_cast<char>(i * 7 + i / 251);
  return spec;
}

PacketSpec query(const Family& f, size_t bytes) {
  return udp(f.client, 40'000, f.virtual_address, 53, bytes);
}
PacketSpec answer(const Family& f, size_t bytes) {
  PacketSpec spec = udp(f.backend, 53, f.client, 40'000, bytes);
  spec.destination_mac = "02:00:00:00:00:02";
  spec.source_mac = "02:00:00:00:02:11";
  return spec;
}

// Bytes `begin` to `end` of what a whole, untagged frame carries behind its IP header, as a
// fragment.
Bytes fragment_of(const Family& f, const Bytes& whole, size_t begin, size_t end, uint16_t id) {
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
std::vector<Bytes> fragments_of(const Family& f, const PacketSpec& spec, uint16_t id,
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
Bytes reassemble(const Family& f, std::vector<Bytes> frames) {
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
std::vector<Bytes> pass(TestBalancer& balancer, const std::vector<Bytes>& frames, uint16_t in_port,
                        size_t batch) {
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

PacketSpec translated(PacketSpec spec, const Family& f, bool is_query) {
  --spec.ttl;
  (is_query ? spec.destination : spec.source) = is_query ? f.backend : f.virtual_address;
  spec.destination_mac = is_query ? "02:00:00:00:02:11" : "02:00:00:00:01:10";
  spec.source_mac = is_query ? "02:00:00:00:00:02" : "02:00:00:00:00:01";
  return spec;
}

class Fragments : public testing::TestWithParam<Family> {};

INSTANTIATE_TEST_SUITE_P(both, Fragments, testing::Values(kIpv4, kIpv6),
                         [](const auto& one) { return one.index == 0 ? "ipv4" : "ipv6"; });

TEST_P(Fragments, in_any_order_both_ways_are_the_translated_datagram) {
  const Family& f = GetParam();
  std::mt19937_64 random(kSeed);
  TestBalancer balancer;
  for (uint16_t id = 1; id <= 500; ++id) {
    for (const bool is_query : {true, false}) {
      const size_t bytes = 20 + random() % 3'000;
      const PacketSpec spec = is_query ? query(f, bytes) : answer(f, bytes);
      std::vector<Bytes> frames = fragments_of(f, spec, id, random);
      if (random() % 2 == 0) std::ranges::shuffle(frames, random);
      const auto left = pass(balancer, frames, is_query ? 0 : 1, 1 + random() % 32);
      ASSERT_EQ(left.size(), frames.size());
      EXPECT_EQ(reassemble(f, left), make_frame(translated(spec, f, is_query))) << id;
    }
  }
  const Report report = balancer.report();
  EXPECT_EQ(report.flows.made, 1U);
  EXPECT_GT(report.fragments.counters.waited, 500U);
  EXPECT_EQ(report.fragments.counters.waited, report.fragments.counters.released);
  EXPECT_EQ(report.fragments.dropped, 0U);
  EXPECT_EQ(broken_sums(report), std::vector<std::string>());
}

// What a router says of a fragment without ports names no connection, and is no attack: the first
// fragment of the same datagram did not fit either.
TEST_P(Fragments, without_ports_that_an_error_is_about_name_no_connection) {
  const Family& f = GetParam();
  TestBalancer balancer;
  ASSERT_EQ(balancer.send_from_client(query(f, 100)).cause, std::nullopt);
  const Bytes whole = make_frame(answer(f, 3'000));
  ASSERT_EQ(balancer.send({fragment_of(f, whole, 0, 1'400, 1), 1}).cause, std::nullopt);
  const Fate later = balancer.send({fragment_of(f, whole, 1'400, 2'800, 1), 1});
  ASSERT_EQ(later.cause, std::nullopt);
  const IcmpSpec too_big = {.source = f.is_ipv6() ? "2001:db8:1::99" : "192.0.2.11",
                            .destination = f.virtual_address,
                            .type = static_cast<uint8_t>(f.is_ipv6() ? 2 : 3),
                            .code = static_cast<uint8_t>(f.is_ipv6() ? 0 : 4),
                            .rest = 1'280};
  EXPECT_EQ(balancer.send({make_icmp_error(too_big, later.frame, 200)}).cause,
            DropCause::kIcmpNoFlow);
}

TEST_P(Fragments, that_overlap_pass_no_more) {
  const Family& f = GetParam();
  TestBalancer balancer;
  const Bytes whole = make_frame(query(f, 1'000));
  const auto cause = [&](size_t begin, size_t end, uint16_t id) {
    return balancer.send({fragment_of(f, whole, begin, end, id)}).cause;
  };
  EXPECT_EQ(cause(0, 400, 1), std::nullopt);
  EXPECT_EQ(cause(400, 800, 1), std::nullopt);
  EXPECT_EQ(cause(400, 800, 1), DropCause::kFragmentOverlap) << "the network repeated it";
  EXPECT_EQ(cause(800, 1'008, 1), std::nullopt) << "which harms nobody";
  EXPECT_EQ(cause(0, 400, 2), std::nullopt);
  EXPECT_EQ(cause(392, 800, 2), DropCause::kFragmentOverlap);
  EXPECT_EQ(cause(400, 1'008, 2), DropCause::kFragmentOverlap) << "RFC 5722: none of it";
  EXPECT_EQ(cause(0, 400, 3), std::nullopt);
  EXPECT_EQ(cause(800, 1'008, 3), std::nullopt);
  const Bytes longer = make_frame(query(f, 2'000));
  EXPECT_EQ(balancer.send({fragment_of(f, longer, 1'200, 1'600, 3)}).cause,
            DropCause::kFragmentOverlap)
      << "behind the end";
  EXPECT_EQ(broken_sums(balancer.report()), std::vector<std::string>());
}

TEST_P(Fragments, wait_in_bounds_and_not_for_ever) {
  const Family& f = GetParam();
  TestBalancer balancer;
  const Bytes whole = make_frame(query(f, 1'000));
  size_t waiting = 0;
  for (uint16_t id = 1; id <= 400; ++id) {
    const Fate fate = balancer.send({fragment_of(f, whole, 400, 800, id)});
    waiting += fate.is_consumed ? 1 : 0;
    if (!fate.is_consumed) {
      EXPECT_EQ(fate.cause, DropCause::kFragmentTableFull);
    }
  }
  EXPECT_EQ(waiting, 256U);
  EXPECT_EQ(broken_sums(balancer.report()), std::vector<std::string>());
  for (int tick = 0; tick < 3'000; ++tick) {
    ++balancer.now.count;
    balancer.idle();
  }
  const Report report = balancer.report();
  EXPECT_EQ(report.fragments.waiting, 0U);
  EXPECT_EQ(report.fragments.counters.expired, 256U);
  EXPECT_EQ(broken_sums(report), std::vector<std::string>());
  EXPECT_TRUE(balancer.send({fragment_of(f, whole, 400, 800, 1)}).is_consumed)
      << "places are given back";
}

// Otherwise 4,096 datagrams in 15 seconds would be the most that pass, and an identification that
// is used again would be taken for an overlap.
TEST_P(Fragments, of_a_whole_datagram_leave_nothing_behind) {
  const Family& f = GetParam();
  TestBalancer balancer;
  const Bytes whole = make_frame(query(f, 1'000));
  for (size_t i = 0; i < 10'000; ++i) {
    const auto id = static_cast<uint16_t>(i % 5'000);
    const bool is_first_early = i % 2 == 0;
    for (const size_t begin : {is_first_early ? 0U : 400U, is_first_early ? 400U : 0U}) {
      const Fate fate = balancer.send({fragment_of(
          f, whole, begin, begin == 0 ? 400U : whole.size() - 14 - f.ip_header_bytes, id)});
      ASSERT_EQ(fate.cause, std::nullopt) << i;
    }
  }
  const Report report = balancer.report();
  EXPECT_EQ(report.fragments.counters.followed, 5'000U);
  EXPECT_EQ(report.fragments.counters.released, 5'000U);
  EXPECT_EQ(report.fragments.waiting, 0U);
  EXPECT_EQ(broken_sums(report), std::vector<std::string>());
}

// Its backend has not been asked for yet: the first fragment waits for its MAC, and the others with
// it.
TEST_P(Fragments, wait_for_their_neighbour_too) {
  const Family& f = GetParam();
  TestBalancer balancer(test_config(
      "[[neighbour]]\naddress = \"" + f.backend + "\"\nmac = \"02:00:00:00:02:11\"\n", ""));
  const Bytes whole = make_frame(query(f, 1'000));
  EXPECT_TRUE(balancer.send({fragment_of(f, whole, 400, 800, 1)}).is_consumed);
  EXPECT_TRUE(balancer.send({fragment_of(f, whole, 0, 400, 1)}).is_consumed);
  EXPECT_TRUE(balancer.send({fragment_of(f, whole, 800, 1'008, 1)}).is_consumed);
  const Report report = balancer.report();
  EXPECT_EQ(report.fragments.counters.released, 1U);
  EXPECT_EQ(report.fragments.dropped, 0U);
  EXPECT_EQ(report.neighbours.waiting, 3U);
  EXPECT_EQ(broken_sums(report), std::vector<std::string>());
}

TEST_P(Fragments, of_a_datagram_that_nobody_wants_are_nobodys) {
  const Family& f = GetParam();
  TestBalancer balancer;
  PacketSpec spec = query(f, 1'000);
  spec.destination_port = 5'353;
  const Bytes whole = make_frame(spec);
  EXPECT_EQ(balancer.send({fragment_of(f, whole, 0, 400, 1)}).cause, DropCause::kNoService);
  EXPECT_EQ(balancer.send({fragment_of(f, whole, 400, 1'008, 1)}).cause, DropCause::kNoService);
  EXPECT_EQ(balancer.report().flows.made, 0U);
}

// Time may jump further than timers reach.
TEST_P(Fragments, survive_jumps_of_time) {
  const Family& f = GetParam();
  TestBalancer balancer;
  const Bytes whole = make_frame(query(f, 1'000));
  for (const uint64_t jump : {1'023U, 1'024U, 64'512U, 65'536U, 1'000'000U}) {
    EXPECT_TRUE(balancer.send({fragment_of(f, whole, 400, 800, 1)}).is_consumed);
    balancer.now.count += jump;
  }
  EXPECT_EQ(broken_sums(balancer.report()), std::vector<std::string>());
}

}  // namespace
}  // namespace roost::lb
