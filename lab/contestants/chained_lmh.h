// A hash table whose hash is a learned model, with chains: an RMI of the sorted keys gives the
// bucket, which has room for one entry; others are chained behind it (PAR-16).
//
//   buckets, n / load   key | value | next      chained entries   key | value | next
//
// Of the RMIs of 128, 4,096 and 65,536 lines it takes the one that needs fewest bytes, as Parrot
// does. A link has 32 bits, an entry of 64-bit keys so 16 bytes; the paper's links have 64.
// Keys on which no RMI is even are refused: a lookup would walk far.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lab/contestants/staged_batch.h"
#include "lab/harness/value_contestant.h"
#include "roost/base/hit_words.h"
#include "roost/base/result.h"
#include "roost/compact/model_builder.h"
#include "roost/compact/parrot_plan.h"
#include "roost/memory/arena.h"

namespace roost::lab {

// The keys' words, which are sorted.
template <class Key>
std::vector<uint64_t> model_words(ValueEntries<Key> entries) {
  std::vector<uint64_t> words(entries.size());
  for (size_t i = 0; i < entries.size(); ++i) words[i] = model_word(entries[i].key);
  return words;
}

// An RMI for chains of capacity 1, and what comes of it.
struct ChainPlan {
  static constexpr std::array<uint32_t, 3> kLinesTried = {128, 4'096, 65'536};
  static constexpr double kStepsMax = 32;  // of a lookup on average

  compact::BuiltModel model;
  uint64_t bucket_count = 0;
  uint64_t chained = 0;
  double steps = 0;  // entries that a lookup looks at, on average

  static Result<ChainPlan> make(std::span<const uint64_t> words, double load, size_t entry_bytes);
};

template <class Key>
class ChainedLmh : public ValueAnswers<Key> {
 public:
  static constexpr std::string_view kName = "chained_lmh";
  static constexpr bool kKeepsKeys = true;

  static Result<ChainedLmh> build(const ValueTableConfig& config, ValueEntries<Key> entries) {
    const std::vector<uint64_t> words = model_words(entries);
    auto plan = ChainPlan::make(words, config.load, sizeof(Node));
    if (!plan) return plan.error();
    ChainedLmh table(std::move(plan).value(), entries.size());
    auto memory = Arena::map(table.node_count() * sizeof(Node), {.pages = config.pages});
    if (!memory) return memory.error();
    table.memory_ = std::make_shared<Arena>(std::move(memory).value());
    table.fill(entries, words);
    return table;
  }

  void lookup(std::span<const Key> keys, std::span<uint32_t> answers, HitWords hits) const {
    using Group = std::array<const Node*, kStagedLanes>;
    const compact::MonotoneModel model = model_->view();
    run_staged<Group>(
        keys.size(),
        [&](size_t first, size_t count, Group& nodes) {
          for (size_t lane = 0; lane < count; ++lane) {
            nodes[lane] = nodes_ + model.bucket_of(model_word(keys[first + lane]));
            prefetch_both(reinterpret_cast<const std::byte*>(nodes[lane]), sizeof(Node));
          }
        },
        [&](size_t first, size_t count, Group& nodes) {
          uint32_t found = 0;
          auto lanes = static_cast<uint32_t>((uint64_t{1} << count) - 1);
          while (lanes != 0) {  // each time round all lanes go one entry on
            uint32_t further = 0;
            for (uint32_t left = lanes; left != 0; left &= left - 1) {
              const auto lane = static_cast<size_t>(std::countr_zero(left));
              const Node& node = *nodes[lane];
              if (node.value != kEmpty && node.key == keys[first + lane]) {
                answers[first + lane] = node.value;
                found |= uint32_t{1} << lane;
              } else if (node.next != 0) {
                nodes[lane] = nodes_ + node.next;
                prefetch_both(reinterpret_cast<const std::byte*>(nodes[lane]), sizeof(Node));
                further |= uint32_t{1} << lane;
              }
            }
            lanes = further;
          }
          hits.write_group(first, found);
        });
  }

  // Buckets are in order, and so are the entries of each.
  size_t scan(const Key& low, const Key& high, std::span<uint32_t> values) const {
    const uint64_t first = model_word(low);
    const uint64_t last = model_word(high);
    size_t count = 0;
    for (uint64_t bucket = model_->view().bucket_of(first); bucket < bucket_count_; ++bucket) {
      for (const Node* node = nodes_ + bucket;; node = nodes_ + node->next) {
        if (node->value != kEmpty && model_word(node->key) > last) return count;
        if (node->value != kEmpty && model_word(node->key) >= first) {
          if (count == values.size()) return count;
          values[count++] = node->value;
        }
        if (node->next == 0) break;
      }
    }
    return count;
  }

  [[nodiscard]] uint64_t image_bytes() const {
    return node_count() * sizeof(Node) + compact::MonotoneModel::bytes_of(model_->head);
  }
  [[nodiscard]] uint64_t builder_bytes() const { return 0; }
  [[nodiscard]] const void* image_address() const { return nodes_; }
  [[nodiscard]] std::vector<ValueFact> facts() const {
    return {{"chained_share", static_cast<double>(chained_) / static_cast<double>(key_count_),
             "RMI of " + std::to_string(model_->head.line_count) + " lines"}};
  }

 private:
  static constexpr uint32_t kEmpty = UINT32_MAX;
  struct Node {
    Key key;
    uint32_t value;
    uint32_t next;  // 0: none
  };
  static_assert(sizeof(Node) == (sizeof(Key) == 8 ? 16 : 24));

  ChainedLmh(ChainPlan plan, uint64_t key_count)
      : model_(std::make_shared<compact::BuiltModel>(std::move(plan.model))),
        key_count_(key_count),
        bucket_count_(plan.bucket_count),
        chained_(plan.chained) {}

  // Chained ones are behind the buckets; number 0 is a bucket, so no link leads to it.
  [[nodiscard]] uint64_t node_count() const { return bucket_count_ + chained_; }

  void fill(ValueEntries<Key> entries, std::span<const uint64_t> words) {
    nodes_ = reinterpret_cast<Node*>(memory_->data());
    for (uint64_t bucket = 0; bucket < bucket_count_; ++bucket) nodes_[bucket].value = kEmpty;
    auto end = static_cast<uint32_t>(bucket_count_);
    compact::for_each_bucket(model_->view(), words,
                             [&](uint64_t bucket, size_t first, size_t count) {
                               Node* node = nodes_ + bucket;
                               for (size_t i = first; i < first + count; ++i) {
                                 if (i > first) {
                                   node->next = end;
                                   node = nodes_ + end++;
                                 }
                                 *node = {entries[i].key, entries[i].value, 0};
                               }
                             });
  }

  std::shared_ptr<compact::BuiltModel> model_;
  uint64_t key_count_;
  uint64_t bucket_count_;
  uint64_t chained_;
  std::shared_ptr<Arena> memory_;
  Node* nodes_ = nullptr;
};

}  // namespace roost::lab
