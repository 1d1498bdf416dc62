#include "apps/nat/datapath/translator_impl.h"

namespace roost::nat {

template class BasicTranslator<conntrack::OwnTables>;

}  // namespace roost::nat
