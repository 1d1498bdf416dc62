// Packets forwarded by value-only tables, from port to port. DPDK starts once a process: each test
// has one of its own.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "lab/contestants/value_line_up.h"
#include "lab/harness/pinned_core.h"
#include "lab/packets/capture_files.h"
#include "lab/tests/value_keys.h"
#include "lab/value_tables/value_forwarder.h"
#include "lab/value_tables/value_job.h"
#include "roost/capture/reader.h"
#include "roost/io/buffer_pool.h"
#include "roost/io/eal.h"
#include "roost/io/port.h"
#include "roost/node/worker_loop.h"

namespace roost::lab {
namespace {

constexpr std::array kForwarding = {"line_map", "parrot",      "roost_packed", "rte_hash",
                                    "ludo",     "chained_lmh", "cuckoo_2_4"};
constexpr uint16_t kPorts = 5;
constexpr uint64_t kFrames = 3'200;  // whole batches: a worker can stop after the last one
constexpr uint64_t kStrangers = 200;

// What all ports together did.
io::PortCounters counted(std::span<const io::Port> ports) {
  io::PortCounters all;
  for (const io::Port& port : ports) {
    all.received += port.counters().received;
    all.sent += port.counters().sent;
    all.refused += port.counters().refused;
  }
  return all;
}

// Frames of all keys of a set, and of strangers among them, which the first port plays again and
// again. What is sent stands in a file of each port.
class ForwardedSet {
 public:
  ForwardedSet(const std::string& name, uint32_t value_bits)
      : set_(keys_of(name, kFrames - kStrangers)),
        plan_({.key_bits = set_.key_bits, .value_bits = value_bits, .port_count = kPorts}) {
    const std::vector<uint64_t> drawn = draw_strangers(set_, kStrangers, 5);
    strangers_.insert(drawn.begin(), drawn.end());
    std::vector<uint64_t> keys = set_.keys;
    keys.insert(keys.end(), drawn.begin(), drawn.end());
    std::ranges::sort(keys, {}, mix);  // an order of chance
    const std::string in = folder_.file(kPorts);
    auto file = CaptureFiles::create({&in, 1});
    for (const uint64_t key : keys) file.value().write(0, plan_.frame_to(key));
    EXPECT_FALSE(file.value().finish());
    start(in);
  }

  // Each frame once; how many were sent.
  uint64_t forward_by(AnyValueTable<uint64_t>& table) {
    ValueForwarder forwarder(table, plan_);
    node::Worker worker(forwarder, ports_, {});
    const io::PortCounters before = counted(ports_);
    const auto is_over = [&] { return worker.counters().packets >= kFrames; };
    worker.run_live(io::TickClock(1.0), is_over, [](const node::WorkerCounters&) {});
    const io::PortCounters after = counted(ports_);
    const uint64_t dropped = worker.counters().drops[net::DropCause::kNoRoute];
    EXPECT_EQ(worker.counters().packets, kFrames);
    EXPECT_EQ(after.received - before.received, kFrames);
    EXPECT_EQ(after.refused, 0U);
    EXPECT_EQ(worker.counters().drops.sum(), dropped);
    EXPECT_EQ(after.sent - before.sent, kFrames - dropped);
    EXPECT_LE(dropped, kStrangers);
    if (table.keeps_keys()) {
      EXPECT_EQ(dropped, kStrangers);
    }
    return kFrames - dropped;
  }

  // By all tables that take these keys: how many these were, and what they sent.
  std::pair<uint64_t, uint64_t> forward_by_all() {
    const auto entries = entries_of_keys(set_.keys, plan_.value_bits);
    std::pair<uint64_t, uint64_t> done{};
    for (const char* name : kForwarding) {
      SCOPED_TRACE(name);
      const auto table = find_value_contestant<uint64_t>(name)->build(
          {.key_bits = plan_.key_bits, .value_bits = plan_.value_bits}, entries);
      if (!table) {
        EXPECT_EQ(table.error().message, "its keys have 48 bits");
        continue;
      }
      ++done.first;
      done.second += forward_by(*table.value());
    }
    return done;
  }

  // Of what ports sent: every frame of a known key as often as there were tables, unchanged, by the
  // port that its value says. Returns how many frames there are.
  uint64_t check_files(uint64_t tables) {
    ports_.clear();  // what they wrote is complete then
    std::map<uint64_t, uint64_t> times_sent;
    uint64_t written = 0;
    for (size_t port = 0; port < kPorts; ++port) {
      auto reader = capture::Reader::open(folder_.file(port)).value();
      for (auto frame = reader.next(); frame; frame = reader.next(), ++written) {
        const uint64_t key = plan_.key_of(frame->bytes.data());
        if (strangers_.contains(key)) continue;
        ++times_sent[key];
        EXPECT_TRUE(std::ranges::equal(frame->bytes, plan_.frame_to(key)));
        EXPECT_EQ(plan_.port_of(plan_.value_of_key(key)), port) << key;
      }
    }
    EXPECT_EQ(times_sent.size(), set_.keys.size());
    for (const auto& [key, times] : times_sent) EXPECT_EQ(times, tables) << key;
    return written;
  }

