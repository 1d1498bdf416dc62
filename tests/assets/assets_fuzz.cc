// Any bytes as frames: each is consumed or dropped for a listed cause, the sums close, and hosts
// and services are whole. And any bytes as a configuration.
#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

#include "apps/assets/config/config.h"
#include "apps/assets/datapath/datapath.h"
#include "roost/assets/asset_causes.h"
#include "roost/base/assert.h"

namespace {

using namespace roost;
using namespace roost::assets;

// Whatever they hold, the fingerprint is words.
void check(AssetTable& table) {
  ROOST_ASSERT(table.audit());
  for (const Host& host : table.hosts()) {
    ROOST_ASSERT(host.first <= host.last && host.key.mac.is_station());
    if (host.value.syn) ROOST_ASSERT(host.value.syn->format().size() < 128);
  }
}

void observe(const uint8_t* data, size_t size) {
  Observer observer =
      Observer::create(
          {.table = {.hosts_max = 4, .services_max = 2, .hash_seed = 1}, .answer_ticks = 30})
          .value();
  Datapath datapath(observer);
  uint64_t frames = 0;
  uint64_t dropped = 0;
  for (size_t at = 0; at < size;) {
    const size_t length = std::min(size - at, size_t{data[at]} + 1);
    std::vector<uint8_t> frame(data + at, data + at + length);
    at += length;
    const auto bytes = static_cast<uint32_t>(length);
    net::PacketBatch batch;
    batch.push({.data = frame.data(), .contiguous_bytes = bytes, .total_bytes = bytes});
    datapath.process(batch, Tick{++frames});
    const net::LaneVerdict verdict = batch.verdicts()[0];
    ROOST_ASSERT(verdict.is_consumed() ||
                 (verdict.is_drop() && verdict.drop_cause() != net::DropCause::kUndecided &&
                  !net::drop_cause_name(kAssetDropCauses, verdict.drop_cause()).empty()));
    dropped += verdict.is_drop() ? 1U : 0U;
    ROOST_ASSERT(frame == std::vector<uint8_t>(data + at - length, data + at));
  }
  const FrameCounters& counts = observer.frames();
  ROOST_ASSERT(counts.from_hosts + counts.no_host + counts.foreign + dropped == frames);
  ROOST_ASSERT(datapath.outbox().is_empty());
  check(observer.table());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  if (data[0] % 8 != 0) {
    observe(data + 1, size - 1);
  } else {
    const ConfigOutcome outcome = parse_config({reinterpret_cast<const char*>(data) + 1, size - 1});
    ROOST_ASSERT(outcome.config.has_value() == outcome.faults.empty());
  }
  return 0;
}
