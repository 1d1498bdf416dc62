// More than a million connections come and go under random packets and random time, jumps over the
// reach of 16-bit timers among it. Every packet's fate is predicted by NaiveBalancer, and in the
// end created = live + ended + expired, each number exact.
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <map>
#include <random>

#include "tests/base/step_count.h"
#include "tests/lb/naive_balancer.h"
#include "tests/lb/test_balancer.h"

namespace roost::lb {
namespace {

// Each protocol and family has two services on the same backends, so that reply tuples collide.
std::string churn_config() {
  std::string toml = test_config("connections = 4_096", "connections = 60_000");
  toml += kRivalService;
  toml += R"([[service]]
name = "dns-2"
address = "198.51.100.54"
port = 53
protocol = "udp"
backends = [{name = "b1", address = "10.0.0.11"}]
[[service]]
name = "dns6-2"
address = "2001:db8:ffff::54"
port = 53
protocol = "udp"
backends = [{name = "b1", address = "2001:db8:2::11"}]
)";
  toml += kShortTimeouts;
  return toml;
}

struct TestService {
  std::string address;
  uint16_t port;
  bool is_tcp;
  bool is_ipv6;
  uint16_t backend_port;
  unsigned backend_count;
};

const std::array<TestService, 7> kServices = {{{"198.51.100.80", 80, true, false, 8080, 3},
                                               {"198.51.100.81", 80, true, false, 8080, 2},
                                               {"198.51.100.53", 53, false, false, 53, 1},
                                               {"198.51.100.54", 53, false, false, 53, 1},
                                               {"2001:db8:ffff::80", 80, true, true, 8080, 2},
                                               {"2001:db8:ffff::53", 53, false, true, 53, 1},
                                               {"2001:db8:ffff::54", 53, false, true, 53, 1}}};
constexpr unsigned kClientCount = 2;

// A packet of the model's world.
struct Happening {
  bool is_from_client = true;
  unsigned service = 0;  // the service whose client or backend speaks
  unsigned client = 0;
  unsigned backend = 1;  // 1, 2, 3: the last number of its address; for packets of backends
  uint16_t port = 0;     // the client's
  uint8_t flags = 0;
};

std::string client_address(const TestService& service, unsigned client) {
  if (service.is_ipv6) return "2001:db8:1::10";
  return "192.0.2.1" + std::to_string(client);
}

std::string backend_address(const TestService& service, unsigned backend) {
  return (service.is_ipv6 ? "2001:db8:2::1" : "10.0.0.1") + std::to_string(backend);
}

// The model's number of a backend: the families' backends are different ones.
unsigned backend_number(const TestService& service, unsigned backend) {
  return backend + (service.is_ipv6 ? 100 : 0);
}

// The number of the backend that a forwarded frame goes to: 10.0.0.11 and 2001:db8:2::11 are 1.
unsigned backend_in(const std::vector<uint8_t>& frame, const TestService& service) {
  return service.is_ipv6 ? backend_number(service, frame[53] - 0x10U)
                         : backend_number(service, frame[33] - 10U);
}

// Frames that differ in port and flags only come from one template each. Transport checksums are
// wrong then, which the balancer neither knows nor cares about.
class Frames {
 public:
  std::vector<uint8_t> make(const Happening& what) {
    const TestService& service = kServices[what.service];
    const size_t l4 = service.is_ipv6 ? 54 : 34;
    std::vector<uint8_t> frame = get_template(what, service);
    const size_t at = l4 + (what.is_from_client ? 0 : 2);
    frame[at] = static_cast<uint8_t>(what.port >> 8);
    frame[at + 1] = static_cast<uint8_t>(what.port & 0xff);
    if (service.is_tcp) frame[l4 + 13] = what.flags;
    return frame;
  }

 private:
  const std::vector<uint8_t>& get_template(const Happening& what, const TestService& service) {
    const std::array<unsigned, 4> id = {what.is_from_client, what.service, what.client,
                                        what.is_from_client ? 0 : what.backend};
    std::vector<uint8_t>& frame = templates_[id];
    if (!frame.empty()) return frame;
    PacketSpec spec{.destination_port = service.port, .payload = ""};
    spec.source = client_address(service, what.client);
    spec.destination = service.address;
    spec.protocol = service.is_tcp ? net::IpProtocol::kTcp : net::IpProtocol::kUdp;
    if (!what.is_from_client) {
      spec.destination_mac = "02:00:00:00:00:02";
      spec.destination = spec.source;
      spec.source = backend_address(service, what.backend);
      spec.source_port = service.backend_port;
    }
    return frame = make_frame(spec);
  }

  std::map<std::array<unsigned, 4>, std::vector<uint8_t>> templates_;
};

class Churn {
 public:
  explicit Churn(uint64_t seed) : random_(seed), balancer_(churn_config()) {}

