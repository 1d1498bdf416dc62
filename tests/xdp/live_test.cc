// Frames between network namespaces through the program in native mode, while the builder changes
// the table that they are looked up in.
#include <atomic>
#include <map>
#include <thread>

#include "tests/base/step_count.h"
#include "tests/xdp/kernel_answers.h"
#include "tests/xdp/network.h"

namespace roost::xdp {
namespace {

using compact::random_keys;

constexpr uint64_t kUnicast = ~(uint64_t{1} << 40);

uint64_t mac_of(const Frame& frame) {
  uint64_t mac = 0;
  for (size_t i = 0; i < 6; ++i) mac = mac << 8 | frame[i];
  return mac;
}

// A switch with one host that sends and two that receive, each in a namespace.
class XdpLive : public KernelTest {
 protected:
  static constexpr size_t kHosts = 2;

  void SetUp() override {
    KernelTest::SetUp();
    if (IsSkipped()) return;
    network_ = std::make_unique<Network>();
    connect(network_->middle, "in", network_->sender, "sender");
    sender_ = std::make_unique<FrameSocket>(network_->sender, "sender");
    for (size_t host = 0; host < kHosts; ++host) {
      const std::string name = std::to_string(host);
      connect(network_->middle, "out" + name, network_->hosts[host], "host" + name);
      hosts_[host] = std::make_unique<FrameSocket>(network_->hosts[host], "host" + name);
    }
  }
  // Value 0 leads to the first host, 1 to the second one.
  [[nodiscard]] XdpLineMap attached(const Map& map) const {
    std::optional<XdpLineMap> xdp;
    network_->middle.inside([&] {
      XdpConfig config{.strangers = {.kind = kXdpDrop}};
      for (uint32_t host = 0; host < kHosts; ++host) {
        const std::string name = "out" + std::to_string(host);
        config.actions[host] = {.kind = kXdpRedirect, .interface = if_nametoindex(name.c_str())};
      }
      auto loaded = XdpLineMap::load(map.image(), config);
      ASSERT_TRUE(loaded) << loaded.error().message;
      xdp.emplace(std::move(loaded).value());
      const auto refused = xdp->attach("in", XdpMode::kNative);
      ASSERT_EQ(refused, std::nullopt) << refused->message;
    });
    return std::move(*xdp);
  }
  // Sends a frame to each, and calls take(key, host) for each that arrives, until all have or none
  // comes any more. A burst must fit into a wire's queue.
  template <class Take>
  void exchange(std::span<const uint64_t> keys, Take&& take) const {
    constexpr int kIdleMax = 10;
    constexpr int kWaitMs = 2;
    for (const uint64_t key : keys) ASSERT_TRUE(sender_->send(frame_to_mac(key)));
    size_t arrived = 0;
    for (int idle = 0; arrived < keys.size() && idle < kIdleMax;) {
      const size_t before = arrived;
      for (size_t host = 0; host < kHosts; ++host) {
        for (Frame frame = hosts_[host]->receive(idle == 0 ? 0 : kWaitMs); !frame.empty();
             frame = hosts_[host]->receive(0)) {
          take(mac_of(frame), host);
          ++arrived;
        }
      }
      idle = arrived == before ? idle + 1 : 0;
    }
  }

