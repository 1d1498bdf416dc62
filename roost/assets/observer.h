// What a worker learns from frames that it sees: hosts and services, UDP questions that wait for an
// answer, and what a log is to be told. It decides that nothing is sent.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "roost/assets/asset_table.h"
#include "roost/assets/frame_source.h"
#include "roost/base/counter.h"
#include "roost/base/result.h"
#include "roost/concurrent/spsc_ring.h"

namespace roost::assets {

// from_hosts + no_host + foreign are the frames that were consumed.
struct FrameCounters {
  uint64_t from_hosts = 0;
  uint64_t no_host = 0;
  uint64_t foreign = 0;
  uint64_t questions_lost = 0;
  uint64_t log_lost = 0;
};
inline constexpr std::array kFrameCounters = {
    Counter{"from_hosts", &FrameCounters::from_hosts, "frames of hosts that were noted"},
    Counter{"no_host", &FrameCounters::no_host,
            "frames whose source is no host's: unspecified, a group's, an ARP probe"},
    Counter{"foreign", &FrameCounters::foreign, "frames from outside of `networks`"},
    Counter{"questions_lost", &FrameCounters::questions_lost,
            "UDP questions that gave way to another one before their time was over"},
    Counter{"log_lost", &FrameCounters::log_lost,
            "hosts and services that the log missed: it is not written as fast as they come"}};
static_assert(lists_all(kFrameCounters));

// What a log is told: a host, its first SYN if that came later, or a service of it.
struct Discovery {
  enum class Kind : uint8_t { kHost, kSyn, kService };

  Kind kind = Kind::kHost;
  HostKey host{};
  Tick seen{};
  std::optional<SynFingerprint> syn{};  // of kSyn, and of a kHost that a SYN showed
  net::IpProtocol protocol{};           // of kService, and its port
  uint16_t port = 0;
};

// One thread at a time.
class Observer {
 public:
  struct Config {
    AssetTable::Config table{};
    uint64_t answer_ticks = 0;              // for so long a UDP question may be answered
    std::vector<net::IpPrefix> networks{};  // whose addresses are assets; none: all are
    bool has_log = false;
  };

  // Errors: memory is unavailable.
  static Result<Observer> create(Config config);

  // What a frame says, at a time that never runs backwards.
  [[nodiscard]] net::LaneVerdict observe(const net::Packet& packet, const net::ParsedPacket& parsed,
                                         const FrameSource& frame_source, Tick now);

  [[nodiscard]] AssetTable& table() { return table_; }
  [[nodiscard]] const AssetTable& table() const { return table_; }
  [[nodiscard]] const FrameCounters& frames() const { return frames_; }
  [[nodiscard]] uint64_t memory_bytes() const {
    return table_.memory_bytes() + questions_.memory_bytes();
  }
  // From now on; these are those of before.
  void exchange_networks(std::vector<net::IpPrefix>& networks) { networks_.swap(networks); }
  // Null: there is no log. One thread may read it.
  [[nodiscard]] SpscRing<Discovery>* discoveries() { return discoveries_.get(); }

 private:
  using Questions = SeenList<UdpPair, NoValue>;

  Observer(Config config, AssetTable table, Questions questions);

  // Of a host that is observed.
  void note(const net::Packet& packet, const net::ParsedPacket& parsed,
            const FrameSource& frame_source, bool is_served, Tick now);
  [[nodiscard]] bool is_observed(const HostKey& host) const;
  // Whether a datagram answers one that was sent the other way lately; else it is a question.
  [[nodiscard]] bool answers(const UdpPair& pair, Tick now);
  void tell(const Discovery& discovery);

  AssetTable table_;
  Questions questions_;
  uint64_t answer_ticks_;
  std::vector<net::IpPrefix> networks_;
  std::unique_ptr<SpscRing<Discovery>> discoveries_;
  FrameCounters frames_;
};

}  // namespace roost::assets
