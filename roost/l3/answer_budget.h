// How many answers of a kind are sent to packets that nobody asked for: at most a thousand a
// second, fifty of them to one address, and as many at once.
//
// The destinations' own budgets are kept by a keyed hash of the address: that two share one is
// rare, and cannot be arranged.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "roost/expiry/tick.h"
#include "roost/expiry/token_bucket.h"
#include "roost/hash/keyed_hash.h"
#include "roost/net/address.h"

namespace roost::l3 {

// One worker's.
class AnswerBudget {
 public:
  AnswerBudget(double tick_seconds, uint64_t hash_seed);

  // Takes one for an answer to this address; false when there is none left. `now` must not run
  // backwards. Constant time.
  [[nodiscard]] bool take(Tick now, const net::IpAddress& destination);

 private:
  static constexpr size_t kDestinations = 1'024;

  TokenBucket all_;
  std::vector<TokenBucket> by_destination_;
  KeyedHash hash_;
};

}  // namespace roost::l3
