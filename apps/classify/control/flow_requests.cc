#include "apps/classify/control/flow_requests.h"

#include <algorithm>

namespace roost::classifying {

bool EraseRequest::step() {
  const size_t end = std::min(ids_.size(), next_ + kFlowsOfStep);
  for (; next_ < end; ++next_) state_.pipeline().tables().erase(ids_[next_]);
  return next_ == ids_.size();
}

bool CountsRequest::step() {
  const size_t end = std::min(ids_.size(), counts_.size() + kFlowsOfStep);
  while (counts_.size() < end) {
    counts_.push_back(state_.pipeline()
                          .tables()
                          .counts(ids_[counts_.size()])
                          .value_or(classify::RuleTable::Counts{}));
  }
  return counts_.size() == ids_.size();
}

bool MasksRequest::step() {
  for (size_t number = 0; number < tables_.size(); ++number) {
    const classify::Classifier* const table = state_.pipeline().tables().table(number);
    TableMasks& masks = tables_[number];
    masks = {};
    if (table == nullptr) continue;
    for (size_t place = 0; place < table->mask_count(); ++place) {
      masks.masks.push_back(table->mask_at(place));
      masks.rules.push_back(table->rules_at(place));
    }
    masks.megaflows = table->megaflow_count();
    masks.megaflow_masks = table->megaflow_mask_count();
    masks.active_flows = table->active_flows().flows;
    masks.is_cache_used = table->is_cache_used();
  }
  return true;
}

}  // namespace roost::classifying
