// What a classifier counts.
#pragma once

#include <array>
#include <cstdint>

#include "roost/base/counter.h"

namespace roost::classify {

// packets = cache_hits + megaflow_hits + rule_hits + unmatched.
struct ClassifierCounters {
  uint64_t packets = 0;
  uint64_t cache_hits = 0;
  uint64_t megaflow_hits = 0;
  uint64_t rule_hits = 0;
  uint64_t unmatched = 0;
  uint64_t cache_lookups = 0;
  uint64_t cache_kept = 0;
  uint64_t cache_switches = 0;
  uint64_t megaflow_lookups = 0;
  uint64_t megaflows_created = 0;
  uint64_t megaflows_removed = 0;
  uint64_t megaflows_idle = 0;
  uint64_t megaflow_overflows = 0;
  uint64_t rule_lookups = 0;
  uint64_t rules_added = 0;
  uint64_t rules_erased = 0;
};

inline constexpr std::array kClassifierCounters = {
    Counter{"packets", &ClassifierCounters::packets, "packets classified, by what answered them"},
    Counter{"cache_hits", &ClassifierCounters::cache_hits,
            "packets answered by the exact-match cache"},
    Counter{"megaflow_hits", &ClassifierCounters::megaflow_hits, "packets answered by a megaflow"},
    Counter{"rule_hits", &ClassifierCounters::rule_hits,
            "packets answered by a search of the rules that found one"},
    Counter{"unmatched", &ClassifierCounters::unmatched,
            "packets for which a search of the rules found none"},
    Counter{"cache_lookups", &ClassifierCounters::cache_lookups,
            "packets looked up in the exact-match cache: the others came while it was off"},
    Counter{"cache_kept", &ClassifierCounters::cache_kept, "answers kept in the exact-match cache"},
    Counter{"cache_switches", &ClassifierCounters::cache_switches,
            "times that the flow register put the exact-match cache in use or out of it"},
    Counter{"megaflow_lookups", &ClassifierCounters::megaflow_lookups,
            "lookups of a packet in a subtable of megaflows"},
    Counter{"megaflows_created", &ClassifierCounters::megaflows_created,
            "megaflows created = removed + idle + live"},
    Counter{"megaflows_removed", &ClassifierCounters::megaflows_removed,
            "megaflows removed by a change of rules"},
    Counter{"megaflows_idle", &ClassifierCounters::megaflows_idle,
            "megaflows removed after a time without hits"},
    Counter{"megaflow_overflows", &ClassifierCounters::megaflow_overflows,
            "answers not kept: too many megaflows or masks"},
    Counter{"rule_lookups", &ClassifierCounters::rule_lookups,
            "lookups of a packet in a subtable of rules"},
    Counter{"rules_added", &ClassifierCounters::rules_added, "rules added = erased + live"},
    Counter{"rules_erased", &ClassifierCounters::rules_erased, "rules erased"},
};
static_assert(lists_all(kClassifierCounters));

}  // namespace roost::classify
