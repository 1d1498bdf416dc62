// Two workers' balancers whose packets arrive at either: what is one flow's meets at its owner,
// and what one receives about a neighbour the other learns. One thread; workers_test.cc has them
// run.
#include <gtest/gtest.h>

#include <array>
#include <cctype>
#include <random>

#include "apps/lb/control/report.h"
#include "tests/lb/frame_bytes.h"
#include "tests/lb/test_icmp.h"
#include "tests/lb/test_nat64.h"
#include "tests/lb/test_neighbours.h"
#include "tests/net/message_frames.h"

namespace roost::lb {
namespace {

constexpr size_t kWorkers = 2;
constexpr uint64_t kSeed = 20'261'122;

node::FlowOwner owner(size_t worker) {
  return node::FlowOwner({.worker_count = kWorkers, .worker = worker, .seed = 4});
}

// A frame's fate, and its worker.
struct Decided {
  Fate fate{};
  size_t worker = 0;
};

class Pair {
 public:
  explicit Pair(const std::string& toml)
      : workers_{TestBalancer(toml, owner(0)), TestBalancer(toml, owner(1))} {}

  // A frame that this worker receives; it is handed off and copied as the worker loops do.
  Decided receive(size_t receiver, const std::vector<uint8_t>& frame, uint16_t port) {
    Fate fate = workers_[receiver].send({.frame = frame, .in_port = port});
    if (fate.is_copied) {
      workers_[1 - receiver].send(
          {.frame = frame, .in_port = port, .origin = net::PacketOrigin::kCopy});
    }
    if (!fate.owner) return {fate, receiver};
    EXPECT_EQ(*fate.owner, 1 - receiver);
    fate = workers_[*fate.owner].send(
        {.frame = frame, .in_port = port, .origin = net::PacketOrigin::kWorker});
    EXPECT_FALSE(fate.owner.has_value()) << "a packet is handed off once at most";
    return {fate, 1 - receiver};
  }

  TestBalancer& worker(size_t worker) { return workers_[worker]; }

  // Of both together.
  Report report() {
    node::RunTotals totals = workers_[0].totals();
    const node::RunTotals& more = workers_[1].totals();
    for (size_t port = 0; port < totals.ports.size(); ++port) {
      totals.ports[port].received += more.ports[port].received;
      totals.ports[port].sent += more.ports[port].sent;
    }
    totals.drops += more.drops;
    totals.originated += more.originated;
    totals.consumed += more.consumed;
    const std::array<State*, kWorkers> states = {&workers_[0].state(), &workers_[1].state()};
    return make_report(states, std::move(totals));
  }

 private:
  std::array<TestBalancer, kWorkers> workers_;
};

class Steering : public testing::Test {
 protected:
  void TearDown() override {
    for (Pair* pair : {&pair_, &asking_})
      EXPECT_EQ(broken_sums(pair->report()), std::vector<std::string>());
  }
  // The worker that owns what this client sends.
  static size_t owner_of(const std::string& client) { return owner(0).owner_of(ip(client)); }

