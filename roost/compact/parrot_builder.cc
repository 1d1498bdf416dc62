#include "roost/compact/parrot_builder_impl.h"

namespace roost::compact {

template class BasicParrotBuilder<AtomicWords>;

}  // namespace roost::compact
