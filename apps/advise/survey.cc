#include "apps/advise/survey.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "roost/capture/reader.h"
#include "roost/conntrack/connection.h"
#include "roost/net/flow_key.h"
#include "roost/net/tcp_segment.h"
#include "roost/table/advance_far.h"
#include "roost/table/flow_table.h"

namespace roost::advise {
namespace {

using conntrack::Assurance;
using conntrack::Connection;
using conntrack::ConnectionState;
using conntrack::Sender;
using net::FlowKey6;

constexpr uint64_t kMicroseconds = 1'000'000;  // in a second
constexpr uint64_t kSecondsMax = uint64_t{31} * 86'400;
constexpr uint64_t kTickSeconds = 4;
// One that is silent for longer than all candidates is over.
constexpr TickCount kForgottenTicks = kLadderSeconds.back() / kTickSeconds + 1;
static_assert(kForgottenTicks <= kTimeoutTicksMax);
constexpr uint64_t kPassTicks = 64;  // in which the table is swept once
constexpr uint64_t kFirstPlaces = 65'536;

// A connection that is followed.
struct Followed {
  Connection connection{};
  uint64_t last_us = 0;   // of its last packet
  uint64_t timer_us = 0;  // from when its timeout counts
  uint32_t packets = 0;
  std::array<uint8_t, kTimeoutCount> exceeded{};  // steps of the ladder, by timeout
  uint8_t under = 0;                              // timeouts that it was under, as bits
  uint8_t is_ipv6 = 0;
};

// The timeout that it is under: see Connection::timeout().
TimeoutIndex timeout_of(const Connection& connection) {
  if (connection.state == ConnectionState::kUdp) return kUdp;
  if (is_over(connection.state, false)) return kTcpClosed;
  if (connection.assurance != Assurance::kAssured) return kTcpSyn;
  return connection.state == ConnectionState::kEstablished ? kTcpEstablished : kTcpClosing;
}

uint8_t steps_exceeded(uint64_t microseconds) {
  return static_cast<uint8_t>(std::ranges::count_if(
      kLadderSeconds, [&](uint64_t step) { return microseconds > step * kMicroseconds; }));
}

// Counts those that are over.
class OverCounts {
 public:
  explicit OverCounts(Survey& survey) : survey_(&survey) {}

  void set_first(uint64_t microseconds) { first_us_ = microseconds; }
  [[nodiscard]] size_t second_of(uint64_t microseconds) const {
    return static_cast<size_t>((microseconds - first_us_) / kMicroseconds);
  }
  [[nodiscard]] SecondCounts& at(uint64_t microseconds) const {
    const size_t second = second_of(microseconds);
    if (second >= survey_->by_second.size()) survey_->by_second.resize(second + 1);
    return survey_->by_second[second];
  }
  void add(const Followed& followed) const {
    ++at(followed.last_us).over[timeout_of(followed.connection)];
    survey_->packets_each.add(followed.packets);
    for (size_t timeout = 0; timeout < kTimeoutCount; ++timeout) {
      if ((followed.under >> timeout & 1) == 0) continue;
      ++survey_->under[timeout];
      ++survey_->exceeded[timeout][followed.exceeded[timeout]];
    }
  }

 private:
  Survey* survey_;
  uint64_t first_us_ = 0;
};

struct CountOver {
  const OverCounts* counts = nullptr;
  void operator()(const FlowKey6&, const Followed& followed) const { counts->add(followed); }
};
struct FollowedPolicies : DefaultPolicies {
  using Expiry = SlotTimers;
  using EvictionCallback = CountOver;
};
using FollowedTable = FlowTable<FlowKey6, Followed, FollowedPolicies>;

// Of either family: IPv4's addresses as IPv6 has them (RFC 4291 section 2.5.5.2).
FlowKey6 key_of(const net::Packet& packet, const net::ParsedPacket& parsed) {
  if (parsed.is_ipv6) return FlowKey6::from_packet(packet, parsed);
  const auto key = net::FlowKey4::from_packet(packet, parsed);
  const auto mapped = [](const net::Ipv4Address& address) {
    net::Ipv6Address wide{};
    wide.bytes[10] = wide.bytes[11] = 0xff;
    std::ranges::copy(address.bytes, wide.bytes.begin() + 12);
    return wide;
  };
  return {mapped(key.source), mapped(key.destination),
          key.source_port,    key.destination_port,
          key.protocol,       {}};
}

class Surveyor {
 public:
  static Result<std::unique_ptr<Surveyor>> create(const std::string& path,
                                                  const SurveyOptions& options) {
    std::unique_ptr<Surveyor> surveyor(new Surveyor(path, options));
    if (auto error = surveyor->grow_to(std::min(kFirstPlaces, options.connections_max)))
      return *error;
    return surveyor;
  }

