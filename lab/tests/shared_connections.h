// Connections that threads share: what the tests of them have in common. Beside the code under
// test each index has a word that says whose it is.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "lab/store/common_records.h"
#include "lab/store/common_values.h"
#include "roost/net/flow_key.h"
#include "roost/traffic/draw.h"

namespace roost::lab {

inline net::FlowKey4 key_of_number(uint64_t number) {
  net::FlowKey4 key;
  key.source_port = static_cast<uint16_t>(number);
  key.destination_port = static_cast<uint16_t>(number >> 16);
  key.protocol = net::IpProtocol::kTcp;
  return key;
}
inline uint64_t number_of(const net::FlowKey4& key) {
  return key.source_port | uint64_t{key.destination_port} << 16;
}

// Whose each index is, and how many connections of each key have ended. Its words order nothing, so
// that the thread sanitizer sees what the code under test orders.
class IndexOracle {
 public:
  IndexOracle(uint32_t indices, uint64_t keys) : owners_(indices), ended_(keys) {}

  // By who has begun a connection, before anybody may end it.
  void begun(uint64_t number, uint32_t index) {
    if (owners_[index].exchange(number + 1, std::memory_order_relaxed) != 0) note_wrong();
  }
  void ended(uint64_t number, uint32_t index) {
    if (owners_[index].exchange(0, std::memory_order_relaxed) != number + 1) note_wrong();
    ended_[number].fetch_add(1, std::memory_order_relaxed);
  }
  [[nodiscard]] uint64_t ended_of(uint64_t number) const {
    return ended_[number].load(std::memory_order_relaxed);
  }
  // Whether an index has had two owners at a time, or lost one that it did not have.
  [[nodiscard]] bool is_wrong() const { return is_wrong_.load(std::memory_order_relaxed); }

 private:
  void note_wrong() { is_wrong_.store(true, std::memory_order_relaxed); }

  std::vector<std::atomic<uint64_t>> owners_;  // a key's number and one; 0: nobody
  std::vector<std::atomic<uint64_t>> ended_;
  std::atomic<bool> is_wrong_{false};
};

struct TellOracle {
  IndexOracle* oracle;
  void operator()(const net::FlowKey4& key, uint32_t index) const {
    oracle->ended(number_of(key), index);
  }
};

using SharedRecords = CommonRecords<net::FlowKey4, TellOracle>;

// Now and then a thread is stopped in the middle of what it does.
inline void pause_now_and_then() {
  static thread_local traffic::Draw draw(1);
  if (draw.below(50) == 0) std::this_thread::sleep_for(std::chrono::microseconds(1));
}

// A table in which that happens between finding keys and using what was found.
class PausingTable final : public SmallValues<net::FlowKey4> {
 public:
  explicit PausingTable(std::unique_ptr<SmallValues<net::FlowKey4>> table)
      : table_(std::move(table)) {}
  size_t lookup(KeyPointers<net::FlowKey4> keys, std::span<uint32_t> out, HitWords hits) override {
    const size_t found = table_->lookup(keys, out, hits);
    pause_now_and_then();
    return found;
  }
  bool insert(const net::FlowKey4& key, uint32_t value) override {
    return table_->insert(key, value);
  }
  bool erase(const net::FlowKey4& key) override { return table_->erase(key); }
  [[nodiscard]] uint64_t size() const override { return table_->size(); }
  [[nodiscard]] uint64_t memory_bytes() const override { return table_->memory_bytes(); }

 private:
  std::unique_ptr<SmallValues<net::FlowKey4>> table_;
};

inline CommonViews pausing(CommonViews views) {
  for (auto& view : views) view = std::make_unique<PausingTable>(std::move(view));
  return views;
}

// The parameter names the table (common_values.h).
class SharedConnections : public testing::TestWithParam<const char*> {
 protected:
  static constexpr size_t kThreads = 2;

  // A view for each thread.
  static CommonViews make_table(uint32_t records) {
    const auto kinds = sharing_kinds();
    const auto kind = std::ranges::find(kinds, GetParam(), &SharingKind::name);
    return kind
        ->make({.capacity = records * 10 / 8 + 64, .entries_max = records, .hash_seed = 1},
               kThreads)
        .value();
  }
  static SharedRecords::Views make(uint32_t records, IndexOracle& oracle) {
    return SharedRecords::create(make_table(records), records, {}, {&oracle}).value();
  }
};

}  // namespace roost::lab
