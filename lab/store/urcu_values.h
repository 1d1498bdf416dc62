// liburcu's hash table (cds_lfht): lookups without locks under RCU, chains in the order of the
// reversed hash. It is made with as many chains as entries and does not grow.
#pragma once

#include <urcu/rculfhash.h>
#include <urcu/urcu-bp.h>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "lab/contestants/map_contestant.h"
#include "lab/store/locked_values.h"

namespace roost::lab {

// Any thread may call any function at any time. What was erased is used again after a grace period,
// which is waited for once in kGraceNodes erasures.
template <class KeyT>
class UrcuValues {
 public:
  using Key = KeyT;

  explicit UrcuValues(uint64_t entries)
      : nodes_(entries + 4 * kGraceNodes),
        table_(cds_lfht_new_flavor(std::bit_ceil(entries), std::bit_ceil(entries),
                                   std::bit_ceil(entries), 0, &urcu_bp_flavor, nullptr)) {
    for (Node& node : nodes_) free_.push_back(&node);
  }
  UrcuValues(const UrcuValues&) = delete;
  UrcuValues& operator=(const UrcuValues&) = delete;
  ~UrcuValues() {
    urcu_bp_read_lock();
    cds_lfht_iter at;
    for (cds_lfht_first(table_, &at); cds_lfht_iter_get_node(&at) != nullptr;
         cds_lfht_next(table_, &at))
      cds_lfht_del(table_, cds_lfht_iter_get_node(&at));
    urcu_bp_read_unlock();
    cds_lfht_destroy(table_, nullptr);
  }

  bool find(const Key& key, uint32_t& value) const {
    urcu_bp_read_lock();
    const Node* node = find_node(key);
    if (node != nullptr) value = node->value;
    urcu_bp_read_unlock();
    return node != nullptr;
  }
  void insert(const Key& key, uint32_t value) {
    Node* node = take();
    node->key = key;
    node->value = value;
    urcu_bp_read_lock();
    cds_lfht_node* replaced = cds_lfht_add_replace(table_, hash_(key), matches, &key, &node->link);
    urcu_bp_read_unlock();
    if (replaced != nullptr) give_back(node_of(replaced));
  }
  bool erase(const Key& key) {
    urcu_bp_read_lock();
    Node* node = find_node(key);
    const bool is_mine = node != nullptr && cds_lfht_del(table_, &node->link) == 0;
    urcu_bp_read_unlock();
    if (is_mine) give_back(node);
    return is_mine;
  }
  [[nodiscard]] uint64_t size() const {
    const std::scoped_lock guard(pool_lock_);
    return nodes_.size() - free_.size() - waiting_.size();
  }

 private:
  static constexpr size_t kGraceNodes = 4'096;

  struct Node {
    cds_lfht_node link;
    Key key;
    uint32_t value;
  };

  static Node* node_of(cds_lfht_node* link) { return reinterpret_cast<Node*>(link); }
  static int matches(cds_lfht_node* link, const void* key) {
    return node_of(link)->key == *static_cast<const Key*>(key) ? 1 : 0;
  }
  [[nodiscard]] Node* find_node(const Key& key) const {
    cds_lfht_iter at;
    cds_lfht_lookup(table_, hash_(key), matches, &key, &at);
    cds_lfht_node* found = cds_lfht_iter_get_node(&at);
    return found == nullptr ? nullptr : node_of(found);
  }
  [[nodiscard]] Node* take() {
    const std::scoped_lock guard(pool_lock_);
    Node* node = free_.back();
    free_.pop_back();
    return node;
  }
  void give_back(Node* node) {
    std::vector<Node*> over;
    {
      const std::scoped_lock guard(pool_lock_);
      waiting_.push_back(node);
      if (waiting_.size() < kGraceNodes) return;
      over.swap(waiting_);
    }
    urcu_bp_synchronize_rcu();
    const std::scoped_lock guard(pool_lock_);
    free_.insert(free_.end(), over.begin(), over.end());
  }

  std::vector<Node> nodes_;
  cds_lfht* table_;
  KeyHash<Key> hash_{};
  mutable Spinlock pool_lock_;
  std::vector<Node*> free_;
  std::vector<Node*> waiting_;  // for a grace period
};

}  // namespace roost::lab
