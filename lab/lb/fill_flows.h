// Brings flows into a function's tables, by a packet of each.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "lab/lb/flows.h"
#include "lab/lb/frame_batch.h"
#include "roost/base/result.h"
#include "roost/expiry/tick.h"
#include "roost/memory/arena.h"
#include "roost/net/packet_batch.h"

namespace roost::lab {

// [timeouts] with which no flow is over before the last pass, however long a machine takes.
inline constexpr const char* kPacketTimeouts = "tcp_syn = 1000\ntcp_established = 1000\n";

// Errors: the function does not forward one of them.
template <class Function>
[[nodiscard]] std::optional<Error> fill_flows(Function& function, std::span<const uint32_t> flows,
                                              Tick now) {
  FrameBatch frames;
  while (!flows.empty()) {
    const size_t count = std::min(flows.size(), net::kBatchLanesMax);
    frames.clear();
    for (const uint32_t flow : flows.first(count)) frames.push(request_of(flow));
    function.process(frames.batch(), now);
    for (const net::LaneVerdict& verdict : frames.batch().verdicts())
      if (!verdict.is_forward()) return Error{"a flow was refused that the table has a place for"};
    flows = flows.subspan(count);
  }
  return {};
}

// Every flow is there, and was created once; else what is wrong.
[[nodiscard]] inline std::optional<Error> wrong_flows(uint64_t flows, uint64_t created,
                                                      uint64_t live) {
  if (created == flows && live == flows) return {};
  return Error{fmt::format("of {} flows {} were created and {} are live", flows, created, live)};
}

// All tables that are compared stand on pages of 2 MiB, where pages of 2 MiB are asked for.
[[nodiscard]] inline std::optional<Error> wrong_pages(const std::string& name, PageKind asked,
                                                      PageKind got) {
  if (asked != PageKind::kHuge2MiB || got == asked) return {};
  return Error{fmt::format("{}: its table is on pages of {}", name, page_kind_name(got))};
}

}  // namespace roost::lab