  // False: its time is out of range.
  [[nodiscard]] bool add(const capture::Frame& frame) {
    ++survey_.packets;
    // A packet view is writable; the parser only reads.
    const net::Packet packet{
        .data = const_cast<uint8_t*>(frame.bytes.data()),
        .contiguous_bytes = static_cast<uint32_t>(frame.bytes.size()),
        .total_bytes = std::max(frame.wire_bytes, static_cast<uint32_t>(frame.bytes.size()))};
    net::ParsedPacket parsed;
    const net::ParseVerdict verdict = net::parse(packet, parsed);
    const bool has_ports = verdict == net::ParseVerdict::kOk ||
                           (verdict == net::ParseVerdict::kFragment &&
                            !parsed.fragment.is_later() && has_segment(packet, parsed));
    if (!has_ports) {
      ++survey_.other_packets;
      return true;
    }
    if (!move_time(frame.timestamp_us)) return false;
    ++over_.at(now_us_).packets;
    follow(packet, parsed);
    return true;
  }

  [[nodiscard]] Survey finish() {
    table_->for_each([&](const FlowKey6&, const Followed& followed) { over_.add(followed); });
    return std::move(survey_);
  }

 private:
  Surveyor(const std::string& path, const SurveyOptions& options)
      : options_(options), over_(survey_) {
    survey_.path = path;
  }

  [[nodiscard]] static bool has_segment(const net::Packet& packet,
                                        const net::ParsedPacket& parsed) {
    const uint32_t bytes = parsed.protocol == net::IpProtocol::kTcp ? net::tcp::kHeaderBytesMin : 0;
    return packet.contiguous_bytes >= parsed.l4_offset + bytes;
  }

  // A packet that is stamped earlier than one before it counts as of that one's time.
  [[nodiscard]] bool move_time(uint64_t timestamp_us) {
    if (!has_begun_) over_.set_first(timestamp_us);
    if (!has_begun_) now_us_ = first_us_ = timestamp_us;
    has_begun_ = true;
    now_us_ = std::max(now_us_, timestamp_us);
    if (now_us_ - first_us_ >= kSecondsMax * kMicroseconds) return false;
    const Tick tick{(now_us_ - first_us_) / (kTickSeconds * kMicroseconds)};
    if (tick.count == table_->now().count) return true;
    advance_far(*table_, tick);
    table_->maintain(table_->bucket_count() / kPassTicks + 1);
    has_swept_ = false;
    return true;
  }

  void follow(const net::Packet& packet, const net::ParsedPacket& parsed) {
    const FlowKey6 key = key_of(packet, parsed);
    const net::TcpSegment segment = net::read_tcp_segment(packet, parsed);
    if (Followed* followed = table_->find(key); followed != nullptr) {
      update(*followed, Sender::kClient, segment);
      return;
    }
    if (Followed* followed = table_->find(key.reversed()); followed != nullptr) {
      update(*followed, Sender::kServer, segment);
      return;
    }
    const bool is_answer = segment.has(net::tcp::kSyn) && segment.has(net::tcp::kAck);
    Followed followed;
    begin(followed, key.protocol, segment, is_answer, parsed.is_ipv6);
    if (!has_room() || table_->insert(is_answer ? key.reversed() : key, followed,
                                      kForgottenTicks) == InsertOutcome::kFull) {
      ++survey_.untracked_packets;
      return;
    }
    count_begun(followed);
  }

  [[nodiscard]] bool has_room() {
    if (table_->size() < places_) return true;
    if (!has_swept_) table_->maintain(table_->bucket_count());
    has_swept_ = true;
    if (table_->size() < places_) return true;
    if (places_ == options_.connections_max) return false;
    return !grow_to(std::min(2 * places_, options_.connections_max));
  }