  // A router is in front of the clients.
  Pair pair_{test_config("mac = \"02:00:00:00:00:01\"",
                         "mac = \"02:00:00:00:00:01\"\ndefault_neighbour_mac = "
                         "\"02:00:00:00:01:10\"")};
  Pair asking_{config_without_neighbours()};
};

PacketSpec dns_answer_to(const PacketSpec& query) {
  PacketSpec answer = query;
  answer.source = "10.0.0.11";
  answer.source_port = 53;
  answer.destination = query.source;
  answer.destination_port = query.source_port;
  answer.destination_mac = kPort1Mac.format();
  return answer;
}

TEST_F(Steering, an_answer_that_another_worker_receives_reaches_the_one_that_asked) {
  const size_t asker = owner_of("192.0.2.10");
  for (size_t receiver = 0; receiver < kWorkers; ++receiver) {
    EXPECT_TRUE(asking_.receive(receiver, make_frame(dns_query()), 0).fate.is_consumed);
  }
  TestBalancer& asking = asking_.worker(asker);
  ASSERT_EQ(asking.originated.size(), 1U)
      << "one solicitation; both packets wait at their flow's owner";
  EXPECT_EQ(asking_.worker(1 - asker).originated.size(), 0U);
  asking_.receive(1 - asker, is_at("10.0.0.11", kBackendMac, "10.0.0.1", kPort1Mac), 1);
  ASSERT_EQ(asking.originated.size(), 3U) << "what waited has left";
  EXPECT_EQ(asking.originated[1].frame[5], 0x11);
  EXPECT_EQ(asking_.report().neighbours.counters.confirmed, 1U);
}

TEST_F(Steering, solicitations_are_answered_once_and_claims_of_our_addresses_counted_once) {
  const net::MacAddress mac = {{2, 6, 6, 6, 6, 6}};
  const auto announcement = [&](const std::string& address) {
    return arp_frame({true, mac, ip(address), {}, ip(address)}, net::kBroadcastMac);
  };
  EXPECT_FALSE(asking_.worker(0).send({net::kArpRequest, 0, 128, {}}).is_copied);
  EXPECT_FALSE(asking_.worker(0).send({net::kSolicitation, 0, 128, {}}).is_copied);
  EXPECT_FALSE(asking_.worker(0).send({announcement("192.0.2.1"), 0, 128, {}}).is_copied);
  EXPECT_TRUE(asking_.worker(0).send({announcement("192.0.2.77"), 0, 128, {}}).is_copied);
  const l3::NeighbourCounters counters = asking_.report().neighbours.counters;
  EXPECT_EQ(counters.advertisements_sent, 2U);
  EXPECT_EQ(counters.conflicts, 1U);
}

// An IPv4 frame without tags as two fragments: 16 bytes behind the IP header, and the rest.
std::array<Bytes, 2> halves_of(const Bytes& whole, size_t identification) {
  constexpr size_t kCarriedAt = 14 + 20;
  constexpr size_t kFirstBytes = 16;
  std::array<Bytes, 2> halves = {whole, whole};
  halves[0].resize(kCarriedAt + kFirstBytes);
  halves[1].erase(halves[1].begin() + kCarriedAt, halves[1].begin() + kCarriedAt + kFirstBytes);
  set16(halves[0], 20, 0x2000);  // more follow
  set16(halves[1], 20, kFirstBytes / 8);
  for (Bytes& half : halves) {
    set16(half, 16, half.size() - 14);
    set16(half, 18, identification);
    fix_ipv4_checksum(half);
  }
  return halves;
}

TEST_F(Steering, fragments_meet_their_flow_in_any_order_and_whoever_receives_them) {
  std::mt19937_64 random(kSeed);
  uint64_t out_of_order = 0;
  // Sends both halves; which worker decided them.
  const auto send_halves = [&](const PacketSpec& spec, uint16_t port, size_t id) {
    std::array<Bytes, 2> halves = halves_of(make_frame(spec), id);
    const bool is_in_order = random() % 2 == 0;
    if (!is_in_order) std::swap(halves[0], halves[1]);
    const Decided first = pair_.receive(random() % kWorkers, halves[0], port);
    const Decided second = pair_.receive(random() % kWorkers, halves[1], port);
    EXPECT_EQ(first.worker, second.worker);
    EXPECT_EQ(first.fate.is_consumed, !is_in_order) << "a later fragment waits for its first one";
    EXPECT_FALSE(first.fate.cause || second.fate.cause);
    out_of_order += is_in_order ? 0 : 1;
    return first.worker;
  };
  for (uint16_t i = 0; i < 1'000; ++i) {
    PacketSpec query = dns_query();
    query.source = "203.0.113." + std::to_string(i % 250);
    query.source_port = static_cast<uint16_t>(10'000 + i);
    query.payload = std::string(40, 'q');
    const size_t worker = send_halves(query, 0, i);
    EXPECT_EQ(worker, owner_of(query.source));
    EXPECT_EQ(send_halves(dns_answer_to(query), 1, i), worker);
  }
  const Report report = pair_.report();
  EXPECT_EQ(report.flows.created, 1'000U);
  EXPECT_EQ(report.sent, 4'000U);
  EXPECT_EQ(report.fragments.counters.waited, out_of_order);
  EXPECT_EQ(report.fragments.counters.released, out_of_order);
  EXPECT_EQ(report.fragments.counters.followed, 2'000U - out_of_order);
}

// Errors name the flow only in the packet that they embed; their own source may be any host.
TEST_F(Steering, icmp_errors_reach_the_owner_of_the_flow_that_they_are_about) {
  constexpr size_t kEmbeddedBytes = 28;
  std::mt19937_64 random(kSeed);
  std::array<uint64_t, kWorkers> decided{};
  for (uint16_t i = 0; i < 500; ++i) {
    PacketSpec query = dns_query();
    query.source = "203.0.113." + std::to_string(i % 250);
    query.source_port = static_cast<uint16_t>(10'000 + i);
    const Decided asked = pair_.receive(random() % kWorkers, make_frame(query), 0);
    const Decided answered =
        pair_.receive(random() % kWorkers, make_frame(dns_answer_to(query)), 1);
    ASSERT_FALSE(asked.fate.cause || answered.fate.cause);

    const IcmpSpec of_backend = {.source_mac = kBackendMac.format(),
                                 .destination_mac = kPort1Mac.format(),
                                 .source = "10.0.0.11",
                                 .destination = query.source};
    const Bytes to_client = make_icmp_error(of_backend, asked.fate.frame, kEmbeddedBytes);
    const Decided received = pair_.receive(random() % kWorkers, to_client, 1);
    EXPECT_EQ(received.worker, asked.worker);
    EXPECT_FALSE(received.fate.cause.has_value());
    EXPECT_EQ(received.fate.out_port, 0);

    const IcmpSpec of_router = {.source = "192.0.2.11", .destination = query.destination};
    const Bytes to_backend = make_icmp_error(of_router, answered.fate.frame, kEmbeddedBytes);
    const Decided told = pair_.receive(random() % kWorkers, to_backend, 0);
    EXPECT_EQ(told.worker, asked.worker);
    EXPECT_FALSE(told.fate.cause.has_value());
    EXPECT_EQ(told.fate.out_port, 1);
    ++decided[asked.worker];
  }
  EXPECT_GT(decided[0], 0U);
  EXPECT_GT(decided[1], 0U);
}

TEST_F(Steering, both_directions_of_a_flow_are_decided_by_the_clients_owner) {
  ASSERT_NE(owner_of(PacketSpec{}.destination), 0U)
      << "take another seed, so that the service's address would make a difference";
  std::mt19937_64 random(kSeed);
  std::array<uint64_t, kWorkers> decided{};
  for (uint16_t i = 0; i < 2'000; ++i) {
    PacketSpec spec;
    spec.source = "203.0.113." + std::to_string(i % 250);
    spec.source_port = static_cast<uint16_t>(10'000 + i);
    const Decided request = pair_.receive(random() % kWorkers, make_frame(spec), 0);
    ASSERT_EQ(request.fate.out_port, 1);
    PacketSpec reply;
    reply.source = destination_of(request.fate);
    reply.source_port = 8080;
    reply.destination = spec.source;
    reply.destination_port = spec.source_port;
    reply.destination_mac = kPort1Mac.format();
    reply.tcp_flags = net::tcp::kSyn | net::tcp::kAck;
    const Decided answer = pair_.receive(random() % kWorkers, make_frame(reply), 1);
    EXPECT_FALSE(answer.fate.cause.has_value());
    EXPECT_EQ(answer.worker, request.worker);
    EXPECT_EQ(request.worker, owner_of(spec.source));
    ++decided[request.worker];
  }
  EXPECT_EQ(pair_.report().flows.created, 2'000U);
  EXPECT_GT(decided[0], 0U);
  EXPECT_GT(decided[1], 0U);
}

// Another configuration, whose services and backends are others than before.
TEST_F(Steering, what_was_removed_meets_at_its_owner_for_as_long_as_it_has_connections) {
  const auto receive_request = [&](uint16_t i, size_t receiver) {
    PacketSpec spec;
    spec.source = "203.0.113." + std::to_string(i);
    spec.source_port = 10'000;
    return pair_.receive(receiver, make_frame(spec), 0);
  };
  std::vector<Decided> before;
  for (uint16_t i = 0; i < 250; ++i) before.push_back(receive_request(i, i % kWorkers));

  std::string toml = test_config("198.51.100.80", "198.51.100.81");
  for (size_t at = 0; (at = toml.find("10.0.0.1", at)) != std::string::npos; at += 8) {
    if (std::isdigit(toml[at + 8]) != 0) toml.replace(at, 8, "10.0.0.2");
  }
  const ConfigOutcome file = parse_config(toml);
  ASSERT_TRUE(file.config);
  for (size_t worker = 0; worker < kWorkers; ++worker) take(pair_.worker(worker), *file.config);

  for (uint16_t i = 0; i < 250; ++i) {
    for (size_t receiver = 0; receiver < kWorkers; ++receiver) {
      const Decided request = receive_request(i, receiver);
      ASSERT_FALSE(request.fate.cause.has_value());
      EXPECT_EQ(request.worker, before[i].worker);
      EXPECT_EQ(destination_of(request.fate), destination_of(before[i].fate));
      PacketSpec reply;
      reply.source = destination_of(request.fate);
      reply.source_port = 8080;
      reply.destination = "203.0.113." + std::to_string(i);
      reply.destination_port = 10'000;
      reply.destination_mac = kPort1Mac.format();
      const Decided answer = pair_.receive(receiver, make_frame(reply), 1);
      EXPECT_FALSE(answer.fate.cause.has_value());
      EXPECT_EQ(answer.worker, request.worker);
    }
  }
  EXPECT_EQ(pair_.report().flows.created, 250U);
}

// The owner of what an IPv4 backend sends is that of the address of ours, fragments and errors
// included.
TEST_F(Steering, between_versions_all_of_a_flow_is_decided_by_the_clients_owner) {
  std::string toml = nat64_config("\"10.0.0.200\", \"10.0.0.201\"");
  const std::string addresses = "addresses = [\"10.0.0.100\"";
  toml.insert(toml.find(addresses) + addresses.size(), ", \"10.0.0.101\"");
  const std::string mac = "mac = \"02:00:00:00:00:01\"\n";
  toml.insert(toml.find(mac) + mac.size(), "default_neighbour_mac = \"02:00:00:00:01:01\"\n");
  Pair pair(toml);
  std::array<uint64_t, kWorkers> decided{};
  for (uint16_t i = 1; i <= 200; ++i) {
    PacketSpec question = client_sends_udp();
    question.source = "2001:db8:7::" + std::to_string(i);
    const Decided asked = pair.receive(i % kWorkers, make_frame(question), 0);
    ASSERT_FALSE(asked.fate.cause.has_value());
    EXPECT_EQ(asked.worker, owner(0).owner_of(net::Ipv6Address::parse(question.source).value()));
    const Ends ends = read_ends(asked.fate.frame);
    const PacketSpec answer = ipv4_answer(ends, question, "roost");
    const Bytes of_router = make_icmp_error(
        {.destination_mac = kPort1Mac.format(), .source = "10.0.0.99", .destination = ends.source},
        asked.fate.frame, 28);
    Bytes later = make_frame(answer);
    set16(later, 20, 3);  // a last fragment, of which the first one is missing
    fix_ipv4_checksum(later);
    for (size_t receiver = 0; receiver < kWorkers; ++receiver) {
      const Decided answered = pair.receive(receiver, make_frame(answer), 1);
      EXPECT_EQ(answered.worker, asked.worker);
      EXPECT_EQ(read_ends(answered.fate.frame).destination, question.source);
      const Decided told = pair.receive(receiver, of_router, 1);
      EXPECT_EQ(told.worker, asked.worker);
      EXPECT_EQ(told.fate.out_port, 0);
      set16(later, 18, uint64_t{2} * i + receiver);
      fix_ipv4_checksum(later);
      EXPECT_EQ(pair.receive(receiver, later, 1).worker, asked.worker);
    }
    ++decided[asked.worker];
  }
  EXPECT_GT(decided[0], 0U);
  EXPECT_GT(decided[1], 0U);
  EXPECT_EQ(broken_sums(pair.report()), std::vector<std::string>());
}

}  // namespace
}  // namespace roost::lb
