#include "lab/contestants/value_line_up.h"

#include "lab/contestants/chained_lmh.h"
#include "lab/contestants/compact_tables.h"
#include "lab/contestants/cuckoo_2_4.h"
#include "lab/contestants/ludo.h"
#include "lab/contestants/othello.h"
#include "lab/contestants/packed_values.h"
#include "lab/contestants/rte_efd.h"
#include "lab/contestants/rte_hash_values.h"
#include "roost/compact/line_map_builder_impl.h"

namespace roost::lab {
namespace {

template <class Key>
std::vector<ValueContestant<Key>> of_any_keys() {
  return {value_contestant<LineMapTable<Key>>(),
          value_contestant<LineMapTable<Key, 8>>(),
          value_contestant<SharedLineMapTable<Key>>(),
          value_contestant<Ludo<Key>>(),
          value_contestant<Othello<Key>>(),
          value_contestant<ChainedLmh<Key>>(),
          value_contestant<Cuckoo24<Key>>(),
          value_contestant<RteHashValues<Key>>(),
          value_contestant<RteEfd<Key>>()};
}

}  // namespace

template <>
const std::vector<ValueContestant<uint64_t>>& value_line_up() {
  static const auto all = [] {
    auto list = of_any_keys<uint64_t>();
    list.push_back(value_contestant<ParrotTable<>>());
    list.push_back(value_contestant<ParrotTable<compact::InsertionPolicy::kReseed>>());
    list.push_back(value_contestant<PackedValues>());
    return list;
  }();
  return all;
}

template <>
const std::vector<ValueContestant<traffic::Key104>>& value_line_up() {
  static const auto all = of_any_keys<traffic::Key104>();
  return all;
}

}  // namespace roost::lab
