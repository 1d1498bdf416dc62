// The oracles: four shapes, each with every hint.
#include "lab/contestants/line_oracle.h"
#include "lab/contestants/line_up.h"

namespace roost::lab {
namespace {

template <class Shape>
void add(std::vector<ContestantEntry>& list) {
  list.push_back(contestant<LineOracle<Shape, PrefetchHint::kT0>>());
  list.push_back(contestant<LineOracle<Shape, PrefetchHint::kT1>>());
  list.push_back(contestant<LineOracle<Shape, PrefetchHint::kNta>>());
}

}  // namespace

std::vector<ContestantEntry> oracle_line_up() {
  std::vector<ContestantEntry> list;
  add<TwoLines>(list);
  add<InlineTwo>(list);
  add<InlineThree>(list);
  add<Packed>(list);
  return list;
}

}  // namespace roost::lab
