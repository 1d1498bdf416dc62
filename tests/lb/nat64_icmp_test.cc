// IPv6 clients before IPv4 backends: ICMP errors of either side as the other one gets them, packets
// that are too big, and fragments.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "tests/lb/test_fragments.h"
#include "tests/lb/test_icmp.h"
#include "tests/lb/test_nat64.h"

namespace roost::lb {
namespace {

const std::string kRouter4 = "10.0.0.254";
const std::string kRouter6 = "2001:db8:1::99";

class Nat64Icmp : public testing::Test {
 protected:
  Nat64Icmp()
      : question_(client_sends_udp(std::string(300, 'q'))),
        asked_(balancer_.send_from_client(question_)),
        ends_(ends_of(asked_)),
        answer_(ipv4_answer(ends_, question_, std::string(300, 'a'))),
        answered_(balancer_.send_from_backend(answer_)) {}
  void TearDown() override { EXPECT_EQ(broken_sums(balancer_.report()), no_faults()); }

  // A router on the backends' side says this of the question.
  Fate of_question(uint8_t type, uint8_t code, uint32_t rest, size_t bytes) {
    return balancer_.send({make_icmp_error({.source_mac = "02:00:00:00:02:99",
                                            .destination_mac = "02:00:00:00:00:02",
                                            .source = kRouter4,
                                            .destination = ends_.source,
                                            .type = type,
                                            .code = code,
                                            .rest = rest},
                                           asked_.frame, bytes),
                           1,
                           128,
                           {}});
  }
  // What the client gets of it.
  Bytes told_client(uint8_t type, uint8_t code, uint32_t rest, size_t bytes) {
    PacketSpec about = question_;
    --about.ttl;
    return make_icmp_error({.source_mac = "02:00:00:00:00:01",
                            .destination_mac = "02:00:00:00:01:10",
                            .source = question_.destination,
                            .destination = question_.source,
                            .type = type,
                            .code = code,
                            .rest = rest,
                            .ttl = 63},
                           make_frame(about), bytes + 20);
  }
  // A router on the clients' side says this of the answer.
  Fate of_answer(uint8_t type, uint8_t code, uint32_t rest, size_t bytes) {
    return balancer_.send({make_icmp_error({.source = kRouter6,
                                            .destination = question_.destination,
                                            .type = type,
                                            .code = code,
                                            .rest = rest},
                                           answered_.frame, bytes),
                           0,
                           128,
                           {}});
  }
  // What the backend gets of it, the balancer's n-th packet that became one of IPv4.
  Bytes told_backend(uint8_t type, uint8_t code, uint32_t rest, size_t bytes, uint16_t n) {
    PacketSpec about = answer_;
    --about.ttl;
    about.may_be_cut = true;
    Bytes inner = make_frame(about);
    set16(inner, 18, 0);
    fix_ipv4_checksum(inner);
    Bytes frame = make_icmp_error({.source_mac = "02:00:00:00:00:02",
                                   .destination_mac = "02:00:00:00:02:11",
                                   .source = ends_.source,
                                   .destination = ends_.destination,
                                   .type = type,
                                   .code = code,
                                   .rest = rest,
                                   .ttl = 63},
                                  inner, bytes - 20);
    set16(frame, 18, n);
    fix_ipv4_checksum(frame);
    return frame;
  }

