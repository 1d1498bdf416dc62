// The oracles in the memory of a job's tables, as entrants beside the tables.
#pragma once

#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "lab/harness/any_oracle.h"
#include "lab/harness/rounds.h"
#include "lab/jobs/line_up_on_cores.h"

namespace roost::lab {

// Of one contender: asks its tables where the answer to every query of every stream is. Contender
// and streams outlive it and the tables do not change meanwhile.
class OwnOracles {
 public:
  OwnOracles(const Contender& contender, std::span<const NamedStream> streams);

  // One an oracle that takes such a call. They refer to this object.
  [[nodiscard]] std::vector<Entrant> entrants(Call call) const;

 private:
  using Oracles = std::vector<std::unique_ptr<AnyOracle>>;

  const Contender* contender_;
  std::unordered_map<const Stream*, Oracles> by_stream_;
};

}  // namespace roost::lab
