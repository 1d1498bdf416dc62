#include "roost/l3/announcer.h"

#include <algorithm>

#include "roost/l3/neighbour_frames.h"

namespace roost::l3 {

// Whether a round is under way, or its time has come; then it begins.
bool Announcer::is_due(Tick now) {
  if (now > refilled_at_) {
    tokens_ = config_.frames_a_tick_max;
    refilled_at_ = now;
  }
  if (next_ != 0) return true;
  const bool is_first = rounds_left_ == kRounds;
  if (!is_first && now.count - round_began_.count < config_.interval) return false;
  round_began_ = now;
  return true;
}

uint64_t Announcer::advance(Tick now, std::span<const LocalAddress> addresses,
                            std::span<const Interface> interfaces, net::Outbox& outbox) {
  if (!is_active() || !is_due(now)) return 0;
  const size_t begin = next_;
  const size_t end = std::min(addresses.size(), begin + std::min<size_t>(tokens_, kFramesACallMax));
  for (; next_ < end; ++next_) {
    const LocalAddress& local = addresses[next_];
    if (!send_unsolicited_advertisement(local.port, interfaces[local.port], local.address,
                                        outbox)) {
      break;  // no room: the next call goes on here
    }
  }
  const auto sent = static_cast<uint32_t>(next_ - begin);
  tokens_ -= sent;
  if (next_ == addresses.size()) {
    next_ = 0;
    --rounds_left_;
  }
  return sent;
}

}  // namespace roost::l3
