#include "roost/conntrack/mapped_ends.h"

#include "roost/conntrack/tracker_impl.h"

namespace roost::conntrack {

template class ConnectionTable<MappedEnds>;
template class FamilyTracker<MappedEnds>;

}  // namespace roost::conntrack