 private:
  void start(const std::string& in) {
    std::vector<std::string> words = {"--no-huge", "--no-pci", "--no-telemetry", "-m", "256"};
    for (size_t port = 0; port < kPorts; ++port) {
      words.push_back(fmt::format("--vdev=net_pcap{},tx_pcap={}", port, folder_.file(port)));
      if (port == 0) words.back() += ",infinite_rx=1,rx_pcap=" + in;
    }
    auto eal = io::Eal::start(words);
    ASSERT_TRUE(eal) << eal.error().message;
    eal_.emplace(std::move(eal).value());
    pool_.emplace(io::BufferPool::create({.buffer_count = 16'384}).value());
    for (uint16_t id = 0; id < kPorts; ++id)
      ports_.push_back(io::Port::create({.id = id}, *pool_).value());
  }

  KeySet<uint64_t> set_;
  ForwardingPlan plan_;
  std::set<uint64_t> strangers_;
  CaptureFolder folder_;
  std::optional<io::Eal> eal_;
  std::optional<io::BufferPool> pool_;
  std::vector<io::Port> ports_;
};

void check_forwarding(const std::string& set, uint32_t value_bits, uint64_t tables) {
  ForwardedSet forwarded(set, value_bits);
  const auto [tables_made, sent] = forwarded.forward_by_all();
  EXPECT_EQ(tables_made, tables);
  EXPECT_EQ(forwarded.check_files(tables), sent);
}

TEST(ValueForwarding, of_48_bit_destinations_leaves_where_each_table_says) {
  check_forwarding("mac", 8, 7);
}
TEST(ValueForwarding, of_64_bit_keys_leaves_where_each_table_says) {
  check_forwarding("arrivals", 16, 6);
}

// Known values, so that no rule of ours is what it is held against.
TEST(ForwardingPlan, has_keys_in_the_first_bytes_and_values_in_equal_runs) {
  const ForwardingPlan of_48{.key_bits = 48, .value_bits = 8, .port_count = 2};
  const Frame frame = of_48.frame_to(0x0a1b2c3d4e5f);
  EXPECT_TRUE(std::equal(
      frame.begin(), frame.begin() + 14,
      std::array<uint8_t, 14>{0x0a, 0x1b, 0x2c, 0x3d, 0x4e, 0x5f, 2, 0, 0, 0, 0, 0, 0x88, 0xb5}
          .begin()));
  EXPECT_EQ(of_48.key_of(frame.data()), 0x0a1b2c3d4e5fU);
  const ForwardingPlan of_64{.key_bits = 64, .value_bits = 16, .port_count = 4};
  EXPECT_EQ(of_64.frame_to(0x0a1b2c3d4e5f6071)[7], 0x71);
  EXPECT_EQ(of_64.key_of(of_64.frame_to(0x0a1b2c3d4e5f6071).data()), 0x0a1b2c3d4e5f6071U);
  for (const auto& [value, port] : {std::pair(0U, 0U), {127U, 0U}, {128U, 1U}, {255U, 1U}})
    EXPECT_EQ(of_48.port_of(value), port);
  for (const auto& [value, port] : {std::pair(0x3fffU, 0U), {0x4000U, 1U}, {0xffffU, 3U}})
    EXPECT_EQ(of_64.port_of(value), port);
}

TEST(ValueForwardJob, has_what_packets_take_beside_moving_them) {
  ValueJobConfig config;
  config.experiment = "test";
  config.contestants = {"parrot", "roost_packed", "rte_hash"};
  config.keys = {.name = "arrivals", .count = 2'000};
  config.zipf_exponents = {0.99};
  config.frames = 1'000;
  config.lookups = 4'000;
  config.core = last_allowed_core().value();
  config.rounds = 2;
  const auto rows = run_value_forward_job(config, [](double, const std::string&) {});
  ASSERT_TRUE(rows) << rows.error().message;
  std::map<std::string, size_t> timed;
  double different = 0;
  for (const RecordRow& row : rows.value()) {
    EXPECT_EQ(row.workload, "arrivals zipf 0.99");
    EXPECT_EQ(row.form, "1000 packets");
    EXPECT_EQ(row.entries, 2'000U);
    if (row.metric == "different_keys") different = row.value.value();
    if (row.contestant == "roost_packed") {
      EXPECT_EQ(row.note, "not run: its keys have 48 bits");
    }
    if (row.metric != "ns_per_packet") continue;
    ++timed[row.contestant];
    EXPECT_GE(row.operations, 4'000U);
    EXPECT_GT(row.value, 0);
    EXPECT_EQ(row.table_bytes > 0, !row.contestant.starts_with("raw_io"));
  }
  EXPECT_EQ(timed, (std::map<std::string, size_t>{
                       {"raw_io", 2}, {"raw_io_parse", 2}, {"parrot", 2}, {"rte_hash", 2}}));
  EXPECT_GT(different, 300);
  EXPECT_LT(different, 700);
}

}  // namespace
}  // namespace roost::lab
