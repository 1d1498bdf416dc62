// The packets of many connections in the order of their times, as a router sees them: each
// connection begins, sends and ends, and thousands do so at once.
//
// It stands for recorded traces, which cannot be given away, and is *synthetic*: flow count,
// arrivals and lengths are those of a profile. A window is one recording: `flows` connections begin
// within `seconds`, and the packets of each come at exponential distances, about so many that it
// lasts as long as is drawn for it: so flows with many packets are fast ones. Several windows run
// at once, each of connections of its own; a connection's number is different from all others, so
// no two can have the same ports and addresses.
//
// The same configuration gives the same packets. Memory: 32 bytes for each connection that is live
// at a time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "roost/base/result.h"
#include "roost/expiry/timer_wheel.h"
#include "roost/traffic/arrivals.h"
#include "roost/traffic/draw.h"
#include "roost/traffic/flow_length.h"

namespace roost::traffic {

// What a window looks like.
struct Profile {
  std::string_view name;
  uint64_t flows = 0;  // of a window
  double seconds = 0;  // in which they begin
  FlowLengthConfig length{};
  double flow_seconds = 1;  // from a connection's first packet to its last, on average
  double frame_bytes = 64;  // on average, to state packets in bits
  // Between a connection's first three packets at most, on average: a handshake is not as slow as
  // the data behind it. 0: no bound.
  double round_trip_seconds = 0;
};

// The paper's ten seconds at a campus router, and at a backbone link with twice the connections and
// a heavier tail: bits a second and connections are its, packets a connection follow from them.
inline constexpr Profile kCampusLike = {
    "campus-like", 200'000, 10, {LengthLaw::kPareto, 30, 1.3, 1'000'000}, 2, 720};
inline constexpr Profile kBackboneLike = {
    "backbone-like", 400'000, 10, {LengthLaw::kPareto, 20, 1.1, 1'000'000}, 2, 540};
inline constexpr std::array kProfiles = {kCampusLike, kBackboneLike};

struct StreamPacket {
  uint64_t nanoseconds = 0;  // since the stream's beginning
  uint32_t flow = 0;         // windows follow each other: window * flows + number in it
  uint32_t number = 0;       // of the flow's packets, from 0
  uint32_t place = 0;        // of the flow while it lives: below the number that lived at a time
  bool is_last = false;
};

class ConnectionStream {
 public:
  struct Config {
    Profile profile{};
    unsigned windows = 1;
    ArrivalLaw arrivals = ArrivalLaw::kPoisson;
    uint32_t burst = 32;  // of ArrivalLaw::kBursts
    uint64_t seed = 1;
  };

  // Errors: no window, or so many flows that 32 bits do not number them; a law of lengths that
  // cannot be; no memory.
  [[nodiscard]] static Result<ConnectionStream> create(const Config& config);

  // Writes the next packets; how many: less than there is room for at the end, and when about
  // `budget` connections were looked at. Now and then all those whose next packet is far ahead are
  // looked at between two packets, which takes milliseconds: who cannot wait for so long takes
  // packets ahead of time, in small pieces.
  size_t next(std::span<StreamPacket> packets, uint64_t budget = UINT64_MAX);
  // No packet follows.
  [[nodiscard]] bool is_over() const {
    return !is_in_tick_ && given_ == due_.size() && live_ == 0 && begun_ == flow_count();
  }

  // Connections that have begun and not sent their last packet.
  [[nodiscard]] uint64_t live() const { return live_; }
  [[nodiscard]] uint64_t begun() const { return begun_; }
  [[nodiscard]] uint64_t flow_count() const { return config_.windows * config_.profile.flows; }

 private:
  // A tick of the wheel is as long as it takes so many packets to come, so that the memory of each
  // flow that is due is asked for while others are seen to; their order within the tick is made
  // afterwards.
  static constexpr double kPacketsPerTick = 128;
  static constexpr double kTickNanosecondsMin = 1'000;
  static constexpr double kTickNanosecondsMax = 1'000'000;
  static constexpr uint64_t kFlowsReservedMax = uint64_t{1} << 24;

  struct alignas(32) Flow {
    uint32_t number;
    uint32_t packet_count;
    uint32_t sent;
    float gap;   // nanoseconds on average
    double due;  // the next packet, in nanoseconds
  };
  static_assert(sizeof(Flow) == 32, "two a line");
  // Where a window's connections begin.
  struct Window {
    Arrivals arrivals;
    double due = 0;  // the next one, in nanoseconds
    uint64_t begun = 0;
  };

  ConnectionStream(const Config& config, FlowLength length, TimerWheel wheel);

  // Fills due_ with the packets of the next tick, or goes on with that; takes from `budget` what it
  // has looked at. False: it has not come to the end.
  [[nodiscard]] bool take_tick(uint64_t& budget);
  // Timers of the wheel: windows first, then flows.
  [[nodiscard]] std::optional<Tick> see_to(uint32_t timer);
  [[nodiscard]] std::optional<Tick> begin_due(uint32_t window);
  [[nodiscard]] std::optional<Tick> send_due(uint32_t flow);
  // To a connection's next packet, on average.
  [[nodiscard]] double gap_of(const Flow& flow) const;
  void begin(uint32_t window);

  [[nodiscard]] Tick tick_of(double due) const {
    return {static_cast<uint64_t>(due * ticks_per_nanosecond_)};
  }

  Config config_;
  FlowLength length_;
  TimerWheel wheel_;
  Draw draw_;
  std::vector<Window> windows_;
  std::vector<Flow> flows_;        // by place
  std::vector<uint32_t> free_;     // places
  std::vector<uint32_t> ended_;    // places that are free from the next tick on
  std::vector<StreamPacket> due_;  // of the tick at hand
  size_t given_ = 0;               // of these
  double ticks_per_nanosecond_ = 0;
  Tick now_{};  // the first that was not seen to
  bool is_in_tick_ = false;
  uint64_t live_ = 0;
  uint64_t begun_ = 0;
};

}  // namespace roost::traffic
