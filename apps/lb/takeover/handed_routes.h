// Routes of [announce] on their way from one process to another.
#pragma once

#include <vector>

#include "roost/base/file_descriptor.h"
#include "roost/net/address.h"

namespace roost::lb {

struct HandedRoutes {
  FileDescriptor device;  // while any process holds it open, the routes stand
  std::vector<net::IpAddress> addresses{};
};

}  // namespace roost::lb
