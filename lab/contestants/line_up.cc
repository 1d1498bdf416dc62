#include "lab/contestants/line_up.h"

#include <algorithm>

namespace roost::lab {
namespace {

const std::vector<ContestantEntry>& line_up() {
  static const std::vector<ContestantEntry> all = [] {
    std::vector<ContestantEntry> lists = roost_line_up();
    for (const auto& list :
         {cuckoo_switch_line_up(), dpdk_line_up(), map_line_up(), oracle_line_up()})
      lists.insert(lists.end(), list.begin(), list.end());
    return lists;
  }();
  return all;
}

}  // namespace

const ContestantEntry* find_contestant(std::string_view name) {
  const auto found = std::find_if(line_up().begin(), line_up().end(),
                                  [name](const auto& entry) { return entry.name == name; });
  return found == line_up().end() ? nullptr : &*found;
}

std::vector<std::string_view> contestant_names() {
  std::vector<std::string_view> names;
  for (const ContestantEntry& entry : line_up()) names.push_back(entry.name);
  return names;
}

}  // namespace roost::lab
