// What this process holds of a program that is attached.
#pragma once

#include <cstdint>
#include <string>

#include "roost/base/file_descriptor.h"
#include "targets/xdp/kernel_calls.h"
#include "targets/xdp/xdp_line_map.h"

namespace roost::xdp {

struct AttachedXdp::State {
  std::string interface;
  unsigned index;
  XdpMode mode;
  FileDescriptor program;
  FileDescriptor counts;
  MappedArray lines;
};

}  // namespace roost::xdp
