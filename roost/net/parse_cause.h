// Why a packet that did not parse is dropped.
#pragma once

#include <optional>

#include "roost/net/drop_cause.h"
#include "roost/net/parse.h"

namespace roost::net {

// Nothing of whole packets and of fragments.
[[nodiscard]] constexpr std::optional<DropCause> drop_cause_of(ParseVerdict verdict) {
  using enum ParseVerdict;
  switch (verdict) {
    case kOk:
    case kFragment:
      return {};
    case kTruncated:
      return DropCause::kTruncated;
    case kSplitHeaders:
      return DropCause::kSplitHeaders;
    case kNotIp:
      return DropCause::kNotIp;
    case kBadHeader:
      return DropCause::kBadHeader;
    case kBadChecksum:
      return DropCause::kBadChecksum;
    case kBadFragment:
      return DropCause::kBadFragment;
    case kIpv4SourceRoute:
      return DropCause::kIpv4SourceRoute;
    case kIpv6RoutingHeader:
      return DropCause::kIpv6RoutingHeader;
    case kTooManyExtensionHeaders:
      return DropCause::kTooManyExtensionHeaders;
    case kUnsupportedProtocol:
      return DropCause::kUnsupportedProtocol;
  }
  return DropCause::kBadHeader;
}

}  // namespace roost::net
