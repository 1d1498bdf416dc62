// A datapath that can be traced. Without a watch, a branch a batch is all
// (docs/decisions/0012-trace-and-capture.md).
#pragma once

#include <cstdint>
#include <utility>

#include "roost/net/parse.h"
#include "roost/trace/watch_point.h"

namespace roost::trace {

// What the function's tables say at a time of a packet, found by argument-dependent lookup:
//
//   void explain(State&, const net::Packet&, const net::ParsedPacket&, net::ParseVerdict, Tick now,
//                Note&);
//
// It changes nothing but what is over by now.
template <class Datapath, class State>
class Watched : public Datapath, public WatchPoint {
 public:
  // As for the datapath, which is made from the state.
  template <class... Arguments>
  explicit Watched(State& state, Arguments&&... arguments)
      : Datapath(state, std::forward<Arguments>(arguments)...), state_(state) {}

  void process(net::PacketBatch& batch, Tick now) {
    if (!is_watched()) [[likely]] {
      Datapath::process(batch, now);
    } else {
      watch_each(batch, now);
    }
  }

  // Of a datapath that has it. A watch may end at any time: a batch is started whether it is
  // watched or not, and begins anew here, packet by packet, if it is.
  void finish(net::PacketBatch& batch, auto& started, Tick now)
    requires requires(Datapath& datapath) { datapath.finish(batch, started, now); }
  {
    if (!is_watched()) [[likely]] {
      Datapath::finish(batch, started, now);
    } else {
      watch_each(batch, now);
    }
  }

  void idle(Tick now, uint64_t budget) {
    const size_t first_own = this->outbox().frame_count();
    Datapath::idle(now, budget);
    if (is_watched()) [[unlikely]]
      watch_own(this->outbox(), first_own, now, false);
  }

 private:
  void watch_each(net::PacketBatch& batch, Tick now) {
    net::PacketBatch single;
    for (size_t lane = 0; lane < batch.lane_count(); ++lane) {
      single.clear();
      single.push(batch.packets()[lane]);
      watch_one(single, now);
      batch.packets()[lane] = single.packets()[0];
      if (single.verdicts()[0].is_replicated()) {
        batch.replicate(lane, single.port_groups(0));
      } else {
        batch.verdicts()[lane] = single.verdicts()[0];
      }
    }
  }

  void watch_one(net::PacketBatch& single, Tick now) {
    const size_t first_own = this->outbox().frame_count();
    PacketTrace& trace = begin_packet(single.packets()[0], now);
    look(trace, trace.before, now);
    Datapath::process(single, now);
    look(trace, trace.after, now);
    end_packet(trace, single, this->outbox(), first_own, now);
  }

  // What the tables say of the packet as it came.
  void look(PacketTrace& trace, Note& note, Tick now) {
    const net::Packet packet{.data = trace.received.bytes.data(),
                             .contiguous_bytes = trace.received.kept_bytes,
                             .total_bytes = trace.received.total_bytes,
                             .in_port = trace.in_port};
    net::ParsedPacket parsed;
    note = {};
    const net::ParseVerdict verdict = net::parse(packet, parsed);
    explain(state_, packet, parsed, verdict, now, note);
  }

  State& state_;
};

}  // namespace roost::trace
