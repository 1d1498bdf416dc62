#include "apps/lb/datapath/family_beginnings_impl.h"
#include "apps/lb/datapath/family_errors_impl.h"
#include "apps/lb/datapath/family_path_impl.h"
#include "apps/lb/datapath/family_proxy_impl.h"
#include "apps/lb/datapath/family_translation_impl.h"

namespace roost::lb {

template class FamilyPath<net::Ipv4Address>;
template class FamilyPath<net::Ipv6Address>;

}  // namespace roost::lb