  // Connections move to a table of so many places. A table that is larger than it must be costs
  // memory all the same, because entries lie spread.
  [[nodiscard]] std::optional<Error> grow_to(uint64_t places) {
    auto made = FollowedTable::create({.entries_max = places}, CountOver{&over_});
    if (!made) return made.error();
    auto table = std::make_unique<FollowedTable>(std::move(made).value());
    if (table_ != nullptr) {
      advance_far(*table, table_->now());
      table_->for_each([&](const FlowKey6& key, const Followed& followed) {
        const auto outcome = table->insert(key, followed, table_->ticks_left(&followed));
        ROOST_ASSERT(outcome != InsertOutcome::kFull);
      });
    }
    table_ = std::move(table);
    places_ = places;
    return {};
  }

  void begin(Followed& followed, net::IpProtocol protocol, const net::TcpSegment& segment,
             bool is_answer, bool is_ipv6) const {
    followed = {.last_us = now_us_, .timer_us = now_us_, .packets = 1, .is_ipv6 = is_ipv6};
    if (is_answer) {
      followed.connection.begin_from_server(protocol, segment);
    } else {
      followed.connection.begin(protocol, segment, options_.is_reply_unseen);
    }
    note_timeout(followed);
  }
  void count_begun(const Followed& followed) {
    ++over_.at(now_us_).begun;
    ++survey_.connections;
    if (followed.connection.state == ConnectionState::kUdp) ++survey_.udp_connections;
    if (followed.is_ipv6 != 0) ++survey_.ipv6_connections;
  }

  void update(Followed& followed, Sender sender, const net::TcpSegment& segment) {
    Connection& connection = followed.connection;
    table_->refresh(&followed, kForgottenTicks);
    if (sender == Sender::kClient &&
        begins_anew(connection.state, segment.flags, options_.is_reply_unseen)) {
      over_.add(followed);
      begin(followed, net::IpProtocol::kTcp, segment, false, followed.is_ipv6 != 0);
      count_begun(followed);
      return;
    }
    uint8_t& exceeded = followed.exceeded[timeout_of(connection)];
    exceeded = std::max(exceeded, steps_exceeded(now_us_ - followed.timer_us));
    const bool was_over = is_over(connection.state, false);
    const bool was_assured = connection.assurance == Assurance::kAssured;
    connection.update(sender, segment, options_.is_reply_unseen);
    followed.last_us = now_us_;
    ++followed.packets;
    note_timeout(followed);
    // As ConnectionTable::update(): until TCP is assured, only its end gives it time.
    const bool is_assured =
        connection.state == ConnectionState::kUdp || connection.assurance == Assurance::kAssured;
    const bool has_ended = !was_over && is_over(connection.state, false);
    if (is_assured || was_assured || has_ended) followed.timer_us = now_us_;
  }

  static void note_timeout(Followed& followed) {
    followed.under |= static_cast<uint8_t>(1U << timeout_of(followed.connection));
  }

  SurveyOptions options_;
  Survey survey_;
  OverCounts over_;
  std::unique_ptr<FollowedTable> table_;
  uint64_t places_ = 0;  // of the table
  uint64_t first_us_ = 0;
  uint64_t now_us_ = 0;
  bool has_begun_ = false;
  bool has_swept_ = false;  // the whole table, in this tick
};

}  // namespace

Result<Survey> survey_capture(const std::string& path, const SurveyOptions& options) {
  Result<capture::Reader> reader = capture::Reader::open(path);
  if (!reader) return reader.error();
  auto surveyor = Surveyor::create(path, options);
  if (!surveyor) return surveyor.error();
  uint64_t packet = 0;
  while (const auto frame = reader.value().next()) {
    ++packet;
    if (!surveyor.value()->add(*frame))
      return Error{fmt::format(
          "{}: packet {} is stamped {} days or more after the first one; cut the file where its "
          "clock jumps (editcap), or give a shorter one",
          path, packet, kSecondsMax / 86'400)};
  }
  Survey survey = surveyor.value()->finish();
  survey.cut_reason = reader.value().cut_reason();
  if (survey.connections == 0)
    return Error{fmt::format(
        "{}: no connection of TCP or UDP among its {} packets{}; give a capture of clients that "
        "contact servers",
        path, survey.packets, survey.cut_reason ? " (the file is cut)" : "")};
  return survey;
}

}  // namespace roost::advise
