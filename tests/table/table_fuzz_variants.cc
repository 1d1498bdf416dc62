// The papers' variants of probing under the table's fuzz target.
#include <array>

#include "roost/table/horton_probing.h"
#include "tests/table/table_fuzz.h"

namespace roost {
namespace {

constexpr std::array<FuzzConfiguration, 8> kVariants = {
    run<Small<PessimisticProbing<8>>, 64, 90>,
    run<Wide<PessimisticProbing<4>, NoExpiry>, 48, 70>,
    run<Small<PessimisticProbing<2>, NoExpiry>, 32, 50, kOneTagSeed>,
    run<Small<PessimisticProbing<1>>, 32, 30>,
    run<Small<HortonProbing>, 64, 90>,
    run<Small<HortonProbing>, 512, 600>,
    run<Small<HortonProbing>, 64, 40, kConstantSeed>,
    run<Wide<HortonProbing, NoExpiry>, 128, 150, kOneTagSeed>,
};

}  // namespace

std::span<const FuzzConfiguration> fuzzed_variants() { return kVariants; }

}  // namespace roost