  void run(uint64_t flows_wanted) {
    balancer_.now = {uint64_t{1'700'000'000} + random_() % 100'000};
    while (model_.created() < flows_wanted && !testing::Test::HasFatalFailure()) {
      move_time();
      run_batch();
    }
  }

  void check_counts() {
    const NaiveBalancer::Counts counts = model_.count();
    const Report report = balancer_.report();
    EXPECT_EQ(report.flows.created, counts.created);
    EXPECT_EQ(report.flows.ended, counts.ended);
    EXPECT_EQ(report.flows.expired, counts.expired);
    EXPECT_EQ(report.live, counts.live);
    EXPECT_EQ(broken_sums(report), std::vector<std::string>());
    EXPECT_GT(counts.ended, counts.created / 100) << "too few connections were closed";
    EXPECT_GT(report.run.drops[DropCause::kReplyTupleTaken], 100U);
  }

 private:
  // Mostly a tick now and then; sometimes past one timeout or all of them, and past what 16 bits of
  // ticks can tell apart.
  void move_time() {
    constexpr std::array<uint64_t, 10> kJumps = {6,      21,     1'023,  1'024,   64'511,
                                                 64'513, 65'536, 65'540, 131'077, 1'000'000'000};
    if (random_() % 3 == 0) balancer_.now.count += random_() % 3;
    if (random_() % 4'000 == 0) balancer_.now.count += kJumps[random_() % kJumps.size()];
    if (random_() % 2 == 0) balancer_.idle(random_() % 200);
    model_.set_time(balancer_.now.count);
  }

  Happening happen() {
    Happening what;
    if (random_() % 3 == 0) {  // a client of a moment ago
      what = recent_[random_() % recent_.size()];
      what.is_from_client = random_() % 2 == 0;
      if (kServices[what.service].is_tcp) what.flags = random_flags();
      return what;
    }
    what.service = static_cast<unsigned>(random_() % kServices.size());
    const TestService& service = kServices[what.service];
    what.client = service.is_ipv6 ? 0 : static_cast<unsigned>(random_() % kClientCount);
    what.backend = 1 + static_cast<unsigned>(random_() % service.backend_count);
    // A few ports are busy; the others begin new connections.
    what.port = static_cast<uint16_t>(1 + random_() % (random_() % 3 == 0 ? 60 : 65'535));
    what.is_from_client = random_() % 4 != 0;
    if (service.is_tcp) what.flags = random_flags();
    recent_[random_() % recent_.size()] = what;
    return what;
  }

  uint8_t random_flags() {
    constexpr std::array<uint8_t, 10> kFlags = {2, 2, 16, 16, 24, 17, 17, 4, 18, 3};
    return random_() % 50 == 0 ? static_cast<uint8_t>(random_() % 64)
                               : kFlags[random_() % kFlags.size()];
  }

  void run_batch() {
    std::array<Happening, net::kBatchLanesMax> happenings;
    std::vector<Arrival> arrivals;
    const size_t count = 1 + random_() % net::kBatchLanesMax;
    for (size_t i = 0; i < count; ++i) {
      // Sometimes the same again, or the other direction of the packet before.
      happenings[i] = i > 0 && random_() % 8 == 0 ? happenings[i - 1] : happen();
      if (i > 0 && random_() % 8 == 0) happenings[i].is_from_client ^= true;
      arrivals.push_back({frames_.make(happenings[i]),
                          static_cast<uint16_t>(happenings[i].is_from_client ? 0 : 1)});
    }
    const std::vector<Fate> fates = balancer_.send_batch(arrivals);
    for (size_t i = 0; i < count; ++i) {
      if (happenings[i].is_from_client) {
        check_from_client(happenings[i], fates[i]);
      } else {
        check_from_backend(happenings[i], fates[i]);
      }
    }
  }

  void check_from_client(const Happening& what, const Fate& fate) {
    const TestService& service = kServices[what.service];
    const NaiveBalancer::FlowId id{what.service, what.client, what.port};
    std::optional<unsigned> backend;
    if (!fate.cause) backend = backend_in(fate.frame, service);
    const auto before = model_.backend_of(id);
    if (fate.cause == DropCause::kReplyTupleTaken && !before) {
      // The backend that it would have got is unknown; one of them must be taken.
      bool is_taken = false;
      for (unsigned b = 1; b <= service.backend_count; ++b) {
        is_taken |= model_.is_taken(id, service.is_tcp, backend_number(service, b));
      }
      ASSERT_TRUE(is_taken && !model_.is_live(id));
      return;
    }
    ASSERT_EQ(fate.cause, model_.from_client(id, service.is_tcp, what.flags, backend));
    if (fate.cause) return;
    ASSERT_GE(*backend, backend_number(service, 1));
    ASSERT_LE(*backend, backend_number(service, service.backend_count));
    if (before) {
      ASSERT_EQ(*backend, *before) << "Maglev chose differently";
    }
    ASSERT_EQ(fate.out_port, 1);
  }

  void check_from_backend(const Happening& what, const Fate& fate) {
    const TestService& service = kServices[what.service];
    const auto owner = model_.from_backend(
        {service.is_tcp, backend_number(service, what.backend), what.client, what.port},
        what.flags);
    if (!owner) {
      ASSERT_EQ(fate.cause, DropCause::kNoFlow);
      return;
    }
    ASSERT_EQ(fate.cause, std::nullopt);
    ASSERT_EQ(fate.out_port, 0);
    const TestService& answering = kServices[owner->service];
    const auto address = net::IpAddress::parse(answering.address).value();
    if (service.is_ipv6) {
      ASSERT_EQ(std::memcmp(&fate.frame[22], address.ipv6().bytes.data(), 16), 0);
    } else {
      ASSERT_EQ(std::memcmp(&fate.frame[26], address.ipv4().bytes.data(), 4), 0);
    }
  }

  std::mt19937_64 random_;
  TestBalancer balancer_;
  // The third backend of web, and both of web6; the others stand in two services.
  NaiveBalancer model_{{3, 20, 4, 2, 5}, {{{true, 3}, 0}, {{true, 101}, 4}, {{true, 102}, 4}}};
  Frames frames_;
  std::array<Happening, 50> recent_{};  // some of the clients that spoke last
};

TEST(churn, a_million_connections_end_as_a_map_of_them_predicts) {
  const uint64_t seed = 20'261'121;
  SCOPED_TRACE(seed);
  Churn churn(seed);
  churn.run(step_count(1'000'000, 40));
  churn.check_counts();
}

}  // namespace
}  // namespace roost::lb