  TestBalancer balancer_{nat64_config()};
  PacketSpec question_;
  Fate asked_;
  Ends ends_;
  PacketSpec answer_;
  Fate answered_;
};

TEST_F(Nat64Icmp, errors_of_the_backends_side_reach_the_client_as_icmpv6) {
  for (const size_t bytes : {size_t{28}, size_t{31}, size_t{328}}) {
    EXPECT_EQ(of_question(3, 3, 0, bytes).frame, told_client(1, 4, 0, bytes)) << bytes;
    EXPECT_EQ(of_question(3, 1, 0, bytes).frame, told_client(1, 0, 0, bytes)) << bytes;
    EXPECT_EQ(of_question(3, 4, 1'400, bytes).frame, told_client(2, 0, 1'420, bytes)) << bytes;
    EXPECT_EQ(of_question(3, 4, 600, bytes).frame, told_client(2, 0, 1'280, bytes)) << bytes;
    EXPECT_EQ(of_question(11, 0, 0, bytes).frame, told_client(3, 0, 0, bytes)) << "traceroute";
  }
}

TEST_F(Nat64Icmp, errors_of_the_clients_side_reach_the_backend_as_icmp) {
  uint16_t n = 1;
  for (const size_t bytes : {size_t{48}, size_t{51}, size_t{348}}) {
    EXPECT_EQ(of_answer(1, 4, 0, bytes).frame, told_backend(3, 3, 0, bytes, n++)) << bytes;
    EXPECT_EQ(of_answer(1, 3, 0, bytes).frame, told_backend(3, 1, 0, bytes, n++)) << bytes;
    EXPECT_EQ(of_answer(2, 0, 1'400, bytes).frame, told_backend(3, 4, 1'380, bytes, n++)) << bytes;
    EXPECT_EQ(of_answer(3, 0, 0, bytes).frame, told_backend(11, 0, 0, bytes, n++)) << bytes;
  }
}

TEST_F(Nat64Icmp, errors_without_counterpart_or_connection_are_dropped_by_cause) {
  EXPECT_EQ(of_question(3, 14, 0, 100).cause, drop_cause::kUntranslatable);
  EXPECT_EQ(of_question(12, 1, 0, 100).cause, drop_cause::kUntranslatable);
  EXPECT_EQ(of_answer(1, 6, 0, 100).cause, drop_cause::kUntranslatable);
  EXPECT_EQ(of_answer(4, 2, 40, 100).cause, drop_cause::kUntranslatable);
  Bytes stranger = asked_.frame;
  set16(stranger, 34, ends_.source_port ^ 1);
  IcmpSpec spec = {.source_mac = "02:00:00:00:02:99",
                   .destination_mac = "02:00:00:00:00:02",
                   .source = kRouter4,
                   .destination = ends_.source};
  EXPECT_EQ(balancer_.send({make_icmp_error(spec, stranger, 100), 1, 128, {}}).cause,
            DropCause::kIcmpNoFlow);
  spec.destination_mac = "02:00:00:00:00:01";
  EXPECT_EQ(balancer_.send({make_icmp_error(spec, asked_.frame, 100), 0, 128, {}}).cause,
            drop_cause::kWrongSide);
  spec.destination_mac = "02:00:00:00:00:02";
  spec.destination = "10.0.0.100";
  EXPECT_EQ(balancer_.send({make_icmp_error(spec, asked_.frame, 100), 1, 128, {}}).cause,
            DropCause::kBadIcmp)
      << "not to whom it is about";
  spec.destination = ends_.source;
  EXPECT_EQ(balancer_.send({make_icmp_error(spec, asked_.frame, 100), 1, 39, {}}).cause,
            DropCause::kNoHeadroom);
  EXPECT_EQ(balancer_.send({make_icmp_error(spec, asked_.frame, 100), 1, 40, {}}).cause,
            std::nullopt);
}

// The frame of an error is its message: whatever is embedded, an error of IPv6 is never too long.
TEST_F(Nat64Icmp, a_long_error_is_cut_to_what_icmpv6_embeds) {
  PacketSpec longer = client_sends_udp(std::string(1'300, 'q'));
  const Fate asked = balancer_.send_from_client(longer);
  ASSERT_EQ(asked.cause, std::nullopt);
  const Fate fate = balancer_.send({make_icmp_error({.source_mac = "02:00:00:00:02:99",
                                                     .destination_mac = "02:00:00:00:00:02",
                                                     .source = kRouter4,
                                                     .destination = ends_.source,
                                                     .type = 3,
                                                     .code = 3},
                                                    asked.frame, 1'300),
                                    1,
                                    128,
                                    {}});
  ASSERT_EQ(fate.cause, std::nullopt);
  --longer.ttl;
  const Bytes expected = make_icmp_error({.source_mac = "02:00:00:00:00:01",
                                          .destination_mac = "02:00:00:00:01:10",
                                          .source = question_.destination,
                                          .destination = question_.source,
                                          .type = 1,
                                          .code = 4,
                                          .ttl = 63},
                                         make_frame(longer), 1'232);
  ASSERT_GE(fate.frame.size(), expected.size());
  EXPECT_EQ(Bytes(fate.frame.begin(), fate.frame.begin() + static_cast<ptrdiff_t>(expected.size())),
            expected);
}

std::string with_mtu(const std::string& mac, int mtu) {
  std::string toml = nat64_config();
  const std::string line = "mac = \"" + mac + "\"\n";
  return toml.insert(toml.find(line) + line.size(), "mtu = " + std::to_string(mtu) + "\n");
}

TEST(nat64_mtu, a_backend_is_told_what_fits_with_the_longer_header) {
  TestBalancer balancer(with_mtu("02:00:00:00:00:01", 1'400));
  const PacketSpec syn = from_client(kNat64, 40'000);
  const Ends ends = ends_of(balancer.send_from_client(syn));
  PacketSpec answer = answer_to(kNat64, ends, net::tcp::kAck);
  answer.payload.assign(1'400 - 60, 'x');
  EXPECT_EQ(balancer.send_from_backend(answer).frame, as_ipv6_client_gets(answer, syn));
  answer.payload += 'x';
  EXPECT_EQ(balancer.send_from_backend(answer).cause, DropCause::kTooBig);
  ASSERT_EQ(balancer.originated.size(), 1U);
  EXPECT_EQ(balancer.originated[0].out_port, 1);
  EXPECT_EQ(balancer.originated[0].frame,
            make_icmp_error({.source_mac = "02:00:00:00:00:02",
                             .destination_mac = kNat64.backend_macs.at(ends.destination),
                             .source = "10.0.0.1",
                             .destination = ends.destination,
                             .type = 3,
                             .code = 4,
                             .rest = 1'380,
                             .type_of_service = 0xc0,
                             .may_be_cut = false},
                            make_frame(answer), 548));
  EXPECT_EQ(broken_sums(balancer.report()), no_faults());
}

TEST(nat64_mtu, a_client_is_told_what_fits_with_the_shorter_header) {
  TestBalancer balancer(with_mtu("02:00:00:00:00:02", 1'400));
  const Ends ends = ends_of(balancer.send_from_client(from_client(kNat64, 40'000)));
  PacketSpec data = from_client(kNat64, 40'000, net::tcp::kAck);
  data.payload.assign(1'420 - 60, 'x');
  const Fate fate = balancer.send_from_client(data);
  ASSERT_EQ(fate.cause, std::nullopt);
  Bytes expected = as_ipv4_backend_gets(data, ends, 1);
  set16(expected, 20, 0x4000);  // it is long, and may not be cut
  fix_ipv4_checksum(expected);
  EXPECT_EQ(fate.frame, expected);
  data.payload += 'x';
  EXPECT_EQ(balancer.send_from_client(data).cause, DropCause::kTooBig);
  ASSERT_EQ(balancer.originated.size(), 1U);
  EXPECT_EQ(balancer.originated[0].frame, make_icmp_error({.source_mac = "02:00:00:00:00:01",
                                                           .destination_mac = "02:00:00:00:01:10",
                                                           .source = "2001:db8:1::1",
                                                           .destination = kNat64.client,
                                                           .type = 2,
                                                           .code = 0,
                                                           .rest = 1'420,
                                                           .may_be_cut = false},
                                                          make_frame(data), 1'232));
  EXPECT_EQ(broken_sums(balancer.report()), no_faults());
}

// Fragments of either side. The answer's are IPv4's, and IPv6's for the client.
const FragmentFamily kClients = {"2001:db8:1::10", "2001:db8:ffff::53", "10.0.0.11", 40};
const FragmentFamily kBackends = {"10.0.0.200", "2001:db8:ffff::53", "10.0.0.11", 20};

TEST(nat64_mtu, what_may_be_cut_leaves_in_pieces_of_ipv6) {
  TestBalancer balancer(nat64_config());
  const PacketSpec question = client_sends_udp();
  const Ends ends = ends_of(balancer.send_from_client(question));
  for (const size_t payload_bytes : {1'452U, 1'453U, 1'472U}) {
    balancer.originated.clear();
    PacketSpec answer = filled(ipv4_answer(ends, question, ""), payload_bytes);
    const Fate fate = balancer.send_from_backend(answer);
    ASSERT_EQ(fate.cause, std::nullopt);
    const Bytes whole = as_ipv6_client_gets(answer, question);
    if (payload_bytes == 1'452) {
      EXPECT_EQ(fate.frame, whole) << "it fits";
      continue;
    }
    EXPECT_TRUE(fate.is_consumed);
    std::vector<Bytes> pieces;
    for (const Fate& piece : balancer.originated) {
      EXPECT_EQ(piece.out_port, 0);
      EXPECT_LE(piece.frame.size(), 14U + 1'500);
      pieces.push_back(piece.frame);
    }
    EXPECT_EQ(pieces.size(), 2U);
    EXPECT_EQ(reassemble(kClients, pieces), whole);
  }
  const Bytes answer = make_frame(filled(ipv4_answer(ends, question, ""), 1'472));
  EXPECT_EQ(balancer.send({answer, 1, 27, {}}).cause, DropCause::kNoHeadroom);
  EXPECT_TRUE(balancer.send({answer, 1, 28, {}}).is_consumed);
  EXPECT_EQ(broken_sums(balancer.report()), no_faults());
}

TEST(nat64_fragments, in_any_order_both_ways_are_the_translated_datagram) {
  std::mt19937_64 random(kSeed);
  TestBalancer balancer(nat64_config());
  const PacketSpec question = client_sends_udp();
  const Ends ends = ends_of(balancer.send_from_client(question));
  for (uint16_t id = 1; id <= 300; ++id) {
    for (const bool is_question : {true, false}) {
      const size_t bytes = 20 + random() % 3'000;
      PacketSpec spec =
          is_question ? filled(question, bytes) : filled(ipv4_answer(ends, question, ""), bytes);
      std::vector<Bytes> frames =
          fragments_of(is_question ? kClients : kBackends, spec, id, random);
      if (random() % 2 == 0) std::ranges::shuffle(frames, random);
      const auto left = pass(balancer, frames, is_question ? 0 : 1, 1 + random() % 32);
      ASSERT_EQ(left.size(), frames.size());
      if (is_question) {
        EXPECT_EQ(reassemble(kBackends, left), as_ipv4_backend_gets(spec, ends, 0x1234)) << id;
      } else {
        EXPECT_EQ(reassemble(kClients, left), as_ipv6_client_gets(spec, question)) << id;
      }
      for (const Bytes& frame : left) {
        const size_t at = is_question ? 18 : 60;
        EXPECT_EQ(size_t{frame[at]} << 8 | frame[at + 1], id) << "the identification stays";
      }
    }
  }
  const Report report = balancer.report();
  EXPECT_EQ(report.flows.created, 1U);
  EXPECT_GT(report.fragments.counters.waited, 300U);
  EXPECT_EQ(report.fragments.dropped, 0U);
  EXPECT_EQ(broken_sums(report), no_faults());
}

// With the longer header a full one is too long; it is cut once more.
TEST(nat64_fragments, that_are_too_long_for_the_clients_side_are_cut_again) {
  TestBalancer balancer(nat64_config());
  const PacketSpec question = client_sends_udp();
  const Ends ends = ends_of(balancer.send_from_client(question));
  const PacketSpec answer = filled(ipv4_answer(ends, question, ""), 3'001);
  const Bytes whole = make_frame(answer);
  std::vector<Bytes> left;
  for (const auto& [begin, end] : {std::pair{0U, 1'480U}, {1'480U, 2'960U}, {2'960U, 3'009U}}) {
    balancer.originated.clear();
    const Fate fate = balancer.send({fragment_of(kBackends, whole, begin, end, 7), 1});
    ASSERT_EQ(fate.cause, std::nullopt) << begin;
    if (!fate.is_consumed) left.push_back(fate.frame);
    for (const Fate& piece : balancer.originated) left.push_back(piece.frame);
  }
  EXPECT_EQ(left.size(), 5U);
  EXPECT_EQ(reassemble(kClients, left), as_ipv6_client_gets(answer, question));
  EXPECT_EQ(broken_sums(balancer.report()), no_faults());
}

TEST(nat64_fragments, of_datagrams_without_checksum_are_dropped) {
  TestBalancer balancer(nat64_config());
  const PacketSpec question = client_sends_udp();
  const Ends ends = ends_of(balancer.send_from_client(question));
  PacketSpec spec = filled(ipv4_answer(ends, question, ""), 1'000);
  spec.has_udp_checksum = false;
  const Bytes whole = make_frame(spec);
  EXPECT_EQ(balancer.send({fragment_of(kBackends, whole, 0, 400, 1), 1}).cause,
            drop_cause::kUntranslatable);
  EXPECT_EQ(broken_sums(balancer.report()), no_faults());
}

}  // namespace
}  // namespace roost::lb
