#include "roost/control/connection_walk.h"

#include "roost/base/assert.h"

namespace roost::control {

ConnectionWalk::ConnectionWalk(const Config& config) : place(config.place), config_(config) {
  if (config.action == ConnectionAction::kList) {
    ROOST_ASSERT(config.rows_max >= kRowsMin);
    rows.reserve(config.rows_max + kRowsMin);
  }
  for (size_t family = 0; family < counts.size(); ++family) {
    counts[family].resize(config.filter->owners[family].size());
  }
}

bool ConnectionWalk::step() {
  for (int i = 0; i < kBucketsAStep; ++i) {
    if (place.is_end() || is_page_full_) return true;
    if (!walk_next_bucket()) place = {place.family + 1, 0};
  }
  return place.is_end() || is_page_full_;
}

// Rows that the page has no room for are the next page's, with their whole bucket.
bool ConnectionWalk::walk_next_bucket() {
  const size_t rows_before = rows.size();
  Cursor cursor{place.slot};
  const bool has_more = walk_bucket(cursor);
  if (config_.action == ConnectionAction::kList && rows.size() > config_.rows_max) {
    matched -= rows.size() - rows_before;
    rows.resize(rows_before);
    is_page_full_ = true;
    return true;
  }
  place.slot = cursor.next_slot;
  return has_more;
}

bool ConnectionWalk::admits(const net::IpAddress& client,
                            const conntrack::Connection& connection) const {
  const ConnectionFilter& filter = *config_.filter;
  return filter.states[static_cast<size_t>(connection.state)] &&
         filter.classes[static_cast<size_t>(connection.flow_class())] &&
         filter.owners[place.family][connection.owner] &&
         (!filter.client || filter.client->contains(client));
}

void ConnectionWalk::count(size_t family, const conntrack::Connection& connection) {
  ++counts[family][connection.owner][static_cast<size_t>(connection.state)];
  ++class_counts[static_cast<size_t>(connection.flow_class())];
}

}  // namespace roost::control
