// A load balancer without ports for tests: a configuration, its state and datapath, frames in,
// verdicts and frames out, and every count kept beside it.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "apps/lb/control/report.h"
#include "apps/lb/datapath/datapath.h"
#include "apps/lb/datapath/state.h"
#include "tests/lb/test_packet.h"

namespace roost::lb {

// Two ports (clients, backends), IPv4 and IPv6, four services on three backends. Each service's
// backends listen on port 8080, or 53 for dns.
[[nodiscard]] std::string test_config();
// The same with one text replaced; the text must be there.
[[nodiscard]] std::string test_config(std::string_view replace, std::string_view by);
// A service on backends of `web`, so that the same client has the same reply tuple twice.
inline constexpr std::string_view kRivalService = R"([[service]]
name = "web-2"
address = "198.51.100.81"
port = 80
protocol = "tcp"
backends = [{name = "b1", address = "10.0.0.11", port = 8080},
            {name = "b2", address = "10.0.0.12", port = 8080}]
)";
// That pass within a few seconds.
inline constexpr std::string_view kShortTimeouts = R"([timeouts]
tcp_syn = 3
tcp_established = 20
tcp_closing = 4
tcp_closed = 2
udp = 5
)";

// What became of a frame.
struct Fate {
  std::optional<DropCause> cause{};  // nothing: it was forwarded, or consumed
  uint16_t out_port = 0;
  std::vector<uint8_t> frame{};  // as it left
  bool is_consumed = false;
  bool is_copied = false;         // for the other workers
  std::optional<size_t> owner{};  // the worker that it was handed to, if it was

  bool operator==(const Fate&) const = default;
};

// A frame that arrives.
struct Arrival {
  std::vector<uint8_t> frame{};
  uint16_t in_port = 0;
  uint32_t headroom = 128;
  std::optional<uint32_t> contiguous_bytes{};  // else all of it
  net::PacketOrigin origin = net::PacketOrigin::kPort;
};

class TestBalancer {
 public:
  // `owner`: of a worker that has others beside it.
  explicit TestBalancer(const std::string& toml = test_config(),
                        const node::FlowOwner& owner = node::FlowOwner({}));

  // With connections that stand elsewhere.
  TestBalancer(const Config& config, const WorkerShare& share);

  // One batch, at most net::kBatchLanesMax frames.
  std::vector<Fate> send_batch(std::span<const Arrival> arrivals);
  Fate send(const Arrival& arrival) { return send_batch(std::span(&arrival, 1)).front(); }
  // A packet of a client comes by port 0, one of a backend by port 1.
  Fate send_from_client(const PacketSpec& spec) { return send({make_frame(spec), 0, 128, {}}); }
  Fate send_from_backend(const PacketSpec& spec) { return send({make_frame(spec), 1, 128, {}}); }

  // As the worker loop calls it, without traffic.
  void idle(uint64_t bucket_budget = 64);

  // What the balancer sent of its own, in its order, until the test clears it.
  std::vector<Fate> originated{};

  // The report as it would be if the run ended now; nothing but expired connections is changed.
  [[nodiscard]] Report report() { return make_report(*state_, totals_); }

  Tick now{};  // of the next batch
  [[nodiscard]] const node::RunTotals& totals() const { return totals_; }
  [[nodiscard]] State& state() { return *state_; }
  [[nodiscard]] Datapath& datapath() { return *datapath_; }

 private:
  void make(const Config& config, const WorkerShare& share, const node::FlowOwner& owner);
  void take_originated();

  std::unique_ptr<State> state_;
  std::unique_ptr<Datapath> datapath_;
  node::RunTotals totals_;
};

// A packet's source and destination.
struct Ends {
  std::string source, destination;
  uint16_t source_port = 0;
  uint16_t destination_port = 0;

  auto operator<=>(const Ends&) const = default;
};
// Of a frame without VLAN tags and extension headers.
[[nodiscard]] Ends read_ends(const std::vector<uint8_t>& frame);

// The backend that a forwarded frame goes to: its destination address.
[[nodiscard]] std::string destination_of(const Fate& fate);

}  // namespace roost::lb
