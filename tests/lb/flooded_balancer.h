// A balancer under a flood: what the flood is made of, what backends answer it, and real clients
// beside it, in every mode.
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <random>
#include <string>
#include <vector>

#include "tests/lb/test_balancer.h"

namespace roost::lb {

// As many as a flood in any other mode than `nat` has, where a sanitizer looks on.
#ifdef ROOST_SANITIZED
inline constexpr uint64_t kPlaces = 5'000;
#else
inline constexpr uint64_t kPlaces = 20'000;
#endif

// What a flood is made of: the packets of each invented client, in order. Its numbers are made up.
struct Flood {
  std::string name;
  bool is_ipv6;
  net::IpProtocol protocol;
  std::vector<uint8_t> flags;
  Mode mode = Mode::kNat;
  uint64_t places = kPlaces;
  std::string algorithm = "maglev";
};

inline std::string flood_config(const Flood& flood) {
  std::string toml =
      test_config("connections = 4_096", "connections = " + std::to_string(flood.places));
  const std::string_view first_mac = "mac = \"02:00:00:00:00:01\"\n";
  toml.insert(toml.find(first_mac), "default_neighbour_mac = \"02:00:00:00:01:01\"\n");
  if (flood.mode == Mode::kNat) return toml;
  for (const std::string name : {"web", "dns"}) {
    const std::string line = "name = \"" + name + "\"\n";
    const std::string mode(mode_name(flood.mode));
    std::string lines = line;
    lines.append("mode = \"").append(mode).append("\"\n");
    lines.append("algorithm = \"").append(flood.algorithm).append("\"\n");
    toml.replace(toml.find(line), line.size(), lines);
    if (flood.mode == Mode::kFullnat) continue;
    // A backend that is not spoken to has the service's port.
    size_t at = toml.find(line);
    const size_t end = toml.find("[[service]]", at);
    while ((at = toml.find(", port = 8080", at)) < end) toml.erase(at, 13);
  }
  if (flood.mode == Mode::kFullnat) toml += "[fullnat]\naddresses = [\"10.0.0.100\"]\n";
  return toml;
}

inline const std::vector<uint8_t> kSynOnly = {net::tcp::kSyn};

// A real client; its packets go to `backend`, which answers to `seen`.
struct Client {
  uint32_t number = 0;
  std::string backend{};  // its MAC
  Ends seen{};
};

class FloodedBalancer {
 public:
  explicit FloodedBalancer(const Flood& flood) : flood_(flood), balancer_(flood_config(flood)) {}

  // A client's packet; real clients and invented ones have different addresses.
  PacketSpec from(uint32_t number, bool is_real, uint8_t flags) const {
    const uint32_t host = number / 50'000;
    PacketSpec spec{.protocol = flood_.protocol, .tcp_flags = flags, .payload = ""};
    spec.source = (flood_.is_ipv6 ? is_real ? "2001:db8:1:1::" : "2001:db8:1:2::"
                   : is_real      ? "192.0.4."
                                  : "192.0.5.") +
                  std::to_string(host + 1);
    spec.destination = flood_.is_ipv6 ? is_tcp() ? "2001:db8:ffff::80" : "2001:db8:ffff::53"
                       : is_tcp()     ? "198.51.100.80"
                                      : "198.51.100.53";
    spec.source_port = static_cast<uint16_t>(number % 50'000 + 1'024);
    spec.destination_port = is_tcp() ? 80 : 53;
    return spec;
  }

  // A real client's packet; that client, if it went to a backend.
  std::optional<Client> ask(uint32_t number, uint8_t flags) {
    const Fate fate = balancer_.send_from_client(from(number, true, flags));
    if (fate.cause) return {};
    return Client{number, backend_of(fate), ends_if_translated(fate)};
  }
  // It speaks again; whether that went where its packets go.
  bool stays(const Client& client, uint8_t flags) {
    const std::optional<Client> now = ask(client.number, flags);
    return now && now->backend == client.backend;
  }
  // The backend's answer to a real client; whether it went through. Where it is not seen, it does.
  bool answer(const Client& client, uint8_t flags) {
    return is_dsr(flood_.mode) || !balancer_.send_from_backend(answer_of(client.seen, flags)).cause;
  }
  // A whole handshake, and a first request where nothing can be checked.
  Client assure(uint32_t number) {
    const Client client = ask(number, net::tcp::kSyn).value();
    EXPECT_TRUE(answer(client, net::tcp::kSyn | net::tcp::kAck));
    const bool is_counted = !is_tcp() || is_dsr(flood_.mode);
    for (int packet = 0; packet < (is_counted ? 3 : 1); ++packet) {
      EXPECT_TRUE(stays(client, net::tcp::kAck));
    }
    return client;
  }
  // The next invented client, with all its packets and what its backend answers; what became of
  // the first one.
  std::optional<DropCause> flood_once() {
    std::optional<DropCause> cause;
    for (size_t i = 0; i < flood_.flags.size(); ++i) {
      PacketSpec spec = from(invented_, false, flood_.flags[i]);
      spec.sequence = static_cast<uint32_t>(random_());
      spec.acknowledgement = static_cast<uint32_t>(random_());
      if (i > 0 && random_() % 2 == 0) spec.sequence = last_sequence_;  // it knows its own
      last_sequence_ = spec.sequence + 1;
      const Fate fate = balancer_.send_from_client(spec);
      if (i == 0) cause = fate.cause;
      if (!fate.cause && !is_dsr(flood_.mode)) answer_flood(spec, fate);
    }
    ++invented_;
    return cause;
  }

  [[nodiscard]] bool is_tcp() const { return flood_.protocol == net::IpProtocol::kTcp; }
  TestBalancer& balancer() { return balancer_; }

 private:
  // The destination's MAC: it is a backend's own in every mode.
  static std::string backend_of(const Fate& fate) {
    return std::string(fate.frame.begin(), fate.frame.begin() + 6);
  }
  [[nodiscard]] Ends ends_if_translated(const Fate& fate) const {
    return is_dsr(flood_.mode) ? Ends{} : read_ends(fate.frame);
  }
  [[nodiscard]] PacketSpec answer_of(const Ends& seen, uint8_t flags) const {
    return {.destination_mac = "02:00:00:00:00:02",
            .source = seen.destination,
            .destination = seen.source,
            .source_port = seen.destination_port,
            .destination_port = seen.source_port,
            .protocol = flood_.protocol,
            .tcp_flags = flags,
            .payload = ""};
  }
  // As a backend's kernel does: a SYN it accepts, and what acknowledges nothing of its own it
  // refuses.
  void answer_flood(const PacketSpec& spec, const Fate& fate) {
    const bool is_syn = (spec.tcp_flags & net::tcp::kSyn) != 0;
    PacketSpec reply =
        answer_of(read_ends(fate.frame), is_syn ? net::tcp::kSyn | net::tcp::kAck : net::tcp::kRst);
    reply.sequence = is_syn ? static_cast<uint32_t>(random_()) : spec.acknowledgement;
    reply.acknowledgement = spec.sequence + 1;
    balancer_.send_from_backend(reply);
  }

  Flood flood_;
  TestBalancer balancer_;
  std::mt19937_64 random_{7};
  uint32_t invented_ = 0;
  uint32_t last_sequence_ = 0;
};

}  // namespace roost::lb