 private:
  struct Network {
    NetworkNamespace middle;
    NetworkNamespace sender;
    std::array<NetworkNamespace, kHosts> hosts;
  };
  std::unique_ptr<Network> network_;
  std::unique_ptr<FrameSocket> sender_;
  std::array<std::unique_ptr<FrameSocket>, kHosts> hosts_;
};

// Keys whose value is their place's parity.
std::vector<Map::Entry> entries_by_host(const std::vector<uint64_t>& keys) {
  std::vector<Map::Entry> entries;
  for (size_t i = 0; i < keys.size(); ++i)
    entries.push_back({keys[i], static_cast<uint32_t>(i % 2)});
  return entries;
}

TEST_F(XdpLive, each_frame_arrives_where_its_value_says_while_the_builder_changes_the_table) {
  constexpr size_t kStable = 4'000;
  constexpr size_t kBurst = 200;
  // Some that stay, some whose value is changed all the time, and others that come and go.
  const auto all = random_keys(20'000, 1, compact::kMac & kUnicast);
  const std::vector<uint64_t> stable(all.begin(), all.begin() + kStable);
  const std::vector<uint64_t> moving(all.begin() + kStable, all.begin() + 2 * kStable);
  const std::vector<uint64_t> coming(all.begin() + 2 * kStable, all.end());
  auto map =
      Map::build({.hash_seed = 1}, entries_by_host({all.begin(), all.begin() + 2 * kStable}));
  ASSERT_TRUE(map) << map.error().message;
  const XdpLineMap xdp = attached(map.value());
  ASSERT_EQ(map.value().move_image(xdp.memory()), std::nullopt);
  std::atomic<bool> is_over = false;
  std::atomic<uint64_t> changes = 0;
  std::thread writer([&] {
    traffic::Draw draw(2);
    while (!is_over.load(std::memory_order_relaxed)) {
      const auto value = static_cast<uint32_t>(draw.below(2));
      map.value().update(moving[draw.below(moving.size())], value);
      const uint64_t key = coming[draw.below(coming.size())];
      if (map.value().erase(key) != compact::ChangeOutcome::kDone) map.value().insert(key, value);
      changes.fetch_add(2, std::memory_order_relaxed);
    }
  });
  uint64_t sent = 0;
  std::array<uint64_t, 2> arrived{};  // of those that stay, and of those that move
  for (size_t round = 0; round < step_count(200); ++round) {
    std::vector<uint64_t> keys;
    for (size_t i = 0; i < kBurst; ++i) {
      const auto& from = i % 2 == 0 ? stable : moving;
      keys.push_back(from[(round * kBurst + i) % kStable]);
    }
    sent += keys.size();
    exchange(keys, [&](uint64_t key, size_t host) {
      const auto place = std::ranges::lower_bound(stable, key);
      const bool is_stable = place != stable.end() && *place == key;
      ++arrived[is_stable ? 0 : 1];
      if (is_stable) {
        EXPECT_EQ(host, static_cast<size_t>(place - stable.begin()) % 2) << key;
      } else {
        EXPECT_TRUE(std::ranges::binary_search(moving, key)) << key;
      }
    });
    if (HasFailure()) break;
  }
  is_over.store(true, std::memory_order_relaxed);
  writer.join();
  const XdpCounts counts = xdp.counts().value();
  EXPECT_EQ(arrived[0] + arrived[1], counts[kXdpRedirected]);
  EXPECT_EQ(counts[kXdpRedirected] + counts[kXdpBusy], sent);
  EXPECT_EQ(counts[kXdpStranger] + counts[kXdpValueUnassigned] + counts[kXdpPortGone], 0U);
  EXPECT_LT(counts[kXdpBusy], sent / 100);
  EXPECT_GT(changes.load(), 100U);
  EXPECT_EQ(map.value().audit(), std::nullopt);
}

TEST_F(XdpLive, strangers_and_erased_keys_arrive_nowhere) {
  auto keys = random_keys(1'000, 3, compact::kMac & kUnicast);
  auto map = Map::build({.fingerprint_bits = 16, .hash_seed = 1}, entries_by_host(keys));
  ASSERT_TRUE(map) << map.error().message;
  const XdpLineMap xdp = attached(map.value());
  ASSERT_EQ(map.value().move_image(xdp.memory()), std::nullopt);
  for (size_t i = 0; i < keys.size(); i += 10)
    EXPECT_EQ(map.value().erase(keys[i]), compact::ChangeOutcome::kDone);
  std::map<uint64_t, size_t> arrived;
  for (size_t at = 0; at < keys.size(); at += 200) {
    exchange(std::span(keys).subspan(at, 200),
             [&](uint64_t key, size_t host) { arrived[key] = host; });
  }
  for (size_t i = 0; i < keys.size(); ++i) {
    const auto place = arrived.find(keys[i]);
    EXPECT_EQ(place != arrived.end(), i % 10 != 0) << i;
    if (place != arrived.end()) {
      EXPECT_EQ(place->second, i % 2);
    }
  }
  EXPECT_EQ(xdp.counts().value()[kXdpStranger], keys.size() / 10);
}

}  // namespace
}  // namespace roost::xdp
