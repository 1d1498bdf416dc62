// The general-purpose maps.
#include "lab/contestants/absl_flat_hash_map.h"
#include "lab/contestants/boost_flat_map.h"
#include "lab/contestants/chained_map.h"
#include "lab/contestants/google_dense_hash_map.h"
#include "lab/contestants/google_sparse_hash_map.h"
#include "lab/contestants/libcuckoo_map.h"
#include "lab/contestants/line_up.h"
#include "lab/contestants/mac_maps.h"
#include "lab/contestants/std_unordered_map.h"
#include "lab/contestants/tbb_concurrent_hash_map.h"
#include "lab/contestants/tsl_hopscotch_map.h"
#include "lab/contestants/tsl_robin_map.h"

namespace roost::lab {

std::vector<ContestantEntry> map_line_up() {
  return {
      contestant<MapContestant<BoostFlatMap>>(),
      contestant<MapContestant<AbslFlatHashMap>>(),
      contestant<MapContestant<TslRobinMap>>(),
      contestant<MapContestant<TslHopscotchMap>>(),
      contestant<MapContestant<TslRobinMap95>>(),
      contestant<MapContestant<TslHopscotchMap95>>(),
      contestant<MapContestant<GoogleDenseHashMap>>(),
      contestant<MapContestant<GoogleSparseHashMap>>(),
      contestant<MapContestant<LibcuckooMap>>(),
      contestant<MapContestant<TbbConcurrentHashMap>>(),
      contestant<MapContestant<StdUnorderedMap>>(),
      contestant<MapContestant<ChainedMap>>(),
      contestant<MacMapContestant<TbbMacMap>>(),
      contestant<MacMapContestant<StdMacMap>>(),
      contestant<MacMapContestant<SparseMacMap>>(),
      contestant<MacMapContestant<DenseMacMap>>(),
      contestant<MacMapContestant<DenseIdentityMacMap>>(),
  };
}

}  // namespace roost::lab
