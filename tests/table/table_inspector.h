// Breaks a table by hand, so that audit() can be seen to name what is broken.
#pragma once

#include "roost/table/flow_table.h"

namespace roost {

struct TableInspector {
  template <class Table>
  static auto& engine(Table& table) {
    return table.core().engine();
  }
  template <class Table>
  static auto& line(Table& table, BucketIndex bucket) {
    return engine(table).layout().edit(bucket);
  }
  template <class Table>
  static TableStats& stats(Table& table) {
    return engine(table).stats();
  }
  // Moves an entry to its other bucket, as a kick path does; `to` must be free.
  template <class Table>
  static void move(Table& table, SlotRef from, SlotRef to) {
    engine(table).placement().move_entry(from, to);
  }
};

}  // namespace roost
